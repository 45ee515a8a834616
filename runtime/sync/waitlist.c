/* SPDX-License-Identifier: MIT */
/*
 * sync/waitlist.c - the threads that wait for an object, and the server that wakes them
 *
 * Structure
 *   word   count:31 | top:24 | OWN:4 | DIRTY | MANY | QUEUED | BUSY
 *          top is the slot of the newest node of a stack of arrivals. count is the
 *          number of requests that are not done yet and are newer than top. A push
 *          moves count to its node: stack and counts together are the history since
 *          the server last looked, in order.
 *   list   waiters taken from the stack, oldest first: head, tail, length, and the
 *          links. All of it belongs to the server, the thread that set BUSY. A thread
 *          that finds BUSY set pushes its node, or adds to count, and is done; no
 *          thread waits for the server.
 *   stale  how many have timed out since the last sweep and became the server to report
 *          it. When they may be more than half of the list, the list is swept. A thread
 *          that times out and finds a server sets DIRTY, for a sweep, leaves its own
 *          node, and goes. It leaves no second node in this way: with a spare node it
 *          asks, and parks until it has the node back.
 *   node   sync/node.h
 *
 * States of the word
 *   FREE      QUEUED clear; no thread waits; OWN and count are the object's
 *   WAITING   QUEUED without BUSY; count is the object's, top the newest waiter, or 0
 *             if all waiters are in the list
 *   SERVED    QUEUED and BUSY; count, DIRTY and top are what is left to do
 *
 *   FREE --push--> WAITING
 *   WAITING --push--> WAITING
 *   WAITING with one --its taker--> FREE (cond, sem: no server is needed)
 *   WAITING --become the server--> SERVED
 *   SERVED --push, request, time-out--> SERVED
 *   SERVED --server has done all that it took--> SERVED, takes again
 *   SERVED --server, nothing is left--> FREE if the list is empty, else WAITING
 *
 * Writers
 *   waitlist.word  leave_or_take, report, wefti_waitlist_after_fork;
 *       sync/barrier.c: come_last, queue; sync/cond.c: queue, give_signals_once;
 *       sync/once.c: end_run, take_part; sync/rwlock.c: be_first,
 *       take_or_queue, try_lock, unlock_slow, weft_rwlock_unlock;
 *       sync/sem.c: post_slow, post_to_waiter, take_from_value, take_or_queue,
 *       weft_sem_post
 *
 * Invariants
 *   I1  Only the server reads or writes the list, and the links of the nodes it took.
 *   I2  Everything left in a SERVED word is done before the word is WAITING or FREE:
 *       the CAS that leaves fails if something has been added.
 *   I3  The server replays arrivals and requests in the order of their CAS.
 *   I4  A waiter is woken once, by the thread that took its node out, after the wait
 *       was kept (thread/wait.h) or by a resolve. A waiter whose wait was over when its
 *       turn came is let out, and the next one is taken.
 *   I5  After the CAS that leaves, the server does not touch the object: the first
 *       thread that it wakes may free the object.
 *   I6  When the server leaves, at most half of the list have reported that their wait
 *       is over. Among the nodes left in the word for it, at most two are of one
 *       thread. So memory is bounded by the number of threads, however long a server
 *       takes, and a list whose last waiter has left is FREE.
 *
 * Linearization
 *   To wait: at the CAS of the push. A request: at the CAS that sets BUSY or adds to
 *   count; what it does follows by I3. A wake-up takes effect on its waiter when the
 *   wait is kept. A request may be left to the server, and its only candidate may time
 *   out before it is done. Then it finds no waiter: it is served as if that thread had
 *   timed out first. A time-out: at the resolve of the wait.
 *
 * Progress
 *   Push, request and report are lock-free: each failed CAS is another thread's
 *   success. The server is lock-free too: it goes round again only when others have
 *   left requests and gone on. A kernel thread that is stopped as the server delays the
 *   wake-ups of this object's waiters, but no call: every call on the object returns or
 *   parks. These wake-ups include that of a thread which times out a second time while
 *   that server is stopped (or a first time, in the struct of a thread that left its
 *   node and ended).
 *
 * ABA and reclamation
 *   Nodes are in type-stable structs. The stack is taken whole by the CAS that sets
 *   BUSY. A push is a CAS that compares the top to which the new node links. A top that
 *   comes again is the same node, waiting again; no thread would follow any of its
 *   former links. A single waiter is taken by a CAS of the whole word: if it is the
 *   same word again, the same thread is again the only one that waits.
 *
 * Pairs
 *   P1  push of a node -> the CAS that takes it: the node's fields
 *   P2  a request's CAS, a report's, and the one that leaves -> the CAS that
 *       takes: what was done before; the list
 *
 * Source
 *   That a thread which finds another at work leaves its duty with it and goes on is
 *   the responsibility hand-off of A. Gidenstam, M. Papatriantafilou, "LFthreads",
 *   OPODIS 2007, where it serves unlock alone. Rejected: doubly linked nodes with a
 *   request to remove each. They need another link in each node, for the time when it
 *   is in both list and stack; and a walk is as cheap, since it takes out all that have
 *   timed out.
 */
