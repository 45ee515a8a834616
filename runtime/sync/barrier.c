/* SPDX-License-Identifier: MIT */
/*
 * sync/barrier.c - waits until a number of threads has arrived
 *
 * Structure
 *   A wait list (sync/waitlist.c), FREE only as 0.
 *   WAITING   count is the number of threads that have arrived; all of them wait
 *   SERVED    a thread that arrives now is counted by the server, which finds its node
 *
 *   To arrive takes one RMW to queue and one to commit the park. The last thread makes
 *   one to be the server, one to leave, and one for each waiter with a deadline.
 *
 * Invariants
 *   I1  WAITING: count is the length of list and stack together, and less than the
 *       number that the barrier needs.
 *   I2  The server decides whether a thread that timed out has arrived: it either finds
 *       the thread's node in a full round, or sweeps the node out before. The thread
 *       itself returns only after that decision. If another thread is the server, it
 *       asks and parks.
 *   I3  After the CAS that leaves, the server of a full round does not touch the
 *       barrier. Neither does any thread of the round, except those that timed out. So
 *       without deadlines the barrier may be freed when one thread has returned; with
 *       deadlines, when those threads have returned as well.
 *
 * Linearization
 *   A round: at the CAS of the last thread to arrive, or of the server that finds its
 *   node. A withdrawal: when the server sweeps the node out.
 *
 * Progress
 *   Lock-free; see waitlist.c. A kernel thread that is stopped as the server delays the
 *   waiting threads. There is a server only while a thread withdraws, or when the last
 *   has arrived.
 *
 * ABA and reclamation
 *   See waitlist.c.
 *
 * Pairs
 *   P1  of waitlist.c (P1, P2 there): a push -> the CAS that takes it. From there it is
 *       thread/wait.h's P2 to the threads that are woken, and node.c's P2 to those that
 *       were counted although they had timed out
 *   Model: tests/model/loom/c/barrier.c.
 *
 * Source
 *   The central counter barrier, without sense reversal: each round has its own
 *   waiters.
 */
#include "weft/barrier.h"

#include <errno.h>

#include "sched/park.h"
#include "sched/ready.h"
#include "sync/waitlist.h"

#define COUNT_MAX	(1u << 20)

#define IS_SERIAL	WEFTI_NODE_IS_SERIAL
#define IS_COUNTED	WEFTI_NODE_IS_COUNTED

struct wefti_barrier {
	struct wefti_waitlist list;
	uint32_t needed;	/* 0: never made */
	uint32_t unused;
};

_Static_assert(sizeof(struct wefti_barrier) <= sizeof(struct weft_barrier),
	       "it fits into the public struct");

static struct wefti_barrier *barrier_of(struct weft_barrier *barrier)
{
	return (struct wefti_barrier *)(void *)barrier;
}

static struct wefti_barrier *served(struct wefti_service *s)
{
	return container_of(s->list, struct wefti_barrier, list);
}

/*
 * Releases all that have arrived. serial: the first of them gets it, unless the last
 * thread to arrive has it.
 */
static void complete(struct wefti_service *s, uint64_t serial)
{
	struct wefti_node *node;

	while ((node = wefti_waitlist_pop(s))) {
		int kept = wefti_waitlist_keep(s, node);

		store_relaxed(&node->data, kept ? serial : serial | IS_COUNTED);
		serial = 0;
		if (!kept)
			wefti_waitlist_wake_later(s, node);	/* I3 */
	}
}

static void arrive(struct wefti_service *s, struct wefti_node *node)
{
	wefti_waitlist_append(s, node);
	if (s->list->length == served(s)->needed)
		complete(s, IS_SERIAL);
}

/* The server itself arrived last, and needs no node. */
static void last_came(struct wefti_service *s, uint32_t how_many)
{
	if (how_many)
		complete(s, 0);
}

static uint64_t rest(struct wefti_service *s)
{
	return s->list->length * WEFTI_LIST_ONE;
}

static void wake(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	(void)s;
	if (load_relaxed(&node->data) & IS_COUNTED)
		wefti_node_let_out(node, WEFTI_NODE_COUNTED);
	else if (wefti_wait_finish(t, WEFTI_CAUSE_HANDED))
		wefti_ready(t);
}

