/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/syscall.c - syscall()
 *
 * It asks the rooms in turn whether a call is theirs. All other calls go to the kernel
 * unchanged.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/init/tied_call.h"
#include "pthread/init/unseen.h"
#include "pthread/io/io.h"
#include "pthread/io/kaio.h"
#include "pthread/kthread/filter.h"
#include "pthread/process/ptrace.h"
#include "pthread/sync/futex.h"
#include "syscall.h"

static long finish(long result)
{
	return result < -4095 ? result : wefti_pt_result(result);
}

/* Makes the call from libc's own text. Dispatchers of system calls let that pass. */
static long by_libc(long number, const long *a)
{
	if (unlikely(!wefti_real.syscall))
		return finish(wefti_arch_syscall(number, a[0], a[1], a[2], a[3],
						 a[4], a[5]));
	return wefti_real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Goes to the kernel. */
static long pass(long number, const long *a)
{
	const void *filter = wefti_filter_of_call(number, a);
	struct wefti_filter f;
	long result;

	if (likely(!filter))
		return by_libc(number, a);
	wefti_filter_look(filter, &f);
	result = by_libc(number, a);
	if (wefti_filter_is_done(number, a, result))
		wefti_filter_is_set(&f);
	return result;
}

static long make_unseen_child(long number, const long *a)
{
	const struct wefti_unseen u = wefti_unseen_begin();
	const long result = by_libc(number, a);

	wefti_unseen_end(&u, result == 0);
	return result;
}

EXPORT long syscall(long number, ...)
{
	long a[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (wefti_pt_fd_syscall(number, a, &result) ||
	    wefti_kaio_syscall(number, a, &result) ||
	    wefti_trace_syscall(number, a, &result))
		return finish(result);
	if (unlikely(wefti_unseen_is_made_by(number, a)))
		return make_unseen_child(number, a);
	if (!wefti_pt_is_started())
		return pass(number, a);
	switch (number) {
	case SYS_futex:
		if (wefti_futex_inherits_priority((int)a[1]) && wefti_pt_find(0))
			return finish(-ENOSYS);
		return finish(wefti_futex(a));
	case SYS_gettid:
		return wefti_pt_green() ? gettid() : by_libc(number, a);
	case SYS_sched_yield:
		return wefti_pt_green() ? sched_yield() : by_libc(number, a);
	}
	return wefti_tied_syscall(number, a, &result) ? result : pass(number, a);
}
