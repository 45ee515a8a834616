/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/tied_call.c - system calls that name a kernel thread, or change one
 *
 * A call by syscall() does what libc's function does, is done for the green thread, or is
 * refused. See pthread/kthread/tied.h.
 */
#include "pthread/init/tied_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/call/newer.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/io/uring.h"
#include "pthread/kthread/proc.h"
#include "pthread/kthread/schedule.h"
#include "pthread/kthread/thread_id.h"
#include "pthread/kthread/tid_address.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/thread_timer.h"
#include "sched/seat.h"

#define REGISTER_RING_FDS		20	/* io_uring_register() */
#define UNREGISTER_RING_FDS		21

static int uring_error(long number, const long *a)
{
	const struct io_uring_params *params = (void *)a[1];

	if (number == SYS_io_uring_register)
		return a[1] == REGISTER_RING_FDS ||
		       a[1] == UNREGISTER_RING_FDS ? EINVAL : 0;
	return wefti_uring_error(params ? params->flags : 0, 0);
}

/* A filter for all kernel threads is allowed, and a query without a filter. */
static int seccomp_error(const long *a)
{
	if (a[0] == SECCOMP_SET_MODE_STRICT)
		return EINVAL;
	return a[0] == SECCOMP_SET_MODE_FILTER && a[2] &&
	       !((unsigned long)a[1] & SECCOMP_FILTER_FLAG_TSYNC) ? EINVAL : 0;
}

static int named(long id)
{
	return wefti_pt_find((pid_t)id) != NULL;
}

/* Returns the errno value with which the call is refused; 0: it is not refused. */
static int refusal(long number, const long *a)
{
	int error;

	switch (number) {
	case SYS_setuid: case SYS_setgid: case SYS_setreuid:
	case SYS_setregid: case SYS_setresuid: case SYS_setresgid:
	case SYS_setgroups: case SYS_setfsuid: case SYS_setfsgid:
	case SYS_capset:
		return EPERM;		/* of this kernel thread alone */
	case SYS_unshare: case SYS_setns:
		return EINVAL;
	case SYS_seccomp:
		error = seccomp_error(a);
		if (!error && a[0] == SECCOMP_SET_MODE_FILTER && a[2])
			wefti_membarrier_forgo();
		return error;
	case SYS_landlock_restrict_self:
		return EOPNOTSUPP;	/* as if it were switched off */
	case SYS_perf_event_open:
		return named(a[1]) ? ENOSYS : 0;
	case SYS_set_robust_list: case SYS_futex_waitv:
		return ENOSYS;
	case SYS_io_uring_setup: case SYS_io_uring_register:
		return uring_error(number, a);
	case SYS_timer_create:
		return wefti_timer_error((clockid_t)a[0]);
	default:
		return 0;
	}
}

/* Calls for which libc has a function that does the same. */
static int by_function(long number, const long *a, long *result)
{
	switch (number) {
	case SYS_personality:
		*result = personality((unsigned long)a[0]);
		return 1;
	case SYS_prctl:
		*result = prctl((int)a[0], a[1], a[2], a[3], a[4]);
		return 1;
	case SYS_set_tid_address:
		wefti_tid_address_set((int *)a[0]);
		*result = gettid();
		return 1;
	case SYS_sigaltstack:
		*result = sigaltstack((void *)a[0], (void *)a[1]);
		return 1;
	case SYS_setpriority:
		*result = setpriority((__priority_which_t)a[0], (id_t)a[1],
				      (int)a[2]);
		return 1;
	case SYS_sched_setaffinity:
		*result = sched_setaffinity((pid_t)a[0], (size_t)a[1],
					    (void *)a[2]);
		return 1;
	case SYS_sched_setscheduler:
		*result = sched_setscheduler((pid_t)a[0], (int)a[1],
					     (void *)a[2]);
		return 1;
	case SYS_sched_getscheduler:
		*result = sched_getscheduler((pid_t)a[0]);
		return 1;
	case SYS_sched_setparam:
		*result = sched_setparam((pid_t)a[0], (void *)a[1]);
		return 1;
	case SYS_sched_getparam:
		*result = sched_getparam((pid_t)a[0], (void *)a[1]);
		return 1;
	case SYS_getcpu:
		*result = getcpu((void *)a[0], (void *)a[1]);
		return 1;
	case SYS_clock_gettime:
		*result = clock_gettime((clockid_t)a[0], (void *)a[1]);
		return 1;
	case SYS_clock_getres:
		*result = clock_getres((clockid_t)a[0], (void *)a[1]);
		return 1;
	case SYS_getrusage:
		*result = getrusage((__rusage_who_t)a[0], (void *)a[1]);
		return 1;
	default:
		return 0;
	}
}

static int is_about_owners(long command)
{
	return command == F_SETOWN || command == F_GETOWN || command == F_SETOWN_EX ||
	       command == F_GETOWN_EX || command == F_SETSIG || command == F_GETSIG;
}

/* Calls that the kernel answers differently from libc, or that libc does not have. */
static int by_kernel(long number, const long *a, long *result)
{
	if (number == SYS_fcntl && is_about_owners(a[1])) {
		*result = fcntl((int)a[0], (int)a[1], a[2]);
		return 1;
	}
	if (number == SYS_ioprio_set || number == SYS_ioprio_get)
		return wefti_io_priority_syscall(number, a, result);
	if (number == SYS_set_mempolicy || number == SYS_get_mempolicy)
		return wefti_memory_policy_syscall(number, a, result);
	if (number == SYS_sched_setattr && named(a[0])) {
		*result = wefti_answer(wefti_sched_setattr(
			wefti_pt_find((pid_t)a[0]), (void *)a[1], (unsigned)a[2]));
		return 1;
	}
	if (number == SYS_sched_getattr && named(a[0])) {
		*result = wefti_answer(wefti_sched_getattr(
			wefti_pt_find((pid_t)a[0]), (void *)a[1], (unsigned)a[2],
			(unsigned)a[3]));
		return 1;
	}
	if (number == SYS_getpriority && a[0] == PRIO_PROCESS && named(a[1])) {
		*result = 20 - getpriority(PRIO_PROCESS, (id_t)a[1]);
		return 1;
	}
	if (number == SYS_sched_getaffinity && named(a[0])) {
		long n = wefti_affinity_get(wefti_pt_find((pid_t)a[0]),
					    (size_t)a[1], (void *)a[2]);

		*result = n < 0 ? wefti_answer((int)-n) : n;
		return 1;
	}
	return 0;
}

/* A library of the program may define that function, and call back into here. */
static int by_ours(long number, const long *a, long *result)
{
	const long outer = wefti_pt.answers;
	int is_answered;

	wefti_pt.answers = number;
	is_answered = by_function(number, a, result);
	wefti_pt.answers = outer;
	return is_answered;
}

int wefti_tied_syscall(long number, const long *a, long *result)
{
	int error;

	if (wefti_pt.answers == number)
		return 0;
	if (wefti_thread_id_syscall(number, a, result) ||
	    wefti_proc_syscall(number, a, result))
		return 1;
	if (!wefti_pt_green() || !wefti_pt_is_started())
		return 0;
	if (by_ours(number, a, result) || by_kernel(number, a, result) ||
	    wefti_signal_syscall(number, a, result))
		return 1;
	error = refusal(number, a);
	if (!error)
		return wefti_thread_timer_syscall(number, a, result);
	*result = wefti_answer(error);
	return 1;
}
