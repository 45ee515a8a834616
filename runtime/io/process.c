/* SPDX-License-Identifier: MIT */
/*
 * io/process.c - starts another program, and waits for its end
 *
 * A wait opens a descriptor of the child (pidfd), and then waits until the poller says
 * that the child has ended. A child keeps its number until its status is taken. The try
 * behind the open says that the number is still a child's, so the descriptor is of that
 * child and not of a process that got the number since.
 *
 * Rejected: SIGCHLD, which is the program's; and a thread that waits for any child, which
 * would take the status of a child that a library waits for.
 */
#include "weft/process.h"

#include <errno.h>

#include "os/call/missing.h"
#include "os/libc/process.h"
#include "sched/vcpu.h"
#include "weft/io.h"
#include "weft/runtime.h"
#include "weft/thread.h"

#define LOOK_NS		INT64_C(10000000)	/* without a descriptor */
#define FLAGS		(WEFT_PROCESS_GROUP | WEFT_PROCESS_CLOSE)

extern char **__environ;

static int is_valid(const struct weft_process *how)
{
	uint64_t reserved = how->reserved0;

	for (size_t i = 0; i < sizeof(how->reserved) / sizeof(uint64_t); i++)
		reserved |= how->reserved[i];
	return reserved == 0 && (how->flags & ~(unsigned)FLAGS) == 0;
}

int weft_process_spawn(pid_t *pid, const char *file, char *const argv[],
		       const struct weft_process *how)
{
	static const struct weft_process plain;
	struct wefti_os_process p = {
		.file = file, .argv = argv, .fds = { -1, -1, -1 },
		.has_mask = load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON,
		 .mask = wefti_rt.program_mask,
	};
	int error;

	if (!how)
		how = &plain;
	if (!pid || !file || !argv || !is_valid(how))
		return -EINVAL;
	p.env = how->env ? how->env : __environ;
	p.dir = how->dir;
	for (int i = 0; i < 3 && how->fds; i++)
		p.fds[i] = how->fds[i];
	p.leads_group = (how->flags & WEFT_PROCESS_GROUP) != 0;
	p.closes = (how->flags & WEFT_PROCESS_CLOSE) != 0;
	weft_block_begin();
	error = wefti_os_process_spawn(pid, &p);
	weft_block_end();
	return error;
}

/* Returns 0: the status is taken, -EAGAIN: the child goes on, or another error. */
static int try_wait(pid_t pid, int *status, struct rusage *usage)
{
	int got = wefti_os_process_wait(pid, status, 0, usage);

	return got == 0 ? -EAGAIN : got < 0 ? got : 0;
}

static int wait_in_region(pid_t pid, int *status, struct rusage *usage)
{
	int got;

	weft_block_begin();
	got = wefti_os_process_wait(pid, status, 1, usage);
	weft_block_end();
	return got < 0 ? got : 0;
}

/* Returns 0 when it is time to try again, or an error. */
static int wait_a_little(int64_t deadline)
{
	int64_t now = weft_clock();
	int error;

	if (now >= deadline)
		return -ETIMEDOUT;
	error = weft_sleep(deadline - now < LOOK_NS ? deadline - now : LOOK_NS);
	return error == -ECANCELED ? error : 0;
}

/* Waits until the child has ended. Returns 0 (try again), or an error. */
static int wait_for_end(int fd, int64_t deadline)
{
	int error = weft_adopt(fd);
	int events;

	if (error)
		return error;
	events = weft_wait_fd(fd, POLLIN, deadline);
	return events < 0 ? events : 0;
}

int weft_waitpid_until(pid_t pid, int *status, struct rusage *usage,
		       int64_t deadline)
{
	int error = 0, result, fd;

	if (pid <= 0)
		return -EINVAL;
	result = try_wait(pid, status, usage);
	if (result != -EAGAIN)
		return result;
	if (deadline == WEFT_NO_WAIT)
		return -EAGAIN;
	fd = wefti_os_process_open(pid);
	if (wefti_os_is_missing(fd) && deadline == WEFT_FOREVER)
		return wait_in_region(pid, status, usage);
	result = try_wait(pid, status, usage);
	while (!error && result == -EAGAIN) {
		error = fd < 0 ? wait_a_little(deadline) :
				 wait_for_end(fd, deadline);
		if (!error)
			result = try_wait(pid, status, usage);
		if (!error && result == -EAGAIN && fd >= 0)	/* its tracer has it first */
			error = wait_a_little(deadline);
	}
	if (fd >= 0)
		(void)weft_close(fd);
	return result == -EAGAIN ? error : result;
}

int weft_waitpid(pid_t pid, int *status)
{
	return weft_waitpid_until(pid, status, NULL, WEFT_FOREVER);
}
