/* SPDX-License-Identifier: MIT */
/*
 * sync/sem.c - counting semaphores
 *
 * Structure
 *   A wait list (sync/waitlist.c). FREE: count is the value. While threads wait, the
 *   value is 0, and count is the number of posts left to the server.
 *
 *   Without contention, a wait and a post are one RMW each. A wait that parks makes one
 *   to queue and one to commit the park. A post with one waiter makes one to take it
 *   and one to end its wait. With more waiters it makes one to be the server, one to
 *   leave, and one for each thread it wakes. A post that finds a server makes one.
 *
 * Invariants
 *   I1  value = posts - waits that returned 0, in the order of their CAS and resolves.
 *       A post goes to one waiter or to the value, never to both.
 *   I2  No thread takes from the value while threads wait: first come, first served.
 *   I3  A post does not touch the semaphore once its unit is with a waiter or in the
 *       value; or once it has left it with a server, to which it is a request. So the
 *       thread that got the last unit may free the semaphore.
 *
 * Linearization
 *   wait: at the CAS that takes from the value, or the end of the wait as HANDED.
 *   post: at the CAS that adds to count; or at the CAS that takes a waiter out or
 *   becomes the server.
 *
 * Progress
 *   Lock-free; see waitlist.c. So a post also works in a signal handler, wherever in
 *   the runtime the signal came. To the post, the interrupted code is a thread that was
 *   stopped, and the post uses nothing that belongs to the VCPU.
 *
 * ABA and reclamation
 *   The value may return to an earlier one: the CAS means nothing but the value. Nodes:
 *   see waitlist.c.
 *
 * Pairs
 *   P1  post's CAS -> wait's CAS: what the posting thread did before. Through a
 *       waiter's resolve it is thread/wait.h's P2
 *   P2  of waitlist.c (P1 and P2 there): a push, a request -> the CAS that takes it
 *
 * Source
 *   E. W. Dijkstra, "Cooperating sequential processes", 1965; for the rest see
 *   waitlist.c.
 */
#include "weft/sem.h"

#include <errno.h>

#include "sched/park.h"
#include "sched/ready.h"
#include "sync/waitlist.h"

struct wefti_sem {
	struct wefti_waitlist list;
	uint64_t reserved;
};

_Static_assert(sizeof(struct wefti_sem) <= sizeof(struct weft_sem),
	       "it fits into the public struct");
_Static_assert(WEFT_SEM_MAX == WEFTI_LIST_COUNT_MAX, "the value is a count");

static struct wefti_waitlist *list_of(struct weft_sem *sem)
{
	return &((struct wefti_sem *)(void *)sem)->list;
}

/* The session's value is the number of posts that are not handed out yet. */
static void hand_out(struct wefti_service *s, uint32_t posts)
{
	s->value += posts;
	while (s->value && wefti_waitlist_wake_oldest(s))
		s->value--;
}

static void arrive(struct wefti_service *s, struct wefti_node *node)
{
	wefti_waitlist_append(s, node);
	hand_out(s, 0);
}

static uint64_t rest(struct wefti_service *s)
{
	if (s->value > WEFT_SEM_MAX)	/* posts left with the server too late */
		s->value = WEFT_SEM_MAX;
	return s->value * WEFTI_LIST_ONE;
}

static void wake(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	(void)s;
	if (wefti_wait_finish(t, WEFTI_CAUSE_HANDED))
		wefti_ready(t);
}

static const struct wefti_waitlist_ops ops = {
	.arrive = arrive, .request = hand_out, .rest = rest, .wake = wake,
};

static int has_value(uint64_t w)
{
	return !(w & WEFTI_LIST_QUEUED) && wefti_waitlist_count(w) > 0;
}

/* FREE -> FREE with one less. Returns 1 if so. */
static inline int take_from_value(struct wefti_waitlist *list)
{
	uint64_t w = load_relaxed(&list->word);

	while (has_value(w))
		if (cas_weak_acquire(&list->word, &w,	/* P1 */
				     w - WEFTI_LIST_ONE))
			return 1;
	return 0;
}

/* The same; or FREE, WAITING or SERVED with one more waiter: returns 0. */
static int take_or_queue(struct wefti_waitlist *list, struct wefti_node *node)
{
	uint64_t w = load_relaxed(&list->word);

	for (;;) {
		if (has_value(w)) {
			if (cas_weak_acquire(&list->word, &w,	/* P1 */
					     w - WEFTI_LIST_ONE))
				return 1;
		} else if (cas_weak_release(&list->word, &w,	/* P2 */
				wefti_waitlist_pushed(w, node, 0))) {
			return 0;
		}
	}
}

