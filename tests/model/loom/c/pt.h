/* SPDX-License-Identifier: MIT */
/*
 * pt.h - for scenarios of pthread/: threads that wait in the lot
 *
 * The scheduler is a few functions: a thread that is parked is blocked, and a thread
 * that is made ready is not. Thread 0 of the scenario has slot 1, and so on. In
 * `kernel` is a bit for each thread that is a kernel thread of the program's own:
 * it sleeps in a futex. A time-out comes at once, to a wait that has a deadline
 * and has not ended.
 */
#ifndef WEFT_MODEL_PT_H
#define WEFT_MODEL_PT_H

#include <errno.h>
#include <linux/futex.h>
#include <stdalign.h>
#include <string.h>
#include <sys/syscall.h>

#include "model.h"
#include "os/call/clock.h"
#include "parks.h"
#include "pthread/core/hold.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/wait/lot.h"

#define THREADS		MODEL_THREADS
#define LOCKS		2		/* words that hold.h's sleep on */

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

uint8_t wefti_steps_aside;

static alignas(128) struct wefti_thread thread[THREADS + 1];	/* by slot */
static struct wefti_cold cold[THREADS + 1];
static struct wefti_pt pt[THREADS + 1];
static unsigned kernel;
static const volatile void *entry[THREADS + 1];
static const volatile void *lock_word[LOCKS];
static int64_t now, tick;

struct wefti_thread *model_self(void)
{
	return kernel >> m_self() & 1 ? NULL : &thread[m_self() + 1];
}

struct wefti_pt *model_pt(void)
{
	return &pt[m_self() + 1];
}

struct wefti_pt *model_pt_of(const struct wefti_thread *t)
{
	return &pt[t->slot];
}

struct wefti_thread *wefti_foreign_self(void)
{
	m_fail("it is not to become weft's");
	return NULL;
}

void wefti_membarrier_heavy(void)
{
	fence_seq_cst();
}

void wefti_seat_lost(struct wefti_thread *self)
{
	(void)self;
	m_fail("there are no seats here");
}

uint64_t wefti_os_signals_block(void)
{
	return 0;
}

void wefti_os_signals_restore(uint64_t mask)
{
	(void)mask;
}

int64_t wefti_os_now_ns(void)
{
	return now += tick;
}

void wefti_inject(struct wefti_thread *t)
{
	m_unblock((int)t->slot);
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	if (deadline != INT64_MAX && wefti_wait_cause(self) == WEFTI_CAUSE_NONE)
		time_out(self);
	return model_park(self);
}

/* Called by the lot where a mark says so: this is what the caller sleeps on. */
void model_entry(const volatile void *state)
{
	entry[m_self() + 1] = state;
}

/* A futex has the number of the thread that sleeps on it, a lock's a later one. */
static int futex_of(const volatile void *word)
{
	for (int i = 1; i <= THREADS; i++)
		if (entry[i] == word)
			return i;
	for (int i = 0; i < LOCKS; i++) {
		if (!lock_word[i])
			lock_word[i] = word;
		if (lock_word[i] == word)
			return THREADS + 1 + i;
	}
	m_fail("too many futexes");
	return 0;
}

int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	m_check(deadline == INT64_MAX);
	m_futex_wait(futex_of(w), w, value);
	return 0;
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	m_check(count == 1);
	m_futex_wake_one(futex_of(w));
	return 0;
}

/* The lot's own calls. */
long model_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)a;

	(void)e, (void)f;
	m_check(number == SYS_futex);
	if (b == FUTEX_WAKE_PRIVATE)
		m_futex_wake_one(futex_of(word));
	else if (d)
		return -ETIMEDOUT;
	else
		m_futex_wait(futex_of(word), word, (uint32_t)c);
	return 0;
}

/* The scenario says what a thread's signals do, and no thread is cancelled. */
void wefti_signals_run_urgent(void)
{
	wefti_signals_run();
}

/* libc cancels no thread here. */
void wefti_unwound_point(void (*fn)(void *arg), void *arg, void (*then)(void *arg))
{
	(void)then;
	fn(arg);
}

/* keys: of each object that is waited at; its bucket is made here. */
static void init_pt(unsigned kernel_threads, const void *const *keys)
{
	kernel = 0;
	now = 1;
	tick = 0;
	memset(entry, 0, sizeof(entry));
	memset(lock_word, 0, sizeof(lock_word));
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	wefti_lot_forget();
	for (uint32_t i = 1; i <= THREADS; i++) {
		struct wefti_thread *t = &thread[i];

		t->slot = i;
		t->kind = WEFTI_KIND_GREEN;
		t->cold = &cold[i];
		store_relaxed(&t->wait, (uint64_t)0);
		store_relaxed(&t->waits_for, NULL);
		store_relaxed(&t->in_runtime, 0u);
		store_relaxed(&t->attention, 0u);
		store_relaxed(&pt[i].urgent, 0u);
		store_relaxed(&pt[i].wait_seq, (uint64_t)0);
		store_relaxed(&pt[i].cancel_disabled, 0);
		store_relaxed(&pt[i].real_time, 0);
	}
	for (; *keys; keys++)
		m_check(wefti_lot_wake(*keys, 1, WEFTI_LOT_ANY) == 0);
	kernel = kernel_threads;
}

#endif
