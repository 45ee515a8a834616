/* SPDX-License-Identifier: MIT */
/*
 * explore/time.c - virtual time: the same in each run, and it jumps when all threads wait
 *
 * A reading takes time too, so a loop that waits for a time comes to its end.
 */
#include "explore.h"

#include <errno.h>

#include "native.h"
#include "real.h"

#define NS_PER_S	INT64_C(1000000000)
#define MONOTONIC	(INT64_C(1000) * NS_PER_S)	/* at the run's begin */
/* The monotonic clock of weft's own threads. The machine's clock never comes so far. */
#define NATIVE		(INT64_C(1000000000) * NS_PER_S)
#define REALTIME	(INT64_C(1767225600) * NS_PER_S)	/* 1 January 2026 */
#define READING_NS	1000
#define STEP_NS		1000	/* virtual time of a step */
#define ASKED		1000u
#define IN_ROW		1000u

int64_t wefti_ex_earliest(void)
{
	int64_t first = WEFTI_EX_NEVER;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->deadline < first)
			first = t->deadline;
	return first;
}

/* BLOCKED -> READY, for each deadline that has come */
void wefti_ex_expire(void)
{
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->deadline <= wefti_ex.now) {
			t->state = WEFTI_EX_READY;
			t->is_timed_out = 1;
		}
}

/*
 * A step takes no time worth speaking of, so time jumps to the next deadline when no
 * thread can run. It may also jump earlier: on a busy machine threads are that slow.
 */
void wefti_ex_pass_time(struct wefti_ex_thread *self, int64_t first)
{
	int is_early;

	wefti_ex.now += STEP_NS;
	if (first == WEFTI_EX_NEVER || first <= wefti_ex.now)
		return;
	wefti_ex_fork_of(self, 't', NULL, 0, 0);
	is_early = wefti_ex_has_list() ? wefti_ex_listed(self, 't') != 0 :
					 wefti_ex.early && wefti_ex_random() % wefti_ex.early == 0;
	if (!is_early)
		return;
	wefti_ex.now = first;
	wefti_ex_chosen(self, 't', 0);
	wefti_ex_past_choice(self, NULL);
}

int wefti_ex_is_due(int64_t deadline)
{
	return deadline <= wefti_ex.now + STEP_NS;
}

/* The clock's time at the run's begin; -1: the clock is the next library's. */
static int64_t begin_of(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		return REALTIME;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
		return wefti_ex.is_native ? NATIVE : MONOTONIC;
	default:
		return -1;
	}
}

static int is_valid(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < NS_PER_S;
}

/* Not later than a time that comes never, and not before the run's begin. */
static int64_t in_ns(const struct timespec *time, int64_t begin)
{
	if (time->tv_sec >= INT64_MAX / NS_PER_S - 1)
		return WEFTI_EX_NEVER - 1;
	if (time->tv_sec < 0 || time->tv_sec * NS_PER_S + time->tv_nsec < begin)
		return 0;
	return time->tv_sec * NS_PER_S + time->tv_nsec - begin;
}

int wefti_ex_deadline(clockid_t clock, const struct timespec *time, int64_t *deadline)
{
	const int64_t begin = begin_of(clock);

	if (begin < 0 || !is_valid(time))
		return EINVAL;
	*deadline = in_ns(time, begin);
	return 0;
}

int64_t wefti_ex_in(int64_t ns)
{
	return ns < 0 || ns >= WEFTI_EX_NEVER - wefti_ex.now ? WEFTI_EX_NEVER :
							       wefti_ex.now + ns;
}

void wefti_ex_asks(const void *where)
{
	if (++wefti_ex_self->asked >= ASKED)
		wefti_ex_point(wefti_ex_self, WEFTI_EX_ASK, NULL, where);
}

/* Is the caller's clock the library's? */
static int is_virtual(void)
{
	return wefti_ex.is_native ? wefti_ex_native_has_clock() : wefti_ex_controlled() != NULL;
}

static int64_t read_clock(int64_t begin, const void *where)
{
	if (wefti_ex.is_native)
		wefti_ex_native_asks(where);
	else
		wefti_ex_asks(where);
	wefti_ex.now += READING_NS;
	return begin + wefti_ex.now;
}

static int tell_time(struct timespec *time, int64_t ns)
{
	*time = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	return 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int64_t begin = begin_of(clock);

	if (begin < 0 || !is_virtual())
		return REAL(clock_gettime)(clock, time);
	return tell_time(time, read_clock(begin, CALLER));
}

int weft_explore_clock(clockid_t clock, struct timespec *time);

/*
 * What libweft.so calls. A reading takes no time, as some depend on the monitor. It does in a
 * loop that waits for a time.
 */