#include "sync/waitlist.h"

#include <stddef.h>

#include "os/call/copy.h"
#include "sched/park.h"

static uint32_t slot_of(struct wefti_node *node)
{
	return wefti_node_home(node)->slot;
}

void wefti_waitlist_append(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_waitlist *list = s->list;

	node->next = NULL;
	if (list->head)
		wefti_waitlist_node(list->tail)->next = node;
	else
		list->head = slot_of(node);
	list->tail = slot_of(node);
	list->length++;
}

struct wefti_node *wefti_waitlist_pop(struct wefti_service *s)
{
	struct wefti_waitlist *list = s->list;
	struct wefti_node *node = wefti_waitlist_node(list->head);

	if (!node)
		return NULL;
	list->head = node->next ? slot_of(node->next) : 0;
	if (!node->next)
		list->tail = 0;
	list->length--;
	return node;
}

static int is_over(const struct wefti_node *node)
{
	uint64_t w = load_relaxed(&node->thread->wait);

	return (((w >> WEFTI_WAIT_SEQ_SHIFT) ^ node->seq) &
		WEFTI_TICKET_SEQ_MASK) ||
	       (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE;
}

struct wefti_node *wefti_waitlist_head(struct wefti_service *s)
{
	struct wefti_node *head;

	while ((head = wefti_waitlist_node(s->list->head)) && is_over(head))
		wefti_node_let_out(wefti_waitlist_pop(s), WEFTI_NODE_OUT);
	return head;
}

void wefti_waitlist_wake_later(struct wefti_service *s,
			       struct wefti_node *node)
{
	node->next = NULL;
	if (s->woken)
		s->woken_last->next = node;
	else
		s->woken = node;
	s->woken_last = node;
}

int wefti_waitlist_keep(struct wefti_service *s, struct wefti_node *node)
{
	if (!wefti_wait_keep(node->thread, node->seq))
		return 0;
	wefti_waitlist_wake_later(s, node);
	return 1;
}

struct wefti_node *wefti_waitlist_wake_oldest(struct wefti_service *s)
{
	struct wefti_node *node;

	while ((node = wefti_waitlist_pop(s))) {
		if (wefti_waitlist_keep(s, node))
			return node;
		wefti_node_let_out(node, WEFTI_NODE_OUT);
	}
	return NULL;
}

void wefti_waitlist_sweep(struct wefti_service *s)
{
	struct wefti_waitlist *list = s->list;
	struct wefti_node *node = wefti_waitlist_node(list->head);

	list->head = list->tail = list->length = list->stale = 0;
	while (node) {
		struct wefti_node *next = node->next;

		if (is_over(node))
			wefti_node_let_out(node, WEFTI_NODE_OUT);
		else
			wefti_waitlist_append(s, node);
		node = next;
	}
}

/* Replays what was taken with w, in order. */
static void replay(struct wefti_service *s, uint64_t w)
{
	struct wefti_node *node = wefti_waitlist_top(w), *oldest = NULL;

	while (node) {
		struct wefti_node *older = node->next;

		node->next = oldest;
		oldest = node;
		node = older;
	}
	for (node = oldest; node; ) {
		struct wefti_node *newer = node->next;
		uint32_t before = wefti_waitlist_count(
				load_relaxed(&node->data));

		if (before)
			s->ops->request(s, before);
		s->ops->arrive(s, node);
		node = newer;
	}
	if (wefti_waitlist_count(w))
		s->ops->request(s, wefti_waitlist_count(w));
}

/*
 * A thread that became the server to report its own time-out has counted it. With
 * DIRTY, others have timed out, and the nodes of all of them are in the list by now.
 */
static void tidy(struct wefti_service *s, uint64_t w)
{
	struct wefti_waitlist *list = s->list;

	if ((w & WEFTI_LIST_DIRTY) || list->stale > list->length / 2)
		wefti_waitlist_sweep(s);
	s->ops->request(s, 0);
}

/*
 * SERVED -> FREE or WAITING: returns 0. Otherwise takes what was left, and returns it.
 */
static uint64_t leave_or_take(struct wefti_service *s)
{
	struct wefti_waitlist *list = s->list;
	uint64_t nothing = wefti_waitlist_taken(s->own), w = nothing;
	uint64_t rest = s->ops->rest(s);

	if (list->head)
		rest |= WEFTI_LIST_QUEUED | WEFTI_LIST_MANY;
	if (cas_release(&list->word, &w, rest))	/* P2 */
		return 0;
	do {
		/* Others only add to a SERVED word; none takes from it. */
		WEFT_ASSERT(w & WEFTI_LIST_BUSY, "the server was robbed");
	} while (!cas_weak_acquire(&list->word, &w,	/* P1, P2 */
				   wefti_waitlist_taken(w)));
	return w;
}

/* Not for a signal handler, which has no body. */
static void note(const struct wefti_service *s)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->cold)
		self->cold->serves = s;
}