static int wait_inside(struct weft_sem *sem, struct wefti_thread *self,
		       int64_t deadline)
{
	struct wefti_waitlist *list = list_of(sem);
	uint64_t flags = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;
	struct wefti_node *node;

	if (wefti_is_cancelled(self))
		return -ECANCELED;
	if (take_from_value(list))
		return 0;
	if (deadline == WEFT_NO_WAIT)
		return -EAGAIN;
	node = wefti_node_get(self);
	if (!node)
		return -ENOMEM;
	node->seq = wefti_park_begin(self, flags | wefti_cancel_flag(self),
				     WEFTI_WHY_SEM, sem);
	if (take_or_queue(list, node)) {
		wefti_park_end(self);
		wefti_node_drop(node);
		return 0;
	}

	enum wefti_cause cause = wefti_park(self, deadline);

	if (likely(cause == WEFTI_CAUSE_HANDED)) {
		wefti_node_drop(node);
		return 0;
	}
	wefti_waitlist_withdraw(list, node, self, &ops);
	return cause == WEFTI_CAUSE_CANCELLED ? -ECANCELED : -ETIMEDOUT;
}

static NOINLINE int wait_slow(struct weft_sem *sem, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = wait_inside(sem, self, deadline);

	wefti_leave(self);
	return error;
}

int weft_sem_wait(struct weft_sem *sem)
{
	struct wefti_thread *self = wefti_self();

	if (likely(self) && likely(!load_relaxed(&self->cancel)) &&
	    take_from_value(list_of(sem)))
		return 0;
	return wait_slow(sem, WEFT_FOREVER);
}

int weft_sem_wait_until(struct weft_sem *sem, int64_t deadline)
{
	return wait_slow(sem, deadline);
}

int weft_sem_try_wait(struct weft_sem *sem)
{
	return wait_slow(sem, WEFT_NO_WAIT);
}

/*
 * node is the only waiter's; the caller has taken it. Returns 0 if its wait was over.
 */
static int hand_to(struct wefti_node *node)
{
	if (wefti_unpark(node->thread, node->seq, WEFTI_CAUSE_HANDED))
		return 1;
	wefti_node_let_out(node, WEFTI_NODE_OUT);
	return 0;
}

/* One try of a post while threads wait. Returns 1 when it is done. */
static int post_to_waiter(struct wefti_waitlist *list, uint64_t *w)
{
	uint64_t was = *w;

	if (wefti_waitlist_is_single(was)) {
		if (!cas_weak_acq_rel(&list->word, w, 0))	/* P1, P2 */
			return 0;
		if (hand_to(wefti_waitlist_top(was)))
			return 1;
		*w = load_relaxed(&list->word);
		return 0;
	}
	if (!cas_weak_acq_rel(&list->word, w,	/* P1, P2 */
			      wefti_waitlist_taken(was)))
		return 0;
	wefti_waitlist_serve(list, was + WEFTI_LIST_ONE, &ops);
	return 1;
}

static NOINLINE int post_slow(struct wefti_waitlist *list)
{
	struct wefti_thread *self = wefti_enter_anywhere();
	uint64_t w = load_relaxed(&list->word);
	int error = 0;

	for (;;) {
		if ((w & WEFTI_LIST_QUEUED) && !(w & WEFTI_LIST_BUSY)) {
			if (post_to_waiter(list, &w))
				break;
			continue;
		}
		if (wefti_waitlist_count(w) == WEFT_SEM_MAX) {
			error = -EOVERFLOW;
			break;
		}
		if (cas_weak_release(&list->word, &w,	/* P1, P2 */
				     w + WEFTI_LIST_ONE))
			break;
	}
	wefti_leave_anywhere(self);
	return error;
}

int weft_sem_post(struct weft_sem *sem)
{
	struct wefti_waitlist *list = list_of(sem);
	uint64_t w = load_relaxed(&list->word);

	if (likely(!(w & WEFTI_LIST_QUEUED)) &&
	    likely(wefti_waitlist_count(w) < WEFT_SEM_MAX) &&
	    likely(cas_weak_release(&list->word, &w,	/* P1 */
				    w + WEFTI_LIST_ONE)))
		return 0;
	return post_slow(list);
}

unsigned weft_sem_value(struct weft_sem *sem)
{
	uint64_t w = load_acquire(&list_of(sem)->word);	/* P1 */

	return w & WEFTI_LIST_QUEUED ? 0 : wefti_waitlist_count(w);
}

int weft_sem_init(struct weft_sem *sem, unsigned value)
{
	if (value > WEFT_SEM_MAX)
		return -EINVAL;
	*sem = (struct weft_sem)WEFT_SEM_INIT;
	atomic_init(&list_of(sem)->word, value * WEFTI_LIST_ONE);
	return 0;
}

int weft_sem_destroy(struct weft_sem *sem)
{
	uint64_t w = load_acquire(&list_of(sem)->word);	/* P1, P2 */

	return w & WEFTI_LIST_QUEUED ? -EBUSY : 0;
}
