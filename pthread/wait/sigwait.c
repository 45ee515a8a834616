/* SPDX-License-Identifier: MIT */
/* pthread/wait/sigwait.c - calls that wait for a signal */
#include <errno.h>
#include <unistd.h>

#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"
#include "pthread/wait/lot.h"

/* No handler runs between this check and the wait. */
static int none_has_run(void *arg)
{
	return wefti_pt.handled == *(uint32_t *)arg;
}

/* Returns the signal, or -EAGAIN or -EINTR. */
static int wait_signal(uint64_t set, siginfo_t *info, int64_t deadline)
{
	uint32_t handled = wefti_pt.handled;
	const struct wefti_lot_wait w = {
		.key = &wefti_pt.waited, .deadline = deadline,
		.check = none_has_run, .arg = &handled,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
		.why = WEFTI_WHY_SLEEP,
	};
	int signal, timed_out = 0;

	wefti_cancel_point();
	while (!(signal = wefti_signal_take(set, info))) {
		if (timed_out)
			break;
		timed_out = wefti_lot_wait(&w) == WEFTI_LOT_TIMEDOUT;
		if (load_relaxed(&wefti_pt.urgent) & WEFTI_URGENT_CANCEL)
			store_seq_cst(&wefti_pt.waited, (uint64_t)0);
		wefti_cancel_point();
		signal = wefti_signal_take(set, info);
		if (signal)
			break;
		/* A handler may have run already, where the thread was preempted. */
		wefti_signals_run();
		if (!none_has_run(&handled)) {
			signal = -EINTR;
			break;
		}
	}
	store_seq_cst(&wefti_pt.waited, (uint64_t)0);
	wefti_signals_run_any();	/* other signals may have come with it */
	return signal ? signal : -EAGAIN;
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout)
{
	siginfo_t got;
	int signal;

	if (!wefti_pt_green()) {
		wefti_region_begin();
		signal = REAL(sigtimedwait)(set, info, timeout);
		wefti_region_end();
		return signal;
	}
	if (timeout && !wefti_time_is_kernels(timeout)) {
		errno = EINVAL;
		return -1;
	}
	signal = wait_signal(wefti_signal_mask(set), &got, timeout ?
			     wefti_time_after(wefti_time_ns(timeout)) :
			     INT64_MAX);
	if (signal < 0) {
		errno = -signal;
		return -1;
	}
	if (info)
		*info = got;
	return signal;
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

EXPORT int sigwait(const sigset_t *set, int *signal)
{
	int got;

	do {
		got = sigtimedwait(set, NULL, NULL);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	*signal = got;
	return 0;
}

EXPORT int sigsuspend(const sigset_t *set)
{
	uint32_t handled = wefti_pt.handled;
	const struct wefti_lot_wait w = {
		.key = &wefti_pt.mask, .deadline = INT64_MAX,
		.check = none_has_run, .arg = &handled,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
		.why = WEFTI_WHY_SLEEP,
	};
	uint64_t before;

	wefti_cancel_point();
	if (!wefti_pt_green()) {
		wefti_region_begin();
		(void)!REAL(sigsuspend)(set);
		wefti_region_end();
		return -1;
	}
	before = load_relaxed(&wefti_pt.mask);
	wefti_signals_set_mask(wefti_signal_mask(set));
	while (none_has_run(&handled)) {
		wefti_lot_wait(&w);
		wefti_cancel_point();
		wefti_signals_run();
	}
	wefti_signals_set_mask(before);
	errno = EINTR;
	return -1;
}
SECOND_NAME(sigsuspend, __sigsuspend);

EXPORT int pause(void)
{
	sigset_t set;

	if (!wefti_pt_green()) {
		wefti_region_begin();
		(void)!REAL(pause)();
		wefti_region_end();
		return -1;
	}
	wefti_signal_put_mask(&set, load_relaxed(&wefti_pt.mask));
	return sigsuspend(&set);
}

/* --- the calls of System V and BSD ---------------------------------- */

EXPORT int __sigpause(int which, int is_signal)
{
	sigset_t set;

	if (is_signal) {
		sigprocmask(SIG_BLOCK, NULL, &set);
		if (sigdelset(&set, which) != 0)
			return -1;
	} else {
		wefti_signal_put_mask(&set, (unsigned)which);
	}
	return sigsuspend(&set);
}

EXPORT int __xpg_sigpause(int signal)
{
	return __sigpause(signal, 1);
}
