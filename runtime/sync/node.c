/* SPDX-License-Identifier: MIT */
/*
 * sync/node.c - a waiter's place in a queue
 *
 * Structure
 *   node_lent  one byte in each thread's struct: the state of the node in that struct
 *   spares     structs without a thread, for threads whose own node is still lent
 *
 * States: sync/node.h.
 *
 * Writers
 *   thread.node_lent  wefti_node_ask, wefti_node_drop_spare,
 *       wefti_node_get_spare, wefti_node_leave, wefti_node_lend,
 *       wefti_node_let_out, wefti_node_take_back
 *
 * Invariants
 *   I1  A node is in one queue at most, and in none unless it is LENT, GONE or ASKED.
 *   I2  Only the node's thread makes it LENT, GONE or ASKED. Only the queue makes it OUT
 *       or COUNTED, once for each loan.
 *   I3  A node is dropped once for each loan. The thread drops it if it finds the node
 *       out, or if it knows that no other thread will meet it. let_out drops it if it
 *       finds GONE.
 *   I4  A node is used again only after it was dropped (P1). So the queue's last look at
 *       a node comes before the first store of the next loan.
 *
 * Linearization
 *   leave, let_out: at the exchange. The second of the two sees what the first has
 *   stored, and drops the node. ask: at its CAS; a CAS that fails has seen how the node
 *   was let out.
 *
 * Progress
 *   Wait-free, but for get: without a spare struct it allocates one. It passes over a
 *   struct in which an ended thread has left a node that is lent. A thread that is stopped
 *   between its leave and its drop keeps one spare struct from others, and delays none.
 *
 * ABA and reclamation
 *   Nodes lie in thread structs, which are type-stable. A queue that names nodes by slot
 *   numbers says how it tells two loans apart (sync/mutex_line.c, sync/waitlist.c); a
 *   spare struct counts its loans in `wait` for that.
 *
 * Pairs
 *   P1  drop clears node_lent -> get reads it: the dropping thread has done with it
 *   P2  let_out's exchange -> its thread reads or exchanges node_lent: the queue has
 *       done with the node
 *   P3  leave's exchange, ask's  ->  let_out's: the thread has done with the node, or
 *       has begun to wait for it
 *   Model: tests/model/loom/c/node.c, and barrier.c for ask.
 *
 * Source
 *   Ours. MCS-TP (He, Scherer, Scott, "Preemption Adaptivity in Time-Published
 *   Queue-Based Spin Locks", HiPC 2005) also leaves a node in the queue after a time-out,
 *   until an owner meets it.
 */
#include "sync/node.h"

#include "lockfree/depot.h"
#include "sched/park.h"
#include "thread/bare.h"

/* Spare structs whose nodes are not lent. They stay spare. */
static struct wefti_depot spares;

static _Atomic uint32_t *next_of(uint32_t slot)
{
	return &wefti_slot_get(slot)->depot_next;
}

/*
 * Returns a struct for the depot. A thread that has ended may have left its node in a
 * queue; such a struct is of no use here.
 */
static COLD struct wefti_thread *make_spare(void)
{
	struct wefti_thread *aside = NULL, *t;

	while ((t = wefti_thread_bare(WEFTI_KIND_FREE, NULL)) &&
	       load_acquire(&t->node_lent) != WEFTI_NODE_FREE) {	/* P1 */
		t->result = aside;
		aside = t;
	}
	while (aside) {
		struct wefti_thread *next = aside->result;

		wefti_thread_bare_free(aside);
		aside = next;
	}
	return t;
}

COLD struct wefti_node *wefti_node_get_spare(struct wefti_thread *self)
{
	uint32_t slot = wefti_depot_pop(&spares, next_of);
	struct wefti_thread *home = slot == WEFTI_DEPOT_NONE ?
				    make_spare() : wefti_slot_get(slot);

	if (!home)
		return NULL;
	store_relaxed(&home->node_lent, (uint8_t)WEFTI_NODE_LENT);
	/* In a spare struct this counts its loans. */
	store_relaxed(&home->wait, load_relaxed(&home->wait) +
		      (UINT64_C(1) << WEFTI_WAIT_SEQ_SHIFT));
	home->node.thread = self;
	return &home->node;
}

COLD void wefti_node_drop_spare(struct wefti_node *node)
{
	struct wefti_thread *home = wefti_node_home(node);

	store_release(&home->node_lent, (uint8_t)WEFTI_NODE_FREE);	/* P1 */
	wefti_depot_push(&spares, home->slot, &home->depot_next);
}

void wefti_node_let_out(struct wefti_node *node, enum wefti_node_state how)
{
	struct wefti_thread *t = node->thread;
	uint8_t was = xchg_acq_rel(&wefti_node_home(node)->node_lent,
				   (uint8_t)how);	/* P2, P3 */

	if (was == WEFTI_NODE_GONE)
		wefti_node_drop(node);
	else if (was == WEFTI_NODE_ASKED)	/* only we end this wait */
		wefti_unpark(t, load_relaxed(&t->wait) >> WEFTI_WAIT_SEQ_SHIFT,
			     WEFTI_CAUSE_WOKEN);
}

enum wefti_node_state wefti_node_ask(struct wefti_node *node)
{
	_Atomic uint8_t *lent = &wefti_node_home(node)->node_lent;
	uint8_t was = WEFTI_NODE_LENT;

	if (cas_acq_rel(lent, &was, (uint8_t)WEFTI_NODE_ASKED))	/* P2, P3 */
		return WEFTI_NODE_LENT;
	return wefti_node_state(node);
}

enum wefti_node_state wefti_node_leave(struct wefti_node *node)
{
	enum wefti_node_state was = (enum wefti_node_state)
		xchg_acq_rel(&wefti_node_home(node)->node_lent,	/* P2, P3 */
			     (uint8_t)WEFTI_NODE_GONE);

	if (was != WEFTI_NODE_LENT)
		wefti_node_drop(node);
	return was;
}
