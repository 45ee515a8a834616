/* SPDX-License-Identifier: MIT */
/*
 * summons.c - scenarios: two summon a thread that parks, and it comes once
 *
 * sched/summons.c and the injection queue are the runtime's. A thread that has
 * summoned acts as a VCPU then, and takes summonses out until it finds none. A
 * thread that is parked is blocked; a foreign one sleeps on a futex.
 */
#include "model.h"

#include <stdalign.h>

#include "os/call/futex.h"
#include "sched/monitor.h"
#include "sched/ready.h"
#include "sched/summons.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define WAITER	1			/* its slot, and the futex it sleeps on */
#define SUMMONS	2			/* slots of two */
#define SLOTS	4

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

static alignas(128) struct wefti_thread thread[SLOTS];
static struct wefti_fifo_node node[SLOTS];	/* 0 is the dummy */
static struct wefti_thread someone;		/* has no VCPU */
static uint64_t ticket;
static char context;			/* what is saved at a switch */
static _Atomic unsigned why;		/* for what it is summoned */
static _Atomic unsigned resolved;

struct wefti_thread *model_self(void)
{
	return &someone;
}

/* Each of the two that summon has one. */
struct wefti_thread *wefti_thread_bare(enum wefti_kind kind,
				       struct wefti_cold *cold)
{
	(void)kind, (void)cold;
	return &thread[SUMMONS + m_self() - 1];
}

void wefti_thread_bare_free(struct wefti_thread *t)
{
	(void)t;
}

void wefti_monitor_wake(void)
{
	m_fail("the monitor is awake");
}

void wefti_idle_wake_one(void)
{
	m_fail("nobody idles");
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	(void)t, (void)seq, (void)cause;
	m_fail("there is a summons for everybody");
	return 0;
}

void wefti_wake_foreign(struct wefti_thread *t)
{
	m_futex_wake((int)t->slot);
}

static void init_with(uint64_t flags)
{
	store_relaxed(&wefti_fifo_chunk[0], node);
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	store_relaxed(&wefti_rt.idle_count, 0);
	store_relaxed(&wefti_rt.searching, 0);
	store_relaxed(&wefti_rt.monitor_asleep, 0);
	for (uint32_t i = 0; i < SLOTS; i++) {
		thread[i].slot = thread[i].fifo_node = i;
		store_relaxed(&thread[i].wait, (uint64_t)0);
		store_relaxed(&node[i].next, (uint64_t)0);
		store_relaxed(&node[i].item, NULL);
	}
	wefti_fifo_init(&wefti_rt.inject, 0);
	store_relaxed(&resolved, 0u);
	store_relaxed(&why, 0u);
	m_data_write(&context);
	ticket = wefti_ticket(&thread[WAITER],
			      wefti_wait_begin(&thread[WAITER], flags));
}

static void init(void)
{
	init_with(WEFTI_WAIT_TIMED);
}

static void init_foreign(void)
{
	init_with(WEFTI_WAIT_FOREIGN);
}

static void comes(void)
{
	enum wefti_cause cause = wefti_wait_cause(&thread[WAITER]);

	m_check(cause == WEFTI_CAUSE_WOKEN || cause == WEFTI_CAUSE_TIMEDOUT);
	if (cause == WEFTI_CAUSE_WOKEN)
		m_check(load_relaxed(&why) != 0);
	m_data_write(&context);
}

static void park(void)
{
	m_data_write(&context);
	if (wefti_wait_commit(&thread[WAITER]))
		m_block(WAITER);
	comes();
}

/* As sched/park.c does. */
static void sleep_foreign(void)
{
	struct wefti_thread *self = &thread[WAITER];
	uint64_t w;

	m_data_write(&context);
	if (wefti_wait_commit(self))
		while (w = load_seq_cst(&self->wait),
		       (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE) {
			if ((w & WEFTI_WAIT_SUMMONED) &&
			    wefti_wait_resolve(self, ticket,
					       WEFTI_CAUSE_WOKEN) != WEFTI_LOST)
				break;
			m_futex_wait(WAITER, &self->wait, (uint32_t)w);
		}
	comes();
}

static void runs(void)
{
	fetch_add_relaxed(&resolved, 1u);
	m_data_read(&context);
	m_unblock(WAITER);
}

static void answer_all(void)
{
	uint32_t spare;
	void *item;

	while ((item = wefti_fifo_pop(&wefti_rt.inject, &spare))) {
		m_check(wefti_summons_is(item));
		if (wefti_summons_answer(item, spare))
			runs();
	}
}

static void summon(void)
{
	fetch_add_relaxed(&why, 1u);
	wefti_summon(ticket);
	answer_all();
}

static void time_out(void)
{
	if (wefti_wait_resolve(&thread[WAITER], ticket, WEFTI_CAUSE_TIMEDOUT) ==
	    WEFTI_WAS_PARKED)
		runs();
}

static void check(void)
{
	m_check(load_relaxed(&resolved) <= 1);
	m_check(wefti_fifo_is_empty(&wefti_rt.inject));
	m_check((load_relaxed(&thread[WAITER].wait) & WEFTI_WAIT_PHASE) ==
		WEFTI_WAIT_IDLE);
}

SCENARIO(summons) = { init, { park, summon, summon }, check };
SCENARIO(summons_late) = { init, { park, summon, time_out }, check };
SCENARIO(summons_foreign) = {
	init_foreign, { sleep_foreign, summon, summon }, check,
};
