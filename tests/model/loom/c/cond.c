/* SPDX-License-Identifier: MIT */
/*
 * cond.c - scenarios: threads wait for a condition and signal it, with a mutex
 *
 * The scheduler has one place, `next`, for a thread that was made ready; a thread that
 * finds it full runs on a VCPU of its own. A thread that parks, or ends, has the
 * thread in that place go on, which does the post-switch action first, as itself;
 * if there is none, a thread that waits for nothing does that.
 */
#include "model.h"

#include <stdalign.h>
#include <string.h>

#include "lockfree/depot.h"
#include "os/call/clock.h"
#include "sched/park.h"
#include "sched/park_by.h"
#include "sched/ready.h"
#include "sync/mutex.h"
#include "sync/node.h"
#include "sync/waitlist.h"
#include "weft/cond.h"

#define THREADS	2
#define SLOTS	6			/* those behind the threads only wait */

typedef void post_fn(struct wefti_thread *t);

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_thread wefti_aside;

static alignas(128) struct wefti_thread thread[SLOTS + 1];	/* by slot */
static struct wefti_thread nobody;
static struct wefti_cold cold;
static struct wefti_mutex mutex;
static struct weft_cond cond, other;
static _Atomic(struct wefti_thread *) next;
static struct wefti_thread *left[THREADS + 1];	/* it waits for its post */
static post_fn *left_post[THREADS + 1];
static int is_nobody[THREADS + 1];
static char context[SLOTS + 1], shared, said[2];
static int turn;

struct wefti_thread *model_self(void)
{
	return is_nobody[m_self() + 1] ? &nobody : &thread[m_self() + 1];
}

int64_t wefti_os_now_ns(void)
{
	return 1;
}

int wefti_os_cycles_are_reliable(void)
{
	return 0;
}

void wefti_membarrier_heavy(void)
{
	fence_seq_cst();
}

void wefti_ready(struct wefti_thread *t)
{
	struct wefti_thread *none = NULL;

	m_data_read(&context[t->slot]);
	if (!cas_release(&next, &none, t))
		m_unblock((int)t->slot);
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	enum wefti_resolved was = wefti_wait_resolve(t, seq, cause);

	if (was == WEFTI_WAS_PARKED)
		wefti_ready(t);
	return was != WEFTI_LOST;
}

/* The VCPU's next thread goes on, and does what is to be done for t. */
static int give_way(struct wefti_thread *t, post_fn *post)
{
	struct wefti_thread *n = xchg_acq_rel(&next, NULL);

	if (!n)
		return 0;
	left[n->slot] = t;
	left_post[n->slot] = post;
	m_unblock((int)n->slot);
	return 1;
}

static void block(struct wefti_thread *self)
{
	post_fn *post;

	m_block((int)self->slot);
	post = left_post[self->slot];
	left_post[self->slot] = NULL;
	if (post)
		post(left[self->slot]);
}

static void commit(struct wefti_thread *t)
{
	if (!wefti_wait_commit(t))
		wefti_ready(t);
}

static void switch_away(struct wefti_thread *self, post_fn *post)
{
	m_data_write(&context[self->slot]);
	if (!give_way(self, post)) {
		is_nobody[self->slot] = 1;
		post(self);
		is_nobody[self->slot] = 0;
		/* What it has made ready has this VCPU. */
		give_way(NULL, NULL);
	}
	block(self);
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	m_check(deadline == WEFT_FOREVER);
	if (wefti_wait_cause(self) == WEFTI_CAUSE_NONE)
		switch_away(self, commit);
	m_check(wefti_wait_cause(self) != WEFTI_CAUSE_NONE);
	self->why = WEFTI_WHY_NOTHING;
	return wefti_wait_cause(self);
}

enum wefti_cause wefti_park_by(struct wefti_thread *self, enum wefti_why why,
			       const void *object, post_fn *post)
{
	self->why = (uint8_t)why;
	store_relaxed(&self->waits_for, object);
	switch_away(self, post);
	m_check(wefti_wait_cause(self) != WEFTI_CAUSE_NONE);
	self->why = WEFTI_WHY_NOTHING;
	return wefti_wait_cause(self);
}

static void init(void)
{
	memset(left_post, 0, sizeof(left_post));
	memset(is_nobody, 0, sizeof(is_nobody));
	store_relaxed(&next, NULL);
	store_relaxed(&mutex.word, (uint64_t)0);
	store_relaxed(&mutex.owner, NULL);
	mutex.list = NULL;
	mutex.policy = WEFT_MUTEX_STRICT;
	store_relaxed(&mutex.left, 0);
	store_relaxed(&mutex.sweep_at, 0);
	for (int i = 0; i < 2; i++) {
		_Atomic uint64_t *word = (void *)(i ? &other : &cond);

		memset(word, 0, sizeof(cond));
		store_relaxed(word, (uint64_t)0);
		store_relaxed(word + 3, (uint64_t)0);	/* its mutex */
	}
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	nobody.kind = WEFTI_KIND_SCHED;
	store_relaxed(&nobody.in_runtime, 1u);
	store_relaxed(&nobody.attention, 0u);
	for (uint32_t i = 1; i <= SLOTS; i++) {
		struct wefti_thread *t = &thread[i];

		t->slot = i;
		t->kind = WEFTI_KIND_GREEN;
		t->cold = &cold;
		t->why = WEFTI_WHY_NOTHING;
		m_data_write(&context[i]);
		m_data_write(&t->node);
		store_relaxed(&t->in_runtime, 0);
		store_relaxed(&t->attention, 0);
		store_relaxed(&t->node.data, (uint64_t)0);
		store_relaxed(&t->wait, (uint64_t)0);
		store_relaxed(&t->node_lent, 0);
		store_relaxed(&t->waits_for, NULL);
		store_relaxed(&t->cancel, 0);
		store_relaxed(&t->gen, 1u);
	}
	m_data_write(&shared);
	m_data_write(&said[0]);
	m_data_write(&said[1]);
	turn = 0;
}

