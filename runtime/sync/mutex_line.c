/* SPDX-License-Identifier: MIT */
/*
 * sync/mutex_line.c - the line in front of a mutex, and its sweeping
 *
 * Structure
 *   The upper part of the mutex's word, top, is the slot of the newest node of a stack
 *   of arrivals. While a node is in the stack, node->data is the link to the next older
 *   node, with a version; after that, data is the stamp.
 *   A thread whose wait timed out leaves its node behind. If the mutex is unlocked now
 *   and then, owners drop such nodes. While the mutex is held, threads that time out
 *   sweep the stack, one of them at a time:
 *   left        nodes left behind since the last sweep; a hint
 *   sweep_at    how many of them call for a sweep; BUSY while there is a sweeper
 *
 * States of the stack (SWEEP in the word)
 *   PLAIN    SWEEP clear: links change only by the pushes of their nodes' owners
 *   SWEPT    SWEEP set: the sweeper takes GONE nodes out
 *
 *   PLAIN --sweeper--> SWEPT --sweeper--> PLAIN
 *   PLAIN, SWEPT --the mutex's owner takes it whole--> PLAIN
 *
 * Writers
 *   mutex.left  wefti_line_leave
 *   mutex.sweep_at  wefti_line_leave, wefti_line_after_fork
 *   node.data  pop_below, wefti_line_pushed, wefti_line_reverse;
 *       park.h: wefti_unpark_sole; sync/barrier.c: complete;
 *       sync/cond.c: signal_some; waitlist.h: wefti_waitlist_pushed
 *
 * Invariants
 *   I1  Nodes enter at the top. They leave one by one through the sweeper, or
 *       all at once with the owner.
 *   I2  At most one thread is the sweeper: the one that changed sweep_at to BUSY. It
 *       alone sets SWEEP. So while it finds SWEEP set, no owner has taken the stack
 *       since it began.
 *   I3  A link that the sweeper read before it found SWEEP set belongs to a node that
 *       was in this stack then. Data that is no link belongs to a node that was taken
 *       out. No order makes the sweeper see SWEEP clear in that case.
 *   I4  A node gets a new version with each push, and data that is no link when it is
 *       taken. If the stack was SWEPT, that is done by an exchange. So either the
 *       sweeper's CAS of a link comes first, and the owner never meets the node that it
 *       took out; or that CAS fails. A node that was taken out is the sweeper's alone.
 *   I5  Every node of the stack has been given back, except those of threads that wait
 *       and those left since the last sweep ended. A sweep is called for when as many
 *       nodes have been left as were waiting at the last sweep, and a few more. So
 *       memory is bounded by the number of threads, however long the mutex is held, and
 *       the walks cost a constant for each time-out.
 *
 * Linearization
 *   Take: at its CAS of the word. A node is out at the sweeper's CAS of the link above
 *   it, or of the word if the node is the top.
 *
 * Progress
 *   No thread waits for the sweeper. The owner may take the stack while the sweeper
 *   works; and while the sweeper is stopped, only nodes that timed out stay where they
 *   are. Take and leave are lock-free: the sweeper begins again at the top only when
 *   another thread has pushed, and gives up when an owner has taken the stack.
 *
 * ABA and reclamation
 *   Nodes are in type-stable structs. A top that comes again while SWEEP is set has not
 *   left the stack: the node is GONE, and only the sweeper drops it. A link that comes
 *   again would need 2^39 waits of one thread, or loans of one spare struct, while a
 *   sweeper is stopped. We accept that.
 *
 * Pairs
 *   P1  push (of mutex.c: P2), the sweeper's end -> take, the sweeper's look at the
 *       top: the nodes and links of everything that is in the stack then
 *   P2  push's link -> the sweeper reads it: if it was pushed after the stack was
 *       taken, the look at SWEEP that follows shows that
 *   P3  sweep_at by the last sweeper -> sweep_at's CAS by the next one
 *   Model: tests/model/loom/c/line.c, and mutex.c
 *
 * Source
 *   T. Harris, "A pragmatic implementation of non-blocking linked-lists", 2001, for the
 *   removal of a marked node from the middle of a list. With one sweeper, a node below
 *   which another is taken out is never being taken out itself, so links need no mark.
 *   Rejected: that the sweeper takes the whole stack and puts back the nodes that still
 *   wait. A sweeper that is stopped then would stop the mutex. Rejected too: to leave
 *   the duty of unlock with the sweeper.
 */
#include "sync/mutex_line.h"

#include "os/call/copy.h"

#define BUSY		UINT32_MAX
#define LEFT_LEAST	16

