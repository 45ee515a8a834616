/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - scenarios: threads lock and unlock a hand-off mutex
 *
 * The scheduler below is three functions: a thread that is parked is blocked,
 * one that is made ready is not. The waker must see what the thread left
 * behind. Time stands still, or goes on by 600 us with each look at the clock,
 * so patience is over at the second. A wait with a deadline times out as soon
 * as it begins, if it has not been ended.
 */
#include "model.h"

#include <stdalign.h>
#include <stdarg.h>

#include "os/call/clock.h"
#include "sched/park.h"
#include "sched/park_by.h"
#include "sched/ready.h"
#include "sync/mutex.h"
#include "sync/node.h"

#define LOCKERS	3

struct wefti_runtime wefti_rt;
_Thread_local struct wefti_thread *wefti_tls_self;

static alignas(128) struct wefti_thread thread[1 + LOCKERS];	/* by slot */
static struct wefti_mutex mutex;
static char shared;			/* what the mutex protects */
static char context[1 + LOCKERS];	/* saved, of a thread off its stack */
static int64_t now, tick;

int64_t wefti_os_now_ns(void)
{
	return now += tick;
}

int wefti_os_cycles_are_reliable(void)
{
	return 0;
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	enum wefti_cause cause = wefti_wait_cause(self);

	if (cause == WEFTI_CAUSE_NONE && deadline != WEFT_FOREVER) {
		wefti_wait_resolve(self, self->node.seq, WEFTI_CAUSE_TIMEDOUT);
		cause = wefti_wait_cause(self);
	}
	if (cause != WEFTI_CAUSE_NONE)
		return cause;
	if (wefti_wait_commit(self))
		m_block((int)self->slot);
	cause = wefti_wait_cause(self);
	m_check(cause != WEFTI_CAUSE_NONE);
	return cause;
}

enum wefti_cause wefti_park_by(struct wefti_thread *self, enum wefti_why why,
			       const void *object,
			       void (*post)(struct wefti_thread *self))
{
	enum wefti_cause cause;

	(void)why;
	store_relaxed(&self->waits_for, object);
	m_data_write(&context[self->slot]);
	post(self);
	m_block((int)self->slot);
	cause = wefti_wait_cause(self);
	m_check(cause == WEFTI_CAUSE_HANDED);
	return cause;
}

void wefti_seat_lost(struct wefti_thread *self)
{
	(void)self;
	m_fail("there are no seats here");
}

/* No spare nodes are needed here: a thread times out once at most. */
struct wefti_dense wefti_slots;

/* Asked for its VCPU alone, and here is none. */
struct wefti_thread *model_self(void)
{
	return &thread[1];
}

void wefti_ready(struct wefti_thread *t)
{
	m_data_read(&context[t->slot]);
	m_unblock((int)t->slot);
}

static void init(unsigned policy)
{
	store_relaxed(&mutex.word, (uint64_t)0);
	store_relaxed(&mutex.owner, NULL);
	mutex.list = NULL;
	mutex.policy = policy;
	store_relaxed(&mutex.left, 0);
	store_relaxed(&mutex.sweep_at, 0);
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	now = 1 + LOCKERS;	/* no slot: a stamp is no link */
	tick = 0;
	for (uint32_t i = 1; i <= LOCKERS; i++) {
		thread[i].slot = i;
		thread[i].kind = WEFTI_KIND_GREEN;
		m_data_write(&context[i]);
		store_relaxed(&thread[i].in_runtime, 0);
		store_relaxed(&thread[i].attention, 0);
		store_relaxed(&thread[i].node.data, (uint64_t)0);
		store_relaxed(&thread[i].wait, (uint64_t)0);
		store_relaxed(&thread[i].node_lent, 0);
		store_relaxed(&thread[i].waits_for, NULL);
	}
	m_data_write(&shared);
}

static void init_strict(void)
{
	init(WEFT_MUTEX_STRICT);
}

static void init_adaptive(void)
{
	init(WEFT_MUTEX_ADAPTIVE);
}