void wefti_waitlist_serve(struct wefti_waitlist *list, uint64_t w,
		const struct wefti_waitlist_ops *ops)
{
	struct wefti_service s = { .list = list, .ops = ops };

	note(&s);
	do {
		s.own = w & WEFTI_LIST_OWN;
		replay(&s, w);
		tidy(&s, w);
		w = leave_or_take(&s);
	} while (w);
	note(NULL);

	while (s.woken) {	/* I5 */
		struct wefti_node *node = s.woken;

		s.woken = node->next;
		ops->wake(&s, node);
	}
}

/*
 * In the child of a fork, where neither the server nor the waiters exist: SERVED ->
 * FREE. What was left to the server is done as if no thread waited. The note may be a
 * moment older than the word, and the object may be gone by then (I5). So the word is
 * read without a fault, and a word that is not SERVED is left alone.
 */
void wefti_waitlist_after_fork(const void *serves)
{
	const struct wefti_service *s = serves;
	struct wefti_waitlist *list = s->list;
	uint64_t w = 0, own, requests;

	(void)wefti_os_copy(&w, &list->word, sizeof(w));
	if (!(w & WEFTI_LIST_BUSY) || !(w & WEFTI_LIST_QUEUED))
		return;
	own = w & WEFTI_LIST_OWN;
	requests = wefti_waitlist_count(w);
	for (struct wefti_node *node = wefti_waitlist_top(w); node;
	     node = node->next)
		requests += wefti_waitlist_count(load_relaxed(&node->data));
	if (requests > WEFTI_LIST_COUNT_MAX)
		requests = WEFTI_LIST_COUNT_MAX;
	list->head = list->tail = list->length = list->stale = 0;
	store_relaxed(&list->word, wefti_waitlist_taken(own));
	wefti_waitlist_serve(list, own | requests * WEFTI_LIST_ONE, s->ops);
}

/*
 * WAITING -> SERVED by the caller, which becomes the server; it sweeps at once if
 * is_urgent. If the word is SERVED, the server is told; but if !may_leave, 0 is
 * returned instead.
 */
static int report(struct wefti_waitlist *list,
		  const struct wefti_waitlist_ops *ops, int may_leave,
		  int is_urgent)
{
	uint64_t w = load_relaxed(&list->word);

	for (;;) {
		if (!(w & WEFTI_LIST_QUEUED))
			return 1;	/* it was taken meanwhile */
		if (!(w & WEFTI_LIST_BUSY)) {
			if (!cas_weak_acq_rel(&list->word, &w,	/* P1, P2 */
					      wefti_waitlist_taken(w)))
				continue;
			list->stale++;
			wefti_waitlist_serve(list, (w & ~WEFTI_LIST_COUNT) |
					     (is_urgent ? WEFTI_LIST_DIRTY : 0),
					     ops);
			return 1;
		}
		if (!may_leave)
			return 0;
		if (cas_weak_release(&list->word, &w,	/* P2 */
				     w | WEFTI_LIST_DIRTY))
			return 1;
	}
}

enum wefti_node_state wefti_waitlist_take_back(struct wefti_waitlist *list,
		struct wefti_node *node, struct wefti_thread *self,
		const struct wefti_waitlist_ops *ops)
{
	if (wefti_node_state(node) != WEFTI_NODE_LENT)
		return wefti_node_state(node);
	wefti_park_begin(self, 0, WEFTI_WHY_NOTHING, NULL);
	if (wefti_node_ask(node) != WEFTI_NODE_LENT) {
		wefti_park_end(self);
		return wefti_node_state(node);
	}
	report(list, ops, 1, 1);
	wefti_park(self, INT64_MAX);
	return wefti_node_state(node);
}

void wefti_waitlist_withdraw(struct wefti_waitlist *list,
		struct wefti_node *node, struct wefti_thread *self,
		const struct wefti_waitlist_ops *ops)
{
	int is_spare = wefti_node_home(node) != self;

	if (wefti_node_state(node) == WEFTI_NODE_LENT &&
	    !report(list, ops, !is_spare, 0))
		wefti_waitlist_take_back(list, node, self, ops);
	wefti_node_leave(node);
}
