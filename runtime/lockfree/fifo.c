/* SPDX-License-Identifier: MIT */
/*
 * lockfree/fifo.c - an unbounded FIFO for any number of pushers and poppers
 *
 * Structure
 *   A list from head to the last node, linked by next. The first node is the dummy: its
 *   item is gone. tail is the last node or the one before it. Links are index:32 |
 *   tag:32; index names a node of the table, and NIL ends the list.
 *
 * States of a node
 *   SPARE	owned by an item that is in no queue; next is not NIL, or is
 *		from before the node was first used
 *   LAST	in a list, next = NIL
 *   INNER	in a list, next = the following node
 *   DUMMY	LAST or INNER, and head points at it
 *
 *   SPARE --push: link--> LAST --next push: link--> INNER
 *   INNER --pop of the one before--> DUMMY --pop--> SPARE
 *
 * Writers
 *   fifo.head  wefti_fifo_init, wefti_fifo_pop
 *   fifo.tail  tail_advance, wefti_fifo_init
 *   fifo_node.item  node_prepare
 *   fifo_node.next  node_prepare, wefti_fifo_push
 *   wefti_fifo_chunk  chunk_reserve
 *
 * Invariants
 *   I1  The next of a node in a list changes once, NIL -> index. Its tag grows with
 *       that and with every push of the node.
 *   I2  tail is never behind head: a pop moves head only when it has seen tail further
 *       on.
 *   I3  Only the pusher writes a SPARE node, except that a late CAS may try and fail:
 *       SPARE is not NIL, and after the next push the tag is new.
 *
 * Linearization
 *   push: at the CAS that links the node. pop: at the CAS of head. NULL, and a true
 *   is_empty: at the load of next that was NIL, in a node that was still the dummy
 *   afterwards.
 *
 * Progress
 *   All are lock-free, is_empty too. A pusher that stops between its link and its move
 *   of tail delays no other: a thread that meets the old tail moves it.
 *
 * ABA and reclamation
 *   Nodes are type-stable and may serve another queue at any moment. So what is read
 *   through a link means nothing until the link has been seen unchanged after the read:
 *   push reads tail again, pop reads head again, tags included. The value read is then
 *   the node's in this queue. The CAS that follows fails if the node has left since
 *   (I1: its tag; for head and tail: theirs). The limit: a kernel thread that stops
 *   between its second look and its CAS for exactly a multiple of 2^32 pushes of one
 *   node.
 *
 * Pairs
 *   P1  push's link CAS of next	-> the loads of next: node and item
 *   P2  push's first store of next	-> the loads of next: everything that
 *	 led to the node's reuse, so the second look at head or tail differs
 *   P3  every CAS of tail		-> the loads of tail: the node it names
 *   P4  pop's CAS of head		-> the loads of head: the node it names,
 *	 the tail that the popper saw (I2), and that it has read the item
 *   P5  reserve's CAS of a chunk	-> reserve's loads of it: the nodes
 *
 *   P4 is often published wrongly, with an acquire alone. A second popper then takes
 *   head from the first without what the first knew. It may read the next of a node
 *   from before its push, and may find a tail behind head.
 *
 * Source
 *   M. Michael, M. Scott, "Simple, fast, and practical non-blocking and
 *   blocking concurrent queue algorithms", PODC 1996. Here nodes travel with
 *   their items, and the orders are those of C11.
 */
#include "lockfree/fifo.h"

#include <errno.h>

#include "os/call/vm.h"

#define NIL	UINT32_MAX

_Static_assert(WEFTI_FIFO_NODES <= NIL, "NIL is not a node");

_Atomic(struct wefti_fifo_node *) wefti_fifo_chunk[WEFTI_FIFO_CHUNKS] TABLE;

static uint32_t link_index(uint64_t link)
{
	return (uint32_t)(link >> 32);
}

/* A link to `index` that has never been where `old` is. */
static uint64_t link_after(uint64_t old, uint32_t index)
{
	return (uint64_t)index << 32 | (uint32_t)(old + 1);
}

/*
 * NULL -> chunk. Two callers may race; the loser frees its own chunk. Zeros are SPARE
 * nodes: the nodes of threads that are never pushed use no memory.
 */
