/* SPDX-License-Identifier: MIT */
/*
 * io/side.c - who waits for one direction of a descriptor
 *
 * Structure
 *   edges  how often the direction became ready, as the kernel told; it wraps
 *   list   a wait list (sync/waitlist.c). While threads wait, count is of wakes
 *          left to the server; FREE, it is 0. First in it are the waiters of
 *          mode ALL, then those of mode ONE, the oldest first.
 *
 *   A thread reads edges, tries its call, is told EAGAIN, queues itself, and
 *   looks at edges again: if they have changed it tries again. So an edge is
 *   seen by who waits and by who was about to.
 *
 *   An edge wakes all waiters of mode ALL and one of mode ONE, so that a
 *   connection does not wake everybody who accepts. Who was woken in mode ONE
 *   has a duty: when its call is done, whatever the result, it wakes the next;
 *   when its call says EAGAIN the duty is done too, as that would have been
 *   the next one's answer. That holds for who reads or accepts; it does not for
 *   who waits for urgent data, or for room for a record in a pipe: mode ALL.
 *
 * Invariants
 *   I1  An edge after which a thread parks here that had tried before it finds
 *       that thread in the list, or is found by it.
 *   I2  While a thread of mode ONE is in the list and the descriptor is ready
 *       for it, a wake is under way: an event not handled yet, a count left to
 *       the server, or a thread that was woken and has not done.
 *   I3  A node is let out before its thread is woken, so that its thread finds
 *       it OUT whoever ended the wait, this side or another. A thread can wait
 *       at several sides with one ticket.
 *
 * Linearization
 *   post: at its add to edges for who is not queued; at the CAS that takes a
 *   waiter, becomes the server or leaves the request for who is. join: at the
 *   CAS that pushes.
 *
 * Progress
 *   Lock-free; see waitlist.c.
 *
 * ABA and reclamation
 *   Sides lie in the table of descriptors and live for ever. Nodes: waitlist.c.
 *   An edge is missed when edges wraps exactly once while a thread tries.
 *
 * Pairs
 *   P1  post: edges + 1; fence; load the list's word.
 *       join: push; fence; load edges. One of the two sees the other.
 *   P2  of waitlist.c (P1 and P2 there): a push, a request -> who takes it
 *
 * Source
 *   The counter is D. Reed's and R. Kanodia's eventcount (CACM 1979); the two
 *   modes are those of Linux's wait queues. Rejected: a "ready" bit that the
 *   next one takes, as in Go's netpoll. It makes every call that parks after
 *   an edge that nobody waited for try twice, and is no use to two threads that
 *   wait for different things on the same side.
 */
#include "io/side.h"

#include "sched/park.h"

/* Wakes node's thread, if its wait is this one still. The node is let out. */
static int tell(struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;
	uint64_t seq = node->seq;

	wefti_node_let_out(node, WEFTI_NODE_OUT);	/* I3 */
	return wefti_unpark(t, seq, WEFTI_CAUSE_WOKEN);
}

static int is_one(const struct wefti_node *node)
{
	return (uint32_t)node->data == WEFTI_SIDE_ONE;
}

static void tell_first(struct wefti_service *s, uint32_t wakes)
{
	struct wefti_node *node;
	int told = !wakes;

	while (!told && (node = wefti_waitlist_pop(s))) {
		int one = is_one(node);

		told = tell(node) && one;
	}
}

static void arrive(struct wefti_service *s, struct wefti_node *node)
{
	if (is_one(node))
		wefti_waitlist_append(s, node);
	else
		wefti_waitlist_prepend(s, node);
}

static uint64_t rest(struct wefti_service *s)
{
	(void)s;
	return 0;
}

/* Nobody is woken later: the side outlives every waiter. */
static const struct wefti_waitlist_ops ops = {
	.arrive = arrive, .request = tell_first, .rest = rest,
};

void wefti_side_wake(struct wefti_side *side)
{
	struct wefti_waitlist *list = &side->list;
	uint64_t w = load_seq_cst(&list->word);

	while (w & WEFTI_LIST_QUEUED) {
		uint64_t was = w;

		if (wefti_waitlist_is_single(was)) {
			if (!cas_weak_acq_rel(&list->word, &w, 0)) /* P2 */
				continue;
			if (tell(wefti_waitlist_top(was)))
				return;
			w = load_seq_cst(&list->word);
		} else if (!(was & WEFTI_LIST_BUSY)) {
			if (!cas_weak_acq_rel(&list->word, &w,	/* P2 */
					      wefti_waitlist_taken(was)))
				continue;
			wefti_waitlist_serve(list, was + WEFTI_LIST_ONE, &ops);
			return;
		} else if (wefti_waitlist_count(was) > 0 ||
			   cas_weak_release(&list->word, &w,	/* P2 */
					    was + WEFTI_LIST_ONE)) {
			return;		/* the server will; wakes merge */
		}
	}
}

void wefti_side_post(struct wefti_side *side)
{
	fetch_add_seq_cst(&side->edges, 1);
	fence_seq_cst_after_rmw();	/* P1 */
	wefti_side_wake(side);
}

void wefti_side_join(struct wefti_side *side, struct wefti_node *node,
		     struct wefti_thread *self, uint64_t seq, uint32_t edges,
		     enum wefti_side_mode mode)
{
	struct wefti_waitlist *list = &side->list;
	uint64_t w = load_relaxed(&list->word);

	node->thread = self;
	node->seq = seq;
	while (!cas_weak_release(&list->word, &w,	/* P2 */
				 wefti_waitlist_pushed(w, node, mode)))
		;
	fence_seq_cst_after_rmw();	/* P1 */
	if (load_seq_cst(&side->edges) != edges)
		wefti_wait_resolve(self, seq, WEFTI_CAUSE_WOKEN);
}

void wefti_side_part(struct wefti_side *side, struct wefti_node *node,
		     struct wefti_thread *self)
{
	wefti_waitlist_withdraw(&side->list, node, self, &ops);
}
