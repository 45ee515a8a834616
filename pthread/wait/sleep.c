/* SPDX-License-Identifier: MIT */
/* pthread/wait/sleep.c - sleep calls of green threads */
#include "pthread/wait/sleep.h"

#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/time.h"
#include "pthread/kthread/real_time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
#include "weft/thread.h"

int wefti_sleep_until(int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = &wefti_pt, .deadline = deadline,
		.urgent = WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL,
		.why = WEFTI_WHY_SLEEP,
	};
	const uint32_t handled = wefti_pt.handled;

	wefti_cancel_point();
	for (;;) {
		enum wefti_lot_end end = wefti_lot_wait(&w);

		wefti_cancel_point();
		wefti_signals_run_any();
		if (end == WEFTI_LOT_TIMEDOUT)
			return 0;
		if (wefti_pt.handled != handled)
			return EINTR;
	}
}

/* Returns 0 or an error number. */
static int sleep_for(const struct timespec *time, struct timespec *rest)
{
	int64_t deadline;
	int error;

	if (!wefti_time_is_kernels(time))
		return EINVAL;
	deadline = wefti_time_after(wefti_time_ns(time));
	error = wefti_sleep_until(deadline);
	if (error && rest)
		*rest = wefti_time_rest(deadline);
	return error;
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *rest)
{
	int error;

	if (!wefti_pt_green())
		return REAL(nanosleep)(time, rest);
	error = sleep_for(time, rest);
	if (!error)
		return 0;
	errno = error;
	return -1;
}
SECOND_NAME(nanosleep, __nanosleep);

/* By another clock. A signal of the runtime does not end the sleep. */
static int sleep_in_region(clockid_t clock, int flags,
			   const struct timespec *time, struct timespec *rest)
{
	const uint32_t handled = wefti_pt.handled;
	struct timespec left = *time;
	int error;

	wefti_cancel_point();
	do {
		wefti_region_begin_call(WEFTI_ENDS);
		error = REAL(clock_nanosleep)(clock, flags, &left, &left);
		wefti_region_end_call();
		if (error)
			wefti_cancel_point();
	} while (error == EINTR && wefti_pt.handled == handled);
	if (error == EINTR && rest && !(flags & TIMER_ABSTIME))
		*rest = left;
	return error;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags,
			   const struct timespec *time, struct timespec *rest)
{
	if (!wefti_pt_green())
		return REAL(clock_nanosleep)(clock, flags, time, rest);
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return sleep_in_region(clock, flags, time, rest);
	if (!(flags & TIMER_ABSTIME))
		return sleep_for(time, rest);
	if (!wefti_time_is_kernels(time))
		return EINVAL;
	return wefti_sleep_until(wefti_time_deadline(clock, time));
}

EXPORT unsigned int sleep(unsigned seconds)
{
	struct timespec time = { seconds, 0 }, rest = { 0, 0 };

	if (!wefti_pt_green())
		return REAL(sleep)(seconds);
	if (nanosleep(&time, &rest) == 0)
		return 0;
	return (unsigned)rest.tv_sec;
}

EXPORT int usleep(useconds_t us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	return nanosleep(&time, NULL);
}

EXPORT int sched_yield(void)
{
	if (!wefti_pt_green())
		return REAL(sched_yield)();
	if (likely(!load_relaxed(&wefti_pt.real_time)) ||
	    !wefti_real_time_keeps_now())
		weft_yield();
	wefti_signals_run_any();
	return 0;
}
SECOND_NAME(sched_yield, __sched_yield);

/* The header makes pthread_yield() an alias of sched_yield(), also by an asm name. */
EXPORT int yield_by_old_name(void) __asm__("pthread_yield");

int yield_by_old_name(void)
{
	return sched_yield();
}

EXPORT void thrd_yield(void)
{
	sched_yield();
}

EXPORT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	int status = nanosleep(time, rest);

	return status == 0 ? 0 : errno == EINTR ? -1 : -2;
}