static void lock(void)
{
	m_check(wefti_mutex_lock_slow(&mutex, model_self()) == 0);
	m_data_write(&shared);
}

static void unlock(void)
{
	m_data_write(&shared);
	if (!wefti_mutex_let_go(&mutex))
		wefti_mutex_release(&mutex);
}

static void wait_for(struct weft_cond *c, int t)
{
	while (turn != t) {
		m_data_write(&shared);
		m_check(weft_cond_wait(c, (struct weft_mutex *)&mutex) == 0);
		m_data_write(&shared);
	}
}

static void set(struct weft_cond *c, int t)
{
	turn = t;
	m_check(weft_cond_signal(c) == 0);
}

static void end(void)
{
	give_way(NULL, NULL);
}

/* The one that it signals is next when it waits itself. */
static void serve(void)
{
	lock();
	set(&cond, 1);
	wait_for(&other, 2);
	unlock();
	end();
}

static void answer(void)
{
	lock();
	wait_for(&cond, 1);
	set(&other, 2);
	unlock();
	end();
}

static void wait_once(void)
{
	lock();
	wait_for(&cond, 2);
	unlock();
	end();
}

/* The first has no order with the waiter but by the condition variable. */
static void signal_twice(void)
{
	m_check(weft_cond_signal(&cond) == 0);
	lock();
	set(&cond, 2);
	unlock();
	end();
}

/* Nobody runs those that only wait. */
void queue(struct wefti_waitlist *list, struct wefti_node *node);

static struct wefti_waitlist *list(void)
{
	return (struct wefti_waitlist *)(void *)&cond;
}

static void wait_only(uint32_t slot)
{
	struct wefti_node *node = wefti_node_get(&thread[slot]);

	node->seq = wefti_wait_begin_parked(&thread[slot], WEFTI_WAIT_SOLE);
	queue(list(), node);
}

static void init_waiting(void)
{
	init();
	wait_only(3);
}

static void signal_one(void)
{
	m_check(weft_cond_signal(&cond) == 0);
}

/* One has woken it; its node was let out by nobody. */
static void check_woken(void)
{
	m_check(wefti_wait_cause(&thread[3]) == WEFTI_CAUSE_SIGNALLED);
	m_check(load_relaxed(&thread[3].node_lent) == WEFTI_NODE_LENT);
	m_check(load_relaxed(&list()->word) == 0);
}

/* Another comes while they are signalled; at the end it is signalled, too. */
static void wait_behind(void)
{
	wait_only(4);
}

static void check_both_woken(void)
{
	signal_one();
	signal_one();
	for (uint32_t i = 3; i <= 4; i++)
		m_check(wefti_wait_cause(&thread[i]) ==
			WEFTI_CAUSE_SIGNALLED);
	m_check(load_relaxed(&list()->word) == 0);
}

/* Each signal wakes one of them, and orders what was done before it. */
static void check_each_woken(void)
{
	for (uint32_t i = 3; i <= 4; i++)
		m_check(wefti_wait_cause(&thread[i]) ==
			WEFTI_CAUSE_SIGNALLED);
	m_check(load_relaxed(&list()->word) == 0);
}

static void say_and_signal(void)
{
	m_data_write(&said[m_self()]);
	signal_one();
}

static void see_both_woken(void)
{
	for (uint32_t i = 3; i <= 4; i++)
		if (wefti_wait_cause(&thread[i]) != WEFTI_CAUSE_SIGNALLED)
			return;
	m_data_read(&said[0]);
	m_data_read(&said[1]);
}

/* Others come when the list is empty again: the next server finds what one has left. */
static void init_two_waiting(void)
{
	init_waiting();
	wait_only(4);
}

static void signal_both(void)
{
	signal_one();
	signal_one();
}

static void queue_two(void)
{
	if (load_relaxed(&list()->word))
		return;
	wait_only(5);
	wait_only(6);
	signal_one();
}

static void check_nothing(void)
{
}

static void check(void)
{
	m_check(turn == 2);
	m_check(load_relaxed(&mutex.word) == 0 && mutex.list == NULL);
	m_check(load_relaxed((_Atomic uint64_t *)(void *)&cond) == 0);
	m_check(load_relaxed((_Atomic uint64_t *)(void *)&other) == 0);
	for (uint32_t i = 1; i <= THREADS; i++)
		m_check(load_relaxed(&thread[i].node_lent) == WEFTI_NODE_FREE);
}

SCENARIO(cond_signals) = { init_waiting, { signal_one, signal_one }, check_woken };
SCENARIO(cond_pushed) = {
	init_waiting, { wait_behind, signal_both }, check_both_woken,
};
SCENARIO(cond_served) = {
	init_two_waiting, { signal_one, signal_one }, check_both_woken,
};
SCENARIO(cond_told) = {
	init_two_waiting, { say_and_signal, say_and_signal, see_both_woken },
	check_each_woken,
};
SCENARIO(cond_queued) = {
	init_two_waiting, { signal_both, queue_two }, check_nothing,
};
SCENARIO(cond_hand) = { init, { serve, answer }, check };
SCENARIO(cond_outside) = { init, { wait_once, signal_twice }, check };