static int chunk_reserve(uint32_t c)
{
	const size_t bytes = WEFTI_FIFO_CHUNK_NODES *
			     sizeof(struct wefti_fifo_node);
	struct wefti_fifo_node *none = NULL;
	struct wefti_fifo_node *nodes;

	if (load_acquire(&wefti_fifo_chunk[c]) != NULL)	/* P5: the winner's */
		return 0;
	nodes = wefti_os_vm_reserve(bytes);
	if (nodes == NULL)
		return -ENOMEM;
	/* As for stacks: neighbours with the same advice are one mapping. */
	wefti_os_vm_nohugepage(nodes, bytes);

	/* P5: the nodes; acquire, as the loser will use the winner's nodes */
	if (!cas_acq_rel(&wefti_fifo_chunk[c], &none, nodes)) {
		wefti_os_vm_unmap(nodes, bytes);
		(void)load_acquire(&wefti_fifo_chunk[c]);	/* P5 */
	}
	return 0;
}

int wefti_fifo_reserve(uint32_t upto_index)
{
	if (upto_index >= WEFTI_FIFO_NODES)
		return -ENOMEM;

	/* Downwards: usually the first look finds that all are there. */
	for (uint32_t c = upto_index / WEFTI_FIFO_CHUNK_NODES + 1; c-- > 0;) {
		int err = chunk_reserve(c);

		if (err != 0)
			return err;
	}
	return 0;
}

/* SPARE -> LAST, except for the link to it. */
static void node_prepare(struct wefti_fifo_node *n, void *item)
{
	/* Ours alone (I3); the tag is one that late CASes do not expect. */
	uint64_t old = load_relaxed(&n->next);

	store_relaxed(&n->item, item);
	store_release(&n->next, link_after(old, NIL));	/* P2 */
}

int wefti_fifo_init(struct wefti_fifo *q, uint32_t dummy)
{
	node_prepare(wefti_fifo_node(dummy), NULL);
	store_relaxed(&q->head, link_after(0, dummy));
	store_relaxed(&q->tail, link_after(0, dummy));
	return 0;
}

uint32_t wefti_fifo_fini(struct wefti_fifo *q)
{
	return link_index(load_relaxed(&q->head));	/* no other thread uses it */
}

/* tail is the dummy or an INNER node: moves it on by one, unless another thread did. */
static void tail_advance(struct wefti_fifo *q, uint64_t tail, uint64_t next)
{
	/* P3: the node, known by P1. A failure is another thread's success. */
	cas_release(&q->tail, &tail, link_after(tail, link_index(next)));
}

void wefti_fifo_push(struct wefti_fifo *q, uint32_t node, void *item)
{
	node_prepare(wefti_fifo_node(node), item);
	for (;;) {
		uint64_t tail = load_acquire(&q->tail);		/* P3 */
		struct wefti_fifo_node *last =
			wefti_fifo_node(link_index(tail));
		uint64_t next = load_acquire(&last->next);	/* P1, P2 */

		/* By P2, a next from a later life of the node is detected. */
		if (load_relaxed(&q->tail) != tail)
			continue;
		if (link_index(next) != NIL) {
			tail_advance(q, tail, next);
			continue;
		}

		/* LAST -> INNER. P1: node and item */
		if (cas_weak_release(&last->next, &next,
				     link_after(next, node))) {
			tail_advance(q, tail, (uint64_t)node << 32);
			return;
		}
	}
}

void *wefti_fifo_pop(struct wefti_fifo *q, uint32_t *spare)
{
	for (;;) {
		uint64_t head = load_acquire(&q->head);		/* P4 */
		uint64_t tail = load_acquire(&q->tail);		/* P3 */
		struct wefti_fifo_node *dummy =
			wefti_fifo_node(link_index(head));
		uint64_t next = load_acquire(&dummy->next);	/* P1, P2 */

		/* By P2, a next from a later life of the node is detected. */
		if (load_relaxed(&q->head) != head)
			continue;
		if (link_index(next) == NIL)
			return NULL;
		if (link_index(head) == link_index(tail)) {
			tail_advance(q, tail, next);
			continue;
		}

		/*
		 * Read before the CAS: afterwards the node may be popped and
		 * pushed with another item. relaxed: written before P1.
		 */
		void *item = load_relaxed(
			&wefti_fifo_node(link_index(next))->item);

		/* DUMMY -> SPARE, INNER or LAST -> DUMMY. P4 */
		if (cas_weak_release(&q->head, &head,
				     link_after(head, link_index(next)))) {
			*spare = link_index(head);
			return item;
		}
	}
}

int wefti_fifo_is_empty(const struct wefti_fifo *q)
{
	for (;;) {
		uint64_t head = load_acquire(&q->head);		/* P4 */
		uint64_t next = load_acquire(			/* P1, P2 */
			&wefti_fifo_node(link_index(head))->next);

		if (load_relaxed(&q->head) == head)
			return link_index(next) == NIL;
	}
}
