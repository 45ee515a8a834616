/* SPDX-License-Identifier: MIT */
/*
 * os/libc/process.c - starts other programs, and waits for their ends
 *
 * posix_spawn() and not fork(): the child of a fork() would copy the page tables of a
 * program with many stacks, and would have its locks as they are at that moment.
 */
#include "os/libc/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/descriptor.h"
#include "os/call/newer.h"
#include "os/libc/real.h"
#include "syscall.h"

#define STANDARD	3	/* descriptors of the child */

/*
 * Adds the three descriptors, from copies with high numbers. So none of the three is
 * overwritten before it has been used.
 */
static int add_standard(posix_spawn_file_actions_t *actions,
			const int copy[STANDARD])
{
	int error = 0;

	for (int i = 0; i < STANDARD && !error; i++)
		if (copy[i] >= 0)
			error = posix_spawn_file_actions_adddup2(actions,
								 copy[i], i);
	return error;
}

typedef int closefrom_fn(posix_spawn_file_actions_t *actions, int from);

/* A libc before 2.34 closes each number below 1024 that the process may have. */
static int add_closes(posix_spawn_file_actions_t *actions)
{
	closefrom_fn *closefrom = (closefrom_fn *)wefti_os_real(
		"posix_spawn_file_actions_addclosefrom_np");
	int error = 0;

	if (closefrom)
		return closefrom(actions, STANDARD);
	for (int fd = STANDARD; fd < 1024 && !error; fd++)
		error = posix_spawn_file_actions_addclose(actions, fd);
	return error == EBADF ? 0 : error;	/* beyond the process's limit */
}

static int add_actions(posix_spawn_file_actions_t *actions,
		       const struct wefti_os_process *p,
		       const int copy[STANDARD])
{
	int error = p->dir ? posix_spawn_file_actions_addchdir_np(actions, p->dir) :
			     0;

	if (!error)
		error = add_standard(actions, copy);
	if (!error && p->closes)
		error = add_closes(actions);
	return error;
}

static int set_attributes(posix_spawnattr_t *attr,
			  const struct wefti_os_process *p)
{
	sigset_t mask;
	int flags = 0, error = 0;

	if (p->has_mask) {
		(void)sigemptyset(&mask);
		memcpy(&mask, &p->mask, sizeof(p->mask));
		error = posix_spawnattr_setsigmask(attr, &mask);
		flags |= POSIX_SPAWN_SETSIGMASK;
	}
	if (!error && p->leads_group) {
		error = posix_spawnattr_setpgroup(attr, 0);
		flags |= POSIX_SPAWN_SETPGROUP;
	}
	return error ? error : posix_spawnattr_setflags(attr, (short)flags);
}

static int spawn(pid_t *pid, const struct wefti_os_process *p,
		 const int copy[STANDARD])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	pid_t child;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawnattr_init(&attr);
	if (error)
		goto no_attr;
	error = add_actions(&actions, p, copy);
	if (!error)
		error = set_attributes(&attr, p);
	if (!error)
		error = posix_spawnp(&child, p->file, &actions, &attr, p->argv,
				     p->env);
	(void)posix_spawnattr_destroy(&attr);
	if (!error)
		*pid = child;
no_attr:
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

int wefti_os_process_spawn(pid_t *pid, const struct wefti_os_process *p)
{
	int copy[STANDARD] = { -1, -1, -1 };
	int error = 0;

	for (int i = 0; i < STANDARD && !error; i++) {
		if (p->fds[i] < 0)
			continue;
		copy[i] = (int)wefti_arch_syscall(SYS_fcntl, p->fds[i],
						  F_DUPFD_CLOEXEC, STANDARD, 0,
						  0, 0);
		error = copy[i] < 0 ? copy[i] : 0;
	}
	if (!error)
		error = -spawn(pid, p, copy);
	for (int i = 0; i < STANDARD; i++)
		if (copy[i] >= 0)
			(void)wefti_os_fd_close(copy[i]);
	return error;
}

int wefti_os_process_wait(pid_t pid, int *status, int blocks,
			  struct rusage *usage)
{
	long got;

	do {
		got = wefti_arch_syscall(SYS_wait4, pid, (long)status,
					 blocks ? 0 : WNOHANG,
					 (long)usage, 0, 0);
	} while (got == -EINTR);
	return (int)got;
}

int wefti_os_process_open(pid_t pid)
{
	return (int)wefti_arch_syscall(SYS_pidfd_open, pid, 0, 0, 0, 0, 0);
}
