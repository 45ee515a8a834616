/* SPDX-License-Identifier: MIT */
/*
 * explore/futex.c - syscall(): futexes, clocks and random bytes; all else is the kernel's
 *
 * A thread that waits at a futex waits as at a lock. The woken thread is a choice; masks of bits
 * wake more threads than they name, and these look again, as after any wake without a
 * reason. Operations with two wakes, and those on mutexes with priorities, are the next
 * library's, and keep the turn.
 *
 * Random bytes are the same in each run. They are not random then: no program that is
 * explored should keep what it has made of them.
 */
#include "explore.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "real.h"

#define NS_PER_S	INT64_C(1000000000)
#define ENTROPY_MOST	256u

struct futex {
	uint32_t *at;
	int op;
	uint32_t value;
	const struct timespec *time;	/* or a second number */
	uint32_t *to;
	uint32_t third;
};

static uint64_t random_state;

static void fill(void *to, size_t bytes)
{
	unsigned char *byte = to;

	for (size_t i = 0; i < bytes; i++) {
		random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
		byte[i] = (unsigned char)(random_state >> 56);
	}
}

EXPORT ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
	if (!wefti_ex_controlled())
		return REAL(getrandom)(to, bytes, flags);
	fill(to, bytes);
	return (ssize_t)bytes;
}

EXPORT int getentropy(void *to, size_t bytes)
{
	if (!wefti_ex_controlled() || bytes > ENTROPY_MOST)
		return REAL(getentropy)(to, bytes);
	fill(to, bytes);
	return 0;
}

static uint32_t waiting(const uint32_t *at)
{
	uint32_t n = 0;

	for (const struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		n += t->state == WEFTI_EX_BLOCKED && t->waits_at == at;
	return n;
}

/* Returns how many were woken. Each choice has a number of its own. */
static long wake(uint32_t *at, uint32_t most)
{
	const uint32_t there = waiting(at);

	wefti_ex_give(wefti_ex_self, at);
	if (there <= most) {
		wefti_ex_wake_all(at);
		return there;
	}
	for (uint32_t i = 0; i < most; i++) {
		wefti_ex_self->choices += i > 0;
		wefti_ex_wake_one(at);
	}
	return most;
}

static int64_t deadline_of(const struct futex *f, int is_absolute)
{
	int64_t deadline;

	if (!f->time)
		return WEFTI_EX_NEVER;
	if (!is_absolute)
		return wefti_ex_in(f->time->tv_sec >= INT64_MAX / NS_PER_S - 1 ? -1 :
				   f->time->tv_sec * NS_PER_S + f->time->tv_nsec);
	return wefti_ex_deadline(f->op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME :
				 CLOCK_MONOTONIC, f->time, &deadline) == 0 ? deadline : 0;
}

static long fail(int error)
{
	errno = error;
	return -1;
}

static long wait_at(const struct futex *f, int is_absolute, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;

	(void)wefti_ex_object_point(f->at, WEFTI_EX_FUTEX, WEFTI_EX_WAIT, where);
	if (__atomic_load_n(f->at, __ATOMIC_SEQ_CST) != f->value)
		return fail(EAGAIN);
	self->is_interrupted = 0;
	if (wefti_ex_block(self, f->at, deadline_of(f, is_absolute)))
		return fail(ETIMEDOUT);
	if (self->is_interrupted && !self->is_signalled)
		return fail(EINTR);
	wefti_ex_take(self, self->waited_at);
	return 0;
}

static long requeue(const struct futex *f, int compares, const void *where)
{
	const uint32_t most = (uint32_t)(uintptr_t)f->time;
	uint32_t moved = 0;
	long woken;

	(void)wefti_ex_object_point(f->at, WEFTI_EX_FUTEX, WEFTI_EX_BROADCAST, where);
	wefti_ex_past(wefti_ex_self, WEFTI_EX_BROADCAST,
		      wefti_ex_object(f->to, WEFTI_EX_FUTEX, where));
	if (compares && __atomic_load_n(f->at, __ATOMIC_SEQ_CST) != f->third)
		return fail(EAGAIN);
	woken = wake(f->at, f->value);
	for (struct wefti_ex_thread *t = wefti_ex.all; t && moved < most; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->waits_at == f->at) {
			t->waits_at = f->to;
			moved++;
		}
	return woken + (long)(compares ? moved : 0);
}

/* Returns 0: the operation is not known here. */
static int do_futex(const struct futex *f, long *result, const void *where)
{
	switch (f->op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		*result = wait_at(f, 0, where);
		return 1;
	case FUTEX_WAIT_BITSET:
		*result = wait_at(f, 1, where);
		return 1;
	case FUTEX_WAKE:
		(void)wefti_ex_object_point(f->at, WEFTI_EX_FUTEX, WEFTI_EX_SIGNAL, where);
		*result = wake(f->at, f->value);
		return 1;
	case FUTEX_WAKE_BITSET:
		(void)wefti_ex_object_point(f->at, WEFTI_EX_FUTEX, WEFTI_EX_SIGNAL, where);
		*result = wake(f->at, f->third == FUTEX_BITSET_MATCH_ANY ? f->value :
						  UINT32_MAX);
		return 1;
	case FUTEX_REQUEUE:
		*result = requeue(f, 0, where);
		return 1;
	case FUTEX_CMP_REQUEUE:
		*result = requeue(f, 1, where);
		return 1;
	default:
		return 0;
	}
}

EXPORT long syscall(long number, ...)
{
	long a[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (wefti_ex_controlled() && number == SYS_futex) {
		const struct futex f = { (uint32_t *)a[0], (int)a[1], (uint32_t)a[2],
					 (const struct timespec *)a[3], (uint32_t *)a[4],
					 (uint32_t)a[5] };

		if (do_futex(&f, &result, CALLER))
			return result;
	}
	if (wefti_ex_controlled() && number == SYS_clock_gettime)
		return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
	if (wefti_ex_controlled() && number == SYS_getrandom)
		return getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
	if (wefti_ex_controlled() && number == SYS_sched_yield)
		return wefti_ex_yield(CALLER);
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