static struct wefti_node *node_at(uint32_t slot)
{
	return slot ? &wefti_slot_get(slot)->node : NULL;
}

struct wefti_node *wefti_line_take(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	while (!cas_weak_acquire(&m->word, &w,	/* P1; of mutex.c: P2 */
				 w & WEFTI_MUTEX_FLAGS & ~WEFTI_MUTEX_SWEEP))
		;
	if (unlikely(w & WEFTI_MUTEX_SWEEP))
		return wefti_line_reverse(wefti_line_top(w), 1, 1);
	if (m->policy == WEFT_MUTEX_STRICT)
		return wefti_line_reverse(wefti_line_top(w), 0, 0);
	return wefti_line_reverse(wefti_line_top(w), 0, 1);
}

/* PLAIN -> SWEPT. Returns 0 if there is nothing to sweep. */
static int begin_sweep(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	while (wefti_line_top(w))
		if (cas_weak_relaxed(&m->word, &w, w | WEFTI_MUTEX_SWEEP))
			return 1;
	return 0;
}

/*
 * Takes out the top; it is GONE, and its link is known. Returns 0 if it is not the top
 * any more, or if the stack was taken.
 */
static int pop_top(struct wefti_mutex *m, uint32_t slot, uint64_t link)
{
	uint64_t w = load_relaxed(&m->word);

	while ((w & WEFTI_MUTEX_SWEEP) && wefti_line_top(w) == slot)
		if (cas_weak_relaxed(&m->word, &w, (w & WEFTI_MUTEX_FLAGS) |
			(uint64_t)wefti_line_older(link) << WEFTI_MUTEX_TOP_SHIFT))
			return 1;
	return 0;
}

/* The same for a node below `above`; *link_above is above's link. */
static int pop_below(struct wefti_node *above, uint64_t *link_above,
		     uint64_t link)
{
	uint64_t to = (*link_above & ~WEFTI_LINK_SLOT) | wefti_line_older(link);

	if (!cas_relaxed(&above->data, link_above, to))
		return 0;
	*link_above = to;
	return 1;
}

/* One walk. Returns how many of the nodes that it met still wait. */
static uint32_t walk(struct wefti_mutex *m)
{
	struct wefti_node *above = NULL, *node;
	uint64_t link_above = 0;
	uint32_t slot = wefti_line_top(load_acquire(&m->word)), waiting = 0;	/* P1 */

	while ((node = node_at(slot))) {
		uint64_t link = load_acquire(&node->data);	/* P2 */
		int gone = wefti_node_state(node) == WEFTI_NODE_GONE;

		if (!(link & WEFTI_LINK) ||
		    !(load_relaxed(&m->word) & WEFTI_MUTEX_SWEEP))
			break;					/* I3 */
		if (!gone) {
			above = node;
			link_above = link;
			waiting++;
		} else if (above ? pop_below(above, &link_above, link) :
				   pop_top(m, slot, link)) {
			wefti_node_drop(node);
		} else {
			slot = wefti_line_top(load_acquire(&m->word));	/* P1 */
			above = NULL;
			waiting = 0;
			continue;
		}
		slot = wefti_line_older(link);
	}
	return waiting;
}

static void note(struct wefti_mutex *m)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->cold)
		self->cold->sweeps = m;
}

/* In the child of a fork, where the sweeper does not exist: SWEPT -> PLAIN. */
void wefti_line_after_fork(void *sweeps)
{
	struct wefti_mutex *m = sweeps;
	uint32_t at = 0;

	(void)wefti_os_copy(&at, &m->sweep_at, sizeof(at));
	if (at != BUSY)
		return;
	fetch_and_release(&m->word, ~WEFTI_MUTEX_SWEEP);	/* P1 */
	store_release(&m->sweep_at, LEFT_LEAST);		/* P3 */
}

void wefti_line_leave(struct wefti_mutex *m, struct wefti_node *node)
{
	uint32_t left, at;

	if (wefti_node_leave(node) != WEFTI_NODE_LENT)
		return;		/* an owner had met it */
	left = fetch_add_relaxed(&m->left, 1) + 1;
	at = load_relaxed(&m->sweep_at);
	if (left < at || at == BUSY ||
	    !cas_acquire(&m->sweep_at, &at, BUSY))	/* P3 */
		return;
	note(m);
	store_relaxed(&m->left, 0);
	at = LEFT_LEAST;
	if (begin_sweep(m)) {
		at += walk(m);
		/* SWEPT -> PLAIN, unless it is PLAIN already */
		fetch_and_release(&m->word, ~WEFTI_MUTEX_SWEEP);	/* P1 */
	}
	store_release(&m->sweep_at, at);	/* P3 */
	note(NULL);
}
