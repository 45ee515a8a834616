/* SPDX-License-Identifier: MIT */
/*
 * line.c - scenarios: sync/mutex_line.c alone; a thread that timed out sweeps,
 * beside the owner or an arrival
 *
 * The mutex is locked throughout. The line, with the nodes that timed out, is
 * made before the threads begin. So few steps are left, and all their orders
 * are tried. The owner's part is one thread, which has every order that its
 * steps can have.
 */
#include "model.h"

#include <stdalign.h>

#include "sched/park.h"
#include "sync/mutex_line.h"

#define NODES	3
#define STAMP	(NODES + 2)	/* no slot: a stamp is no link */

struct wefti_runtime wefti_rt;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_dense wefti_slots;

static alignas(128) struct wefti_thread thread[1 + NODES];	/* by slot */
static struct wefti_mutex mutex;

struct wefti_thread *model_self(void)
{
	return &thread[0];
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	(void)t;
	(void)seq;
	(void)cause;
	m_fail("nobody has asked");
	return 0;
}

static void arrive(uint32_t slot)
{
	struct wefti_thread *t = &thread[slot];
	uint64_t w = load_relaxed(&mutex.word);

	wefti_node_lend(t);
	store_relaxed(&t->wait, load_relaxed(&t->wait) +
		      (UINT64_C(1) << WEFTI_WAIT_SEQ_SHIFT));
	while (!cas_weak_release(&mutex.word, &w,
				 wefti_line_pushed(w, &t->node)))
		;
}

static void init_all(void)
{
	store_relaxed(&mutex.word, WEFTI_MUTEX_LOCKED);
	store_relaxed(&mutex.left, 0);
	store_relaxed(&mutex.sweep_at, 0);
	mutex.policy = WEFT_MUTEX_ADAPTIVE;
	m_data_write(&mutex.list);
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	for (uint32_t i = 1; i <= NODES; i++) {
		thread[i].slot = i;
		thread[i].node.stamp = STAMP;
		thread[i].node.next = NULL;
		store_relaxed(&thread[i].node.data, (uint64_t)0);
		store_relaxed(&thread[i].wait, (uint64_t)0);
		store_relaxed(&thread[i].node_lent, 0);
	}
}

/* Node 1 is that of the sweeper, in all. */
static void leave(void)
{
	wefti_line_leave(&mutex, &thread[1].node);
}

/* Alone in the line. */
static void init_one(void)
{
	init_all();
	arrive(1);
}

static void arrive_2(void)
{
	arrive(2);
}

/* An undisturbed sweep takes out the node that has left. */
static void check_one(void)
{
	m_check(load_relaxed(&thread[1].node_lent) == WEFTI_NODE_FREE);
	m_check(wefti_line_top(load_relaxed(&mutex.word)) == 2);
	m_check(wefti_line_older(load_relaxed(&thread[2].node.data)) == 0);
	m_check(load_relaxed(&thread[2].node_lent) == WEFTI_NODE_LENT);
}

/* 3 has left as well; 2 waits. */
static void init_three(void)
{
	init_all();
	arrive(3);
	store_relaxed(&thread[3].node_lent, (uint8_t)WEFTI_NODE_GONE);
	arrive(1);
	arrive(2);
}

static void let_out(uint32_t slot)
{
	wefti_node_let_out(&thread[slot].node, WEFTI_NODE_OUT);
}

/* The owner takes the line, and the nodes 3 and 2 wait in it once more. */
static void take_twice(void)
{
	int met = 0;

	for (struct wefti_node *n = wefti_line_take(&mutex), *next; n; n = next) {
		next = n->next;
		if (n == &thread[2].node)
			wefti_node_drop(n);
		else
			let_out(wefti_node_home(n)->slot);
	}
	if (!wefti_node_is_free(&thread[3]))
		return;		/* the sweeper is about to drop it */
	arrive(3);
	arrive(2);
	for (struct wefti_node *n = wefti_line_take(&mutex); n; n = n->next) {
		met++;
		wefti_node_drop(n);
	}
	m_check(met == 2);
}

static void check_free(void)
{
	m_check(load_relaxed(&mutex.word) == WEFTI_MUTEX_LOCKED);
	for (uint32_t i = 1; i <= NODES; i++)
		m_check(load_relaxed(&thread[i].node_lent) == WEFTI_NODE_FREE);
}

/* 1 and 2 leave, 3 waits, on top. */
static void init_two(void)
{
	init_all();
	arrive(2);
	arrive(1);
	arrive(3);
}

static void leave_2(void)
{
	wefti_line_leave(&mutex, &thread[2].node);
}

/*
 * A node that left while another thread swept stays in the line, for the owner.
 */
static void check_two(void)
{
	for (struct wefti_node *n = wefti_line_take(&mutex); n; n = n->next)
		if (n == &thread[3].node)
			wefti_node_drop(n);
		else
			let_out(wefti_node_home(n)->slot);
	m_check(load_relaxed(&mutex.sweep_at) != UINT32_MAX);
	check_free();
}

SCENARIO(line_pushed) = { init_one, { leave, arrive_2 }, check_one };
SCENARIO(line_taken) = { init_three, { leave, take_twice }, check_free };
SCENARIO(line_two) = { init_two, { leave, leave_2 }, check_two };