static void init_impatient(void)
{
	init(WEFT_MUTEX_ADAPTIVE);
	tick = 600000;
}

static void unlock(void)
{
	if (!wefti_mutex_let_go(&mutex))
		wefti_mutex_release(&mutex);
}

static void lock_and_unlock(struct wefti_thread *self)
{
	m_check(wefti_mutex_lock_slow(&mutex, self) == 0);
	m_data_write(&shared);
	unlock();
}

static void locker_0(void)
{
	lock_and_unlock(&thread[1]);
}

static void locker_1(void)
{
	lock_and_unlock(&thread[2]);
}

static void locker_2(void)
{
	lock_and_unlock(&thread[3]);
}

static void twice(void)
{
	lock_and_unlock(&thread[1]);
	lock_and_unlock(&thread[1]);
}

static void in_time_or_not(struct wefti_thread *self)
{
	if (wefti_mutex_lock(&mutex, self, 1) != 0)
		return;
	m_data_write(&shared);
	unlock();
}

static void timed_0(void)
{
	in_time_or_not(&thread[1]);
}

static void timed_1(void)
{
	in_time_or_not(&thread[2]);
}

/* Held from the beginning, by thread 3. */
static void init_strict_held(void)
{
	init(WEFT_MUTEX_STRICT);
	store_relaxed(&mutex.word, WEFTI_MUTEX_LOCKED);
	store_relaxed(&mutex.owner, &thread[3]);
}

static void init_adaptive_held(void)
{
	init_strict_held();
	mutex.policy = WEFT_MUTEX_ADAPTIVE;
}

static void release_2(void)
{
	m_data_write(&shared);
	unlock();
}

/* Granted to the head of the list, thread 1, which was woken; another comes. */
static void init_granted(void)
{
	init_impatient();
	wefti_node_lend(&thread[1]);
	thread[1].node.next = NULL;
	mutex.list = &thread[1].node;
	store_relaxed(&mutex.word, WEFTI_MUTEX_LOCKED | WEFTI_MUTEX_WOKEN |
				   WEFTI_MUTEX_GRANT);
}

static void arrive_0(void)
{
	m_check(wefti_mutex_arrive(&mutex, &thread[1], &thread[1].node,
				   WEFTI_CAUSE_WOKEN, WEFT_FOREVER) == 0);
	m_data_write(&shared);
	unlock();
}

static void check(void)
{
	m_check(load_relaxed(&mutex.word) == 0);
	m_check(mutex.list == NULL);
	for (uint32_t i = 1; i <= LOCKERS; i++)
		m_check(load_relaxed(&thread[i].node_lent) ==
			WEFTI_NODE_FREE);
	m_data_write(&shared);
}

SCENARIO(mutex_strict) = { init_strict, { twice, locker_1 }, check };
SCENARIO(mutex_strict_three) = {
	init_strict, { locker_0, locker_1, locker_2 }, check,
};
SCENARIO(mutex_adaptive) = { init_adaptive, { twice, locker_1 }, check };
SCENARIO(mutex_adaptive_three) = {
	init_adaptive, { locker_0, locker_1, locker_2 }, check,
};
SCENARIO(mutex_impatient) = { init_impatient, { twice, locker_1 }, check };
SCENARIO(mutex_impatient_three) = {
	init_impatient, { locker_0, locker_1, locker_2 }, check,
};
SCENARIO(mutex_granted) = { init_granted, { arrive_0, locker_1 }, check };
SCENARIO(mutex_sweep_strict) = {
	init_strict_held, { timed_0, locker_1, release_2 }, check,
};
SCENARIO(mutex_sweep_adaptive) = {
	init_adaptive_held, { timed_0, locker_1, release_2 }, check,
};
/* The one to be swept comes last: the owner takes the line from under the sweeper. */
SCENARIO(mutex_sweep_taken) = {
	init_adaptive_held, { locker_1, release_2, timed_0 }, check,
};
SCENARIO(mutex_sweep_two) = {
	init_strict_held, { timed_0, timed_1, release_2 }, check,
};