static const struct wefti_waitlist_ops ops = {
	.arrive = arrive, .request = last_came, .rest = rest, .wake = wake,
};

static int is_last(const struct wefti_barrier *b, uint64_t w)
{
	return !(w & WEFTI_LIST_BUSY) &&
	       wefti_waitlist_count(w) + 1 == b->needed;
}

/* As the last thread: takes all that wait, and returns 1. */
static int come_last(struct wefti_barrier *b)
{
	uint64_t w = load_relaxed(&b->list.word);

	while (is_last(b, w)) {
		if (!cas_weak_acquire(&b->list.word, &w,	/* P1 */
				      wefti_waitlist_taken(w)))
			continue;
		wefti_waitlist_serve(&b->list, (w & ~WEFTI_LIST_COUNT) |
				     WEFTI_LIST_ONE, &ops);
		return 1;
	}
	return 0;
}

/* Returns 0 if the caller is the last by now: then it is not queued. */
static int queue(struct wefti_barrier *b, struct wefti_node *node)
{
	uint64_t w = load_relaxed(&b->list.word);

	while (!is_last(b, w)) {
		uint64_t count = w & WEFTI_LIST_COUNT;
		uint64_t pushed = wefti_waitlist_pushed(w ^ count, node, 0);

		if (!(w & WEFTI_LIST_BUSY))
			pushed |= count + WEFTI_LIST_ONE;
		if (cas_weak_release(&b->list.word, &w, pushed))	/* P1 */
			return 1;
	}
	return 0;
}

/* The thread timed out. Returns 0 or SERIAL if it had arrived, else -ETIMEDOUT. */
static int decide(struct wefti_barrier *b, struct wefti_thread *self,
		  struct wefti_node *node)
{
	enum wefti_node_state how =
		wefti_waitlist_take_back(&b->list, node, self, &ops);
	int serial = (load_relaxed(&node->data) & IS_SERIAL) != 0;

	wefti_node_drop(node);
	if (how != WEFTI_NODE_COUNTED)
		return -ETIMEDOUT;
	return serial ? WEFT_BARRIER_SERIAL : 0;
}

static int wait_inside(struct wefti_barrier *b, struct wefti_thread *self,
		       int64_t deadline)
{
	uint64_t flags = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;
	struct wefti_node *node = NULL;
	int queued = 0, serial;

	while (!queued) {
		if (come_last(b))
			return WEFT_BARRIER_SERIAL;
		if (deadline == WEFT_NO_WAIT)
			return -EAGAIN;
		node = wefti_node_get(self);
		if (!node)
			return -ENOMEM;
		node->seq = wefti_park_begin(self, flags, WEFTI_WHY_BARRIER, b);
		queued = queue(b, node);
		if (!queued) {
			wefti_park_end(self);
			wefti_node_drop(node);
		}
	}
	if (wefti_park(self, deadline) != WEFTI_CAUSE_HANDED)
		return decide(b, self, node);
	serial = (load_relaxed(&node->data) & IS_SERIAL) != 0;
	wefti_node_drop(node);
	return serial ? WEFT_BARRIER_SERIAL : 0;
}

int weft_barrier_wait_until(struct weft_barrier *barrier, int64_t deadline)
{
	struct wefti_barrier *b = barrier_of(barrier);
	struct wefti_thread *self;
	int result;

	if (b->needed == 0)
		return -EINVAL;
	self = wefti_enter();
	result = wait_inside(b, self, deadline);
	wefti_leave(self);
	return result;
}

int weft_barrier_wait(struct weft_barrier *barrier)
{
	return weft_barrier_wait_until(barrier, WEFT_FOREVER);
}

int weft_barrier_init(struct weft_barrier *barrier, unsigned count)
{
	if (count == 0 || count > COUNT_MAX)
		return -EINVAL;
	*barrier = (struct weft_barrier){ { 0 } };
	barrier_of(barrier)->needed = count;
	return 0;
}

int weft_barrier_destroy(struct weft_barrier *barrier)
{
	uint64_t w = load_acquire(&barrier_of(barrier)->list.word);	/* P1 */

	return w & WEFTI_LIST_QUEUED ? -EBUSY : 0;
}
