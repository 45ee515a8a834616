/* SPDX-License-Identifier: MIT */
/*
 * sem.c - scenarios: threads wait for a semaphore and post it
 *
 * It stands for all objects that keep their waiters in sync/waitlist.c. As in
 * mutex.c, a thread that is parked is blocked, and one that is made ready is not;
 * a thread of the scenario may be the clock. loom.sh marks where the server
 * touches its list, and where a node is written and read.
 */
#include "model.h"

#include <errno.h>
#include <stdalign.h>

#include "lockfree/depot.h"
#include "sched/park.h"
#include "sched/ready.h"
#include "sync/waitlist.h"
#include "thread/bare.h"
#include "weft/sem.h"

#define LATER	INT64_C(1000)		/* a deadline; the clock says when */

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_thread wefti_aside;	/* for handlers; there are none here */

/* Slot 0 is nobody's. */
static alignas(128) struct wefti_thread thread[MODEL_THREADS + 1];
static struct wefti_cold cold;
static struct weft_sem sem;
static char shared;			/* the semaphore's, when it is a lock */
static char gift;
static int taken;			/* of a wait with a deadline */
static int spare_given;

extern struct wefti_depot spares;	/* of sync/node.c, made known by loom.sh */

static _Atomic uint64_t *word(void)
{
	return (_Atomic uint64_t *)(void *)&sem;
}

struct wefti_thread *model_self(void)
{
	return &thread[m_self() + 1];
}

void wefti_ready(struct wefti_thread *t)
{
	m_unblock((int)t->slot);
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	enum wefti_resolved was = wefti_wait_resolve(t, seq, cause);

	if (was == WEFTI_WAS_PARKED)
		wefti_ready(t);
	return was != WEFTI_LOST;
}

/* The only one: the last struct, which is no thread's then. */
struct wefti_thread *wefti_thread_bare(enum wefti_kind kind,
				       struct wefti_cold *unused)
{
	(void)kind;
	(void)unused;
	m_check(!spare_given);
	spare_given = 1;
	return &thread[MODEL_THREADS];
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	enum wefti_cause cause = wefti_wait_cause(self);

	(void)deadline;
	if (cause != WEFTI_CAUSE_NONE)
		return cause;
	if (wefti_wait_commit(self))
		m_block((int)self->slot);
	cause = wefti_wait_cause(self);
	m_check(cause != WEFTI_CAUSE_NONE);
	return cause;
}

static void init(uint64_t value)
{
	store_relaxed(word(), value * WEFTI_LIST_ONE);
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	sem = (struct weft_sem){ { 0 } };
	taken = spare_given = 0;
	store_relaxed(&spares.word, (uint64_t)0);
	for (uint32_t i = 0; i <= MODEL_THREADS; i++) {
		struct wefti_thread *t = &thread[i];

		t->slot = i;
		t->cold = &cold;
		store_relaxed(&t->wait, (uint64_t)0);
		store_relaxed(&t->node_lent, 0);
		store_relaxed(&t->waits_for, NULL);
		store_relaxed(&t->in_runtime, 0u);
		store_relaxed(&t->attention, 0u);
		store_relaxed(&t->cancel, 0);
		store_relaxed(&t->gen, 1u);
		store_relaxed(&t->node.data, (uint64_t)0);
		m_data_write(&t->node);
	}
	m_data_write(&sem);
	m_data_write(&shared);
	m_data_write(&gift);
}

static void init_lock(void)
{
	init(1);
}

static void init_empty(void)
{
	init(0);
}

static void lock_and_unlock(void)
{
	m_check(weft_sem_wait(&sem) == 0);
	m_data_write(&shared);
	m_check(weft_sem_post(&sem) == 0);
}

static void twice(void)
{
	lock_and_unlock();
	lock_and_unlock();
}

static void wait(void)
{
	m_check(weft_sem_wait(&sem) == 0);
}

static void wait_for_gift(void)
{
	wait();
	m_data_read(&gift);
}

static void wait_until(void)
{
	int error = weft_sem_wait_until(&sem, LATER);

	m_check(error == 0 || error == -ETIMEDOUT);
	taken = error == 0;
}

static void post(void)
{
	m_check(weft_sem_post(&sem) == 0);
}

static void give(void)
{
	m_data_write(&gift);
	post();
}

static void post_twice(void)
{
	post();
	post();
}

static void post_thrice(void)
{
	post_twice();
	post();
}

/* The time of the first thread's first wait is over, if it waits. */
static void clock(void)
{
	wefti_unpark(&thread[1], 1, WEFTI_CAUSE_TIMEDOUT);
}

/* Its node is its own again, or it has another. */
static void wait_until_and_wait(void)
{
	wait_until();
	wait();
}

static void check_nodes(void)
{
	for (uint32_t i = 1; i <= MODEL_THREADS; i++)
		m_check(load_relaxed(&thread[i].node_lent) == WEFTI_NODE_FREE);
}

static void check_lock(void)
{
	m_check(load_relaxed(word()) == WEFTI_LIST_ONE);
	m_data_write(&shared);
	check_nodes();
}

static void check_empty(void)
{
	m_check(load_relaxed(word()) == 0);
	check_nodes();
}

static void check_one(void)
{
	m_check(load_relaxed(word()) == (uint64_t)(1 - taken) * WEFTI_LIST_ONE);
	check_nodes();
}

SCENARIO(sem_one) = { init_empty, { wait_for_gift, give }, check_empty };
SCENARIO(sem_lock) = { init_lock, { twice, lock_and_unlock }, check_lock };
SCENARIO(sem_lock_three) = {
	init_lock, { lock_and_unlock, lock_and_unlock, lock_and_unlock },
	check_lock,
};
SCENARIO(sem_two_posters) = {
	init_empty, { wait, wait, post, post }, check_empty,
};
SCENARIO(sem_three_wait) = {
	init_empty, { wait, wait, wait, post_thrice }, check_empty,
};
SCENARIO(sem_timed) = { init_empty, { wait_until, post, clock }, check_one };
SCENARIO(sem_timed_two) = {
	init_empty, { wait_until, wait, post_twice, clock }, check_one,
};
SCENARIO(sem_timed_again) = {
	init_empty, { wait_until_and_wait, post_twice, clock }, check_one,
};
