/* SPDX-License-Identifier: MIT */
/* pthread/process/process.c - calls that start other programs: exec, spawn and so on */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/kthread/schedule.h"
#include "pthread/process/environment.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/lend.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"
#include "syscall.h"

extern char **__environ;

/* What the kernel thread has of its thread while it starts a program. */
struct lent {
	struct wefti_lent mask;
	struct wefti_schedule_lent schedule;
};

static void lend(struct lent *l)
{
	l->mask = wefti_lend();
	l->schedule.what = 0;
	if (l->mask.real)
		wefti_schedule_lend(&l->schedule);
}

/* Behind the call with the result r. */
static int taken_back(const struct lent *l, int r)
{
	wefti_schedule_take_back(&l->schedule);
	wefti_take_back(l->mask);
	return r;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	struct lent lent;

	envp = CHILD_ENVIRONMENT(AT_FDCWD, path, envp);
	lend(&lent);
	return taken_back(&lent, REAL(execve)(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, __environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char found[PATH_MAX];
	struct lent lent;

	envp = CHILD_ENVIRONMENT(AT_FDCWD, wefti_environment_find(file, found),
				 envp);
	lend(&lent);
	return taken_back(&lent, REAL(execvpe)(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, __environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct lent lent;

	envp = CHILD_ENVIRONMENT(fd, "", envp);
	lend(&lent);
	return taken_back(&lent, REAL(fexecve)(fd, argv, envp));
}

/* Not every libc has execveat(). */
EXPORT int execveat(int dirfd, const char *path, char *const argv[],
		    char *const envp[], int flags)
{
	struct lent lent;

	envp = CHILD_ENVIRONMENT(dirfd, path, envp);
	lend(&lent);
	return taken_back(&lent, wefti_answer((int)-wefti_arch_syscall(
		SYS_execveat, dirfd, (long)path, (long)argv, (long)envp, flags,
		0)));
}

/* Counts the arguments for an array. The environment comes after their end. */
static size_t count_args(va_list list)
{
	size_t n = 1;

	while (va_arg(list, char *))
		n++;
	return n;
}

#define COLLECT(argv, first, list)				\
	va_list list, count_;					\
								\
	va_start(list, first);					\
	va_copy(count_, list);					\
	size_t n_ = count_args(count_);				\
	char *argv[n_ + 1];					\
								\
	va_end(count_);						\
	argv[0] = (char *)(uintptr_t)(first);			\
	for (size_t i_ = 1; i_ <= n_; i_++)			\
		argv[i_] = va_arg(list, char *)

EXPORT int execl(const char *path, const char *first, ...)
{
	COLLECT(argv, first, list);
	va_end(list);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	COLLECT(argv, first, list);
	va_end(list);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	COLLECT(argv, first, list);
	char **envp = va_arg(list, char **);

	va_end(list);
	return execve(path, argv, envp);
}

/*
 * All four calls that spawn: `file` is the caller's name of the program, and `path` is
 * where the program lies. A pid_t and a descriptor are an int.
 */
static int spawn(__typeof__(posix_spawn) *real, int *id, const char *file,
		 const char *path, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attr, char *const argv[],
		 char *const envp[])
{
	struct lent lent;

	envp = CHILD_ENVIRONMENT(AT_FDCWD, path, envp);
	lend(&lent);
	return taken_back(&lent, real(id, file, actions, attr, argv, envp));
}

EXPORT int posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[])
{
	return spawn(REAL(posix_spawn), pid, path, path, actions, attr, argv,
		     envp);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[],
			char *const envp[])
{
	char found[PATH_MAX];

	return spawn(REAL(posix_spawnp), pid, file,
		     wefti_environment_find(file, found), actions, attr, argv,
		     envp);
}

/* Behind a spawn with the result r: the descriptor's number may be an old one's. */
static int new_pidfd(const int *pidfd, int r)
{
	if (r == 0 && pidfd)
		wefti_pt_fd_forget(*pidfd);
	return r;
}

/* The same, and what they give is a descriptor. glibc has them since 2.39. */
EXPORT int pidfd_spawn(int *pidfd, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[])
{
	if (!REAL(pidfd_spawn))
		return ENOSYS;
	return new_pidfd(pidfd, spawn(wefti_real.pidfd_spawn, pidfd, path, path,
				      actions, attr, argv, envp));
}

EXPORT int pidfd_spawnp(int *pidfd, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[],
			char *const envp[])
{
	char found[PATH_MAX];

	if (!REAL(pidfd_spawnp))
		return ENOSYS;
	return new_pidfd(pidfd, spawn(wefti_real.pidfd_spawnp, pidfd, file,
				      wefti_environment_find(file, found),
				      actions, attr, argv, envp));
}

/*
 * The shell gets the environment that libc finds. In a root without the library the
 * process's own environment is changed, for good: no program that it starts could load
 * the library.
 */
static void see_to_shell(void)
{
	size_t bytes = wefti_environment_room(AT_FDCWD, "/bin/sh", __environ);
	void *room = bytes ? wefti_environment_memory(bytes) : NULL;

	if (room)
		__environ = wefti_environment_without(__environ, room);
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	struct lent lent;
	FILE *stream;

	see_to_shell();
	lend(&lent);
	stream = REAL(popen)(command, mode);
	(void)taken_back(&lent, 0);
	return stream;
}
SECOND_NAME(popen, _IO_popen);

struct lent_in_region {
	uint64_t before;
	struct wefti_schedule_lent schedule;
};

static void give_back(struct lent_in_region *l)
{
	wefti_schedule_take_back(&l->schedule);
	wefti_signals_real_end(l->before);
	wefti_region_end_call();
}

/* In a region the thread keeps its kernel thread. A cancellation kills the child. */
EXPORT int system(const char *command)
{
	wefti_cancel_point();
	see_to_shell();
	if (!wefti_pt_green())
		return REAL(system)(command);
	wefti_region_begin_call(WEFTI_ENDS_AT_ONCE);

	struct lent_in_region l __attribute__((cleanup(give_back))) = {
		.before = wefti_signals_real_begin(),
	};

	wefti_schedule_lend(&l.schedule);
	return REAL(system)(command);
}

EXPORT int pclose(FILE *stream)
{
	int status;

	wefti_region_begin();
	status = REAL(pclose)(stream);
	wefti_region_end();
	return status;
}
