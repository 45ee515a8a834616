/* SPDX-License-Identifier: MIT */
/*
 * listed.h - for scenarios of objects that keep their waiters in sync/waitlist.c
 *
 * As in mutex.c, a thread that is parked is blocked, and one that is made ready is
 * not; a thread of the scenario may be the clock. loom.sh marks where the server
 * touches its list, and where a node is written and read.
 */
#ifndef WEFT_MODEL_LISTED_H
#define WEFT_MODEL_LISTED_H

#include "model.h"

#include <errno.h>
#include <stdalign.h>

#include "lockfree/depot.h"
#include "parks.h"
#include "sync/waitlist.h"
#include "thread/bare.h"

#define LATER	INT64_C(1000)		/* a deadline; the clock says when */

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_thread wefti_aside;	/* for handlers; there are none here */

/* Slot 0 is nobody's. */
static alignas(128) struct wefti_thread thread[MODEL_THREADS + 1];
static struct wefti_cold cold;
static int spare_given;
static int is_late;			/* the deadline is over when a thread parks */

extern struct wefti_depot spares;	/* of sync/node.c, made known by loom.sh */

struct wefti_thread *model_self(void)
{
	return &thread[m_self() + 1];
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
	if (is_late && deadline == LATER)
		time_out(self);
	return model_park(self);
}

static void init_threads(void)
{
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	spare_given = is_late = 0;
	store_relaxed(&spares.word, (uint64_t)0);
	for (uint32_t i = 0; i <= MODEL_THREADS; i++) {
		struct wefti_thread *t = &thread[i];

		t->slot = i;
		t->cold = &cold;
		t->kind = WEFTI_KIND_GREEN;
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
}

/* The thread in `slot` waits, whether the scenario has it or not. */
static __attribute__((unused)) void push_waiting(_Atomic uint64_t *word,
						 uint32_t slot)
{
	struct wefti_node *node = wefti_node_get(&thread[slot]);

	node->seq = wefti_wait_begin(&thread[slot], 0);
	store_relaxed(word, wefti_waitlist_pushed(load_relaxed(word), node, 0));
}

static __attribute__((unused)) int is_woken(uint32_t slot)
{
	return wefti_wait_cause(&thread[slot]) != WEFTI_CAUSE_NONE;
}

/* The time of the first thread's first wait is over, if it waits. */
static __attribute__((unused)) void clock(void)
{
	wefti_unpark(&thread[1], 1, WEFTI_CAUSE_TIMEDOUT);
}

/* The same, for a thread that is sure to wait. */
static __attribute__((unused)) void clock_surely(void)
{
	while (load_relaxed(&thread[1].wait) >> WEFTI_WAIT_SEQ_SHIFT == 0)
		m_yield();
	clock();
}

static void check_nodes(void)
{
	for (uint32_t i = 1; i <= MODEL_THREADS; i++)
		m_check(load_relaxed(&thread[i].node_lent) == WEFTI_NODE_FREE);
}

#endif