EXPORT int weft_explore_clock(clockid_t clock, struct timespec *time)
{
	const int64_t begin = begin_of(clock);

	static uint32_t in_row;
	static uint64_t step;

	if (begin < 0 || !wefti_ex_native_has_clock())
		return REAL(clock_gettime)(clock, time);
	in_row = step == wefti_ex.report->steps ? in_row + 1 : 0;
	step = wefti_ex.report->steps;
	if (in_row > IN_ROW)
		wefti_ex.now += READING_NS;
	return tell_time(time, begin + wefti_ex.now);
}

/* A time of the runtime's. */
int64_t wefti_ex_native_ns(int64_t time)
{
	return time == INT64_MAX ? WEFTI_EX_NEVER : time - NATIVE;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	int64_t now;

	if (!is_virtual())
		return REAL(gettimeofday)(time, zone);
	now = read_clock(REALTIME, CALLER);
	time->tv_sec = now / NS_PER_S;
	time->tv_usec = now % NS_PER_S / 1000;
	return 0;
}

EXPORT time_t time(time_t *seconds)
{
	time_t now;

	if (!is_virtual())
		return REAL(time)(seconds);
	now = read_clock(REALTIME, CALLER) / NS_PER_S;
	if (seconds)
		*seconds = now;
	return now;
}

EXPORT int timespec_get(struct timespec *time, int base)
{
	if (base != TIME_UTC)
		return 0;
	return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

int wefti_ex_sleep(struct wefti_ex_thread *self, int64_t deadline, const void *where)
{
	const int kept = errno;

	wefti_ex_point(self, WEFTI_EX_SLEEP, NULL, where);
	self->is_interrupted = 0;
	do {
		wefti_ex_cancel_point(self);
		if (self->is_interrupted) {
			errno = EINTR;
			return -1;
		}
	} while (!wefti_ex_block(self, NULL, deadline));
	wefti_ex_cancel_point(self);
	errno = kept;
	return 0;
}

/* rest: NULL, or what is left of the time where a handler has ended the sleep */
static int sleep_for(const struct timespec *time, struct timespec *rest, const void *where)
{
	const int64_t ns = in_ns(time, 0), now = wefti_ex.now;
	const int64_t until = ns < WEFTI_EX_NEVER - 1 - now ? now + ns : WEFTI_EX_NEVER - 1;
	int64_t left;

	if (wefti_ex_sleep(wefti_ex_self, until, where) == 0)
		return 0;
	left = until > wefti_ex.now ? until - wefti_ex.now : 0;
	if (rest)
		*rest = (struct timespec){ left / NS_PER_S, left % NS_PER_S };
	return -1;
}

static int sleep_valid(const struct timespec *time, struct timespec *rest, const void *where)
{
	if (!wefti_ex_controlled() || !is_valid(time) || time->tv_sec < 0)
		return REAL(nanosleep)(time, rest);
	return sleep_for(time, rest, where);
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *rest)
{
	return sleep_valid(time, rest, CALLER);
}

EXPORT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	return sleep_valid(time, rest, CALLER) == 0 ? 0 : errno == EINTR ? -1 : -2;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *rest)
{
	int64_t deadline;
	int error;

	if (!wefti_ex_controlled() || wefti_ex_deadline(clock, time, &deadline) != 0)
		return REAL(clock_nanosleep)(clock, flags, time, rest);
	error = flags & TIMER_ABSTIME ? wefti_ex_sleep(wefti_ex_self, deadline, CALLER) :
					sleep_for(time, rest, CALLER);
	return error ? EINTR : 0;
}

EXPORT int usleep(useconds_t us)
{
	const struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	if (!wefti_ex_controlled())
		return REAL(usleep)(us);
	return sleep_for(&time, NULL, CALLER);
}

EXPORT unsigned sleep(unsigned seconds)
{
	const struct timespec time = { seconds, 0 };
	struct timespec rest;

	if (!wefti_ex_controlled())
		return REAL(sleep)(seconds);
	if (sleep_for(&time, &rest, CALLER) == 0)
		return 0;
	return (unsigned)rest.tv_sec + (rest.tv_nsec > 0);
}

int wefti_ex_yield(const void *where)
{
	if (!wefti_ex_controlled())
		return REAL(sched_yield)();
	wefti_ex_point(wefti_ex_self, WEFTI_EX_YIELD, NULL, where);
	return 0;
}

EXPORT int sched_yield(void)
{
	return wefti_ex_yield(CALLER);
}

/* The header makes pthread_yield() an alias of sched_yield(). */
EXPORT int wefti_ex_yield_by_old_name(void) __asm__("pthread_yield");

int wefti_ex_yield_by_old_name(void)
{
	return wefti_ex_yield(CALLER);
}

EXPORT void thrd_yield(void)
{
	(void)wefti_ex_yield(CALLER);
}
