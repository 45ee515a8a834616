/* SPDX-License-Identifier: MIT */
/* pthread/core/time.h - libc's times and the runtime's */
#ifndef WEFT_PTHREAD_CORE_TIME_H
#define WEFT_PTHREAD_CORE_TIME_H

#include <stdint.h>
#include <time.h>

#include "os/call/clock.h"

#define WEFTI_NS	INT64_C(1000000000)

/*
 * The id of a thread's clock: the sign, 28 bits for the thread, and 7, which the kernel
 * gives to none of its clocks. What is above the threads made here is the first
 * thread's, but for -1, which is nobody's.
 */
#define WEFTI_CLOCK_KIND	7u
#define WEFTI_CLOCK_BITS	3
#define WEFTI_CLOCK_SIGN	0x80000000u

/* A green thread's, or one that only the kernel could have; for refusals. */
static inline int wefti_clock_is_of_thread(clockid_t clock)
{
	return ((unsigned)clock & (WEFTI_CLOCK_SIGN | WEFTI_CLOCK_KIND)) ==
	       (WEFTI_CLOCK_SIGN | WEFTI_CLOCK_KIND);
}

static inline int wefti_time_is_valid(const struct timespec *t)
{
	return t->tv_nsec >= 0 && t->tv_nsec < WEFTI_NS;
}

/* For a length of time, or a time that the kernel takes: it may not be negative. */
static inline int wefti_time_is_kernels(const struct timespec *t)
{
	return t->tv_sec >= 0 && wefti_time_is_valid(t);
}

/* In nanoseconds; INT64_MAX if the number cannot hold it. */
static inline int64_t wefti_time_ns(const struct timespec *t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t->tv_sec, WEFTI_NS, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
		return t->tv_sec < 0 ? 0 : INT64_MAX - 1;
	return ns;
}

static inline int64_t wefti_time_sum(int64_t begun, int64_t ns)
{
	return ns > INT64_MAX - 1 - begun ? INT64_MAX - 1 : begun + ns;
}

static inline int64_t wefti_time_after(int64_t ns)
{
	return wefti_time_sum(wefti_os_now_ns(), ns);
}

/* The time left until the deadline, or 0. */
static inline struct timespec wefti_time_rest(int64_t deadline)
{
	int64_t ns = deadline - wefti_os_now_ns();

	if (ns < 0)
		ns = 0;
	return (struct timespec){ ns / WEFTI_NS, ns % WEFTI_NS };
}

/*
 * Converts a time of `clock` to a deadline, which is at least 1, because 0 is
 * WEFT_NO_WAIT. If a wall clock is set during the wait, that is not noticed: the wait
 * lasts as long as it seemed when it began.
 */
static inline int64_t wefti_time_deadline(clockid_t clock,
					  const struct timespec *at)
{
	int64_t ns = at->tv_sec < 0 ? 0 : wefti_time_ns(at);
	struct timespec now;

	if (clock != CLOCK_MONOTONIC) {
		clock_gettime(clock, &now);
		ns = wefti_time_after(ns - wefti_time_ns(&now));
	}
	return ns > 0 ? ns : 1;
}

#endif
