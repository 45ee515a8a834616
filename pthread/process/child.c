/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/child.c - waiting for children
 *
 * A thread that waits for the end of one child uses a descriptor of it (pidfd), which the
 * poller watches. It waits in a region for the end of any child, for a stop, and for what
 * a child does that the process traces (pthread/process/ptrace.c).
 *
 * Writers
 *   pt.awaits_child  wait_end_of
 */
#include <errno.h>
#include <sys/syscall.h>

#include "os/call/newer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/process/ptrace.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"
#include "pthread/wait/fd_wait.h"
#include "syscall.h"

/*
 * Only the children of the calling kernel thread: a green thread cannot know which one.
 */
#define NOT_OF_THREADS	(~(unsigned)__WNOTHREAD)

static void close_it(const int *fd)
{
	wefti_pt_fd_forget(*fd);
	REAL(close)(*fd);
}

struct wait {
	struct pollfd end;
	pid_t pid;
	int is_traced;
};

static int is_over_or_traced(void *arg)
{
	struct wait *w = arg;
	int n = wefti_pt_poll_now(&w->end, 1);

	if (n != 0)
		return n;
	w->is_traced = wefti_trace_is_ours(w->pid);
	return w->is_traced;
}

/* A cancellation point. Returns 0 (the caller looks again), EINTR, or ENOTSUP. */
static int wait_end_of(pid_t pid)
{
	struct wait w = { .end.events = POLLIN, .pid = pid };
	const uint32_t outer = load_relaxed(&wefti_pt.awaits_child);
	int saved = errno, error;
	int fd __attribute__((cleanup(close_it))) =
		(int)wefti_arch_syscall(SYS_pidfd_open, pid, 0, 0, 0, 0, 0);

	if (fd < 0)
		return ENOTSUP;
	wefti_pt_fd_forget(fd);
	w.end.fd = fd;
	store_seq_cst(&wefti_pt.awaits_child, 1);
	error = wefti_pt_ready_wait(&w.end, 1, is_over_or_traced, &w,
				    INT64_MAX, NULL);
	store_relaxed(&wefti_pt.awaits_child, outer);	/* this may be in a handler */
	errno = saved;
	return error == EINTR ? EINTR : error || w.is_traced ? ENOTSUP : 0;
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	int error;
	pid_t r;

	wefti_cancel_point();
	if (!wefti_pt_green())
		return REAL(wait4)(pid, status, options, usage);
	options &= (int)NOT_OF_THREADS;
	error = pid > 0 && !(options & ~WNOHANG) ? 0 : ENOTSUP;
	while (!error) {
		r = REAL(wait4)(pid, status, options | WNOHANG, usage);
		if (r != 0 || (options & WNOHANG)) {
			wefti_signals_run_any();
			return r;
		}
		error = wait_end_of(pid);
	}
	if (error == EINTR) {
		errno = EINTR;
		return -1;
	}
	r = REAL(wait4)(pid, status, options | WNOHANG, usage);
	if (r != 0 || (options & WNOHANG))
		return r;
	wefti_region_begin_call(WEFTI_ENDS);
	r = REAL(wait4)(pid, status, options, usage);
	wefti_region_end_call();
	if (r < 0)	/* else only this call reports the child */
		wefti_cancel_point();
	wefti_signals_run_any();
	return r;
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	if (!wefti_pt_green())
		return REAL(waitpid)(pid, status, options);
	return wait4(pid, status, options, NULL);
}
SECOND_NAME(waitpid, __waitpid);

EXPORT pid_t wait(int *status)
{
	if (!wefti_pt_green())
		return REAL(wait)(status);
	return wait4(-1, status, 0, NULL);
}
SECOND_NAME(wait, __wait);

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	if (!wefti_pt_green())
		return REAL(wait3)(status, options, usage);
	return wait4(-1, status, options, usage);
}

/* Does the call have its answer, without waiting? *r is then what waitid() returns. */
static int is_answered(idtype_t type, id_t id, siginfo_t *info, int options, int *r)
{
	siginfo_t got = { .si_pid = 0 };

	*r = REAL(waitid)(type, id, &got, options | WNOHANG);
	if (*r == 0 && got.si_pid == 0)
		return 0;
	if (*r == 0 && info)
		*info = got;
	return 1;
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	int r, answered, error = 0;

	if (!wefti_pt_green())
		return REAL(waitid)(type, id, info, options);
	options &= (int)NOT_OF_THREADS;
	wefti_cancel_point();
	if (options & WNOHANG)
		return REAL(waitid)(type, id, info, options);
	while (!(answered = is_answered(type, id, info, options, &r)) && !error)
		error = type == P_PID && !(options & (WSTOPPED | WCONTINUED)) ?
			wait_end_of((pid_t)id) : ENOTSUP;
	if (answered) {
		wefti_signals_run_any();
		return r;
	}
	if (error == EINTR) {
		errno = EINTR;
		return -1;
	}
	wefti_region_begin_call(WEFTI_ENDS);
	r = REAL(waitid)(type, id, info, options);
	wefti_region_end_call();
	if (r < 0)
		wefti_cancel_point();
	wefti_signals_run_any();
	return r;
}
