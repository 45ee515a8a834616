/* SPDX-License-Identifier: MIT */
/*
 * pthread/child.c - waiting for children
 *
 * The end of one child is waited for by a descriptor of it (pidfd), which the
 * poller watches. That of any child, and a stop, are waited for in a region.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "pthread/cancel.h"
#include "pthread/fd.h"
#include "pthread/ready.h"
#include "pthread/real.h"
#include "pthread/region.h"
#include "pthread/signal.h"
#include "syscall.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open	434
#endif

static void close_it(const int *fd)
{
	close(*fd);
}

/* A cancellation point. Returns 0 (look again), EINTR, or ENOTSUP. */
static int wait_end_of(pid_t pid)
{
	const struct wefti_edges none = { { 0, 0 } };
	int saved = errno, error;
	int fd __attribute__((cleanup(close_it))) =
		(int)wefti_arch_syscall(SYS_pidfd_open, pid, 0, 0, 0, 0, 0);

	if (fd < 0)
		return ENOTSUP;
	wefti_pt_fd_forget(fd);
	error = wefti_pt_fd_wait(fd, POLLIN, none, INT64_MAX, NULL);
	errno = saved;
	return error;
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	int error = pid > 0 && !(options & ~WNOHANG) ? 0 : ENOTSUP;
	pid_t r;

	wefti_cancel_point();
	if (!wefti_pt_green())
		return REAL(wait4)(pid, status, options, usage);
	while (!error) {
		r = REAL(wait4)(pid, status, options | WNOHANG, usage);
		if (r != 0 || (options & WNOHANG))
			return r;
		error = wait_end_of(pid);
	}
	if (error == EINTR) {
		errno = EINTR;
		return -1;
	}
	r = REAL(wait4)(pid, status, options | WNOHANG, usage);
	if (r != 0 || (options & WNOHANG))
		return r;
	wefti_region_begin();
	r = REAL(wait4)(pid, status, options, usage);
	wefti_region_end();
	wefti_cancel_point();
	wefti_signals_look();
	return r;
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	if (!wefti_pt_green())
		return REAL(waitpid)(pid, status, options);
	return wait4(pid, status, options, NULL);
}

EXPORT pid_t wait(int *status)
{
	if (!wefti_pt_green())
		return REAL(wait)(status);
	return wait4(-1, status, 0, NULL);
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	if (!wefti_pt_green())
		return REAL(wait3)(status, options, usage);
	return wait4(-1, status, options, usage);
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	int r;

	if (!wefti_pt_green() || (options & WNOHANG))
		return REAL(waitid)(type, id, info, options);
	wefti_cancel_point();
	if (type == P_PID && !(options & (WSTOPPED | WCONTINUED)) &&
	    wait_end_of((pid_t)id) == EINTR) {
		errno = EINTR;
		return -1;
	}
	wefti_region_begin();
	r = REAL(waitid)(type, id, info, options);
	wefti_region_end();
	wefti_cancel_point();
	wefti_signals_look();
	return r;
}
