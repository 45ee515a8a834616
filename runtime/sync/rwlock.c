/* SPDX-License-Identifier: MIT */
/*
 * sync/rwlock.c - many readers or one writer
 *
 * Structure
 *   A wait list (sync/waitlist.c).
 *   FREE      count is the number of readers that have it; WRITER: a writer has it
 *   WAITING   threads wait. readers and writing say which threads have it; they belong
 *             to the server
 *   SERVED    count is the number of unlocks left to the server
 *   owner     the thread that has it as the writer
 *
 *   Without contention, each lock and unlock is one RMW. The first waiter is also the
 *   server for a moment, as it moves count and WRITER to the fields: one RMW to queue,
 *   one to leave, one to commit the park. Each later waiter makes one less. An unlock
 *   while threads wait makes one to be the server, one to leave, and one for each
 *   thread it wakes whose wait had a deadline; if a server is at work, only one.
 *
 * Writers
 *   rwlock.owner  let_in, lock_slow, weft_rwlock_unlock, weft_rwlock_write
 *
 * Invariants
 *   I1  writing, or readers > 0, or neither; never both.
 *   I2  Unless it is FREE, an arriving thread queues: first come, first served. Readers
 *       at the head of the list enter together, unless a writer has it.
 *   I3  WAITING: some thread has it, so an unlock will come for the waiting threads. It
 *       finds them, since in this state an unlock is always a request to the server.
 *   I4  An unlock does not touch the lock after the CAS by which it gives up its hold,
 *       leaves as the server, or leaves its request.
 *
 * Linearization
 *   lock: at the CAS that takes it, or the end of the wait as HANDED. unlock: at the
 *   CAS that gives it up, becomes the server, or leaves a request.
 *
 * Progress
 *   Lock-free; see waitlist.c. By I2 neither readers nor writers starve.
 *
 * ABA and reclamation
 *   Counts may return to an earlier value; that is harmless. Nodes: see waitlist.c.
 *
 * Pairs
 *   P1  an unlock's CAS -> a lock's CAS: what was done under the lock. Through a
 *       waiter's end it is thread/wait.h's P2
 *   P2  of waitlist.c (P1, P2 there): a push, a request, the server's fields -> the CAS
 *       that takes them
 *   Model: tests/model/loom/c/rwlock.c.
 *
 * Source
 *   J. Mellor-Crummey, M. Scott, "Scalable reader-writer synchronization for
 *   shared-memory multiprocessors", PPoPP 1991, for the fair policy.
 */
#include "weft/rwlock.h"

#include <errno.h>
#include <stddef.h>

#include "sched/park.h"
#include "sched/ready.h"
#include "sync/waitlist.h"

#define WRITER		WEFTI_LIST_WRITER
#define READERS_MAX	((1u << 20) - 1)

/* What a waiter wants: the low half of node->data. */
#define TO_READ		0u
#define TO_WRITE	1u

struct wefti_rwlock {
	struct wefti_waitlist list;
	_Atomic(struct wefti_thread *) owner;
	uint32_t readers, writing;	/* the server's */
	uint64_t reserved;
};

_Static_assert(sizeof(struct wefti_rwlock) == sizeof(struct weft_rwlock),
	       "the public size is the size");
_Static_assert(offsetof(struct wefti_rwlock, owner) ==
	       offsetof(struct wefti_owned_list, owner), "dumps find it");

static struct wefti_rwlock *rwlock_of(struct weft_rwlock *lock)
{
	return (struct wefti_rwlock *)(void *)lock;
}

static struct wefti_rwlock *served(struct wefti_service *s)
{
	return container_of(s->list, struct wefti_rwlock, list);
}

/* Lets in the threads that may enter now, in order. */
static void let_in(struct wefti_service *s)
{
	struct wefti_rwlock *l = served(s);
	struct wefti_node *head;

	while (!l->writing && (head = wefti_waitlist_head(s))) {
		int to_write = (uint32_t)load_relaxed(&head->data) ==
			       TO_WRITE;

		if (to_write && l->readers)
			return;
		wefti_waitlist_pop(s);
		if (!wefti_waitlist_keep(s, head)) {
			wefti_node_let_out(head, WEFTI_NODE_OUT);
			continue;
		}
		l->writing = to_write;
		l->readers += !to_write;
		if (to_write)
			store_relaxed(&l->owner, head->thread);
	}
}

static void unlocked(struct wefti_service *s, uint32_t unlocks)
{
	struct wefti_rwlock *l = served(s);

	if (unlocks && l->writing)
		l->writing = 0;
	else if (unlocks)
		l->readers -= unlocks < l->readers ? unlocks : l->readers;
	let_in(s);
}

static void arrive(struct wefti_service *s, struct wefti_node *node)
{
	wefti_waitlist_append(s, node);
	let_in(s);
}

static uint64_t rest(struct wefti_service *s)
{
	struct wefti_rwlock *l = served(s);

	if (s->list->head)
		return 0;
	return l->readers * WEFTI_LIST_ONE | (l->writing ? WRITER : 0);
}

static void wake(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	(void)s;
	if (wefti_wait_finish(t, WEFTI_CAUSE_HANDED))
		wefti_ready(t);
}

static const struct wefti_waitlist_ops ops = {
	.arrive = arrive, .request = unlocked, .rest = rest, .wake = wake,
};

/* FREE: would a thread that comes now be let in? */
static int is_open(uint64_t w, uint32_t what)
{
	if (what == TO_WRITE)
		return w == 0;
	return !(w & (WEFTI_LIST_QUEUED | WRITER));
}

static uint64_t with_one_more(uint64_t w, uint32_t what)
{
	return what == TO_WRITE ? WRITER : w + WEFTI_LIST_ONE;
}

/* FREE -> FREE with the caller: returns 0. -EAGAIN: too many readers. Else -EBUSY. */
static inline int try_lock(struct wefti_rwlock *l, uint32_t what)
{
	uint64_t w = load_relaxed(&l->list.word);

	while (is_open(w, what)) {
		if (what == TO_READ &&
		    unlikely(wefti_waitlist_count(w) == READERS_MAX))
			return -EAGAIN;
		if (likely(cas_weak_acquire(&l->list.word, &w,	/* P1 */
					    with_one_more(w, what))))
			return 0;
	}
	return -EBUSY;
}

/*
 * FREE -> SERVED by the caller, the first waiter. It moves what the word said to the
 * fields; then it goes on as the server.
 */
static int be_first(struct wefti_rwlock *l, uint64_t *w,
		    struct wefti_node *node, uint32_t what)
{
	uint64_t pushed = wefti_waitlist_pushed(0, node, what);

	if (!cas_weak_acquire(&l->list.word, w,	/* P1, P2 */
			      wefti_waitlist_taken(pushed)))
		return 0;
	l->readers = wefti_waitlist_count(*w);
	l->writing = (*w & WRITER) != 0;
	wefti_waitlist_serve(&l->list, pushed, &ops);
	return 1;
}

/* Returns 1 if the caller has it, 0 if the thread is a waiter. */
static int take_or_queue(struct wefti_rwlock *l, struct wefti_node *node,
			 uint32_t what)
{
	uint64_t w = load_relaxed(&l->list.word);

	for (;;) {
		if (w & WEFTI_LIST_QUEUED) {
			if (cas_weak_release(&l->list.word, &w,	/* P2 */
				wefti_waitlist_pushed(w, node, what)))
				return 0;
		} else if (is_open(w, what)) {
			if (cas_weak_acquire(&l->list.word, &w,	/* P1 */
					     with_one_more(w, what)))
				return 1;
		} else if (be_first(l, &w, node, what)) {
			return 0;
		}
	}
}

static int wait_turn(struct wefti_rwlock *l, struct wefti_thread *self,
		     uint32_t what, int64_t deadline)
{
	uint64_t flags = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;
	struct wefti_node *node = wefti_node_get(self);

	if (!node)
		return -ENOMEM;
	node->seq = wefti_park_begin(self, flags, what == TO_WRITE ?
				     WEFTI_WHY_WRITE_LOCK :
				     WEFTI_WHY_READ_LOCK, l);
	if (take_or_queue(l, node, what)) {
		wefti_park_end(self);
		wefti_node_drop(node);
		return 0;
	}
	if (wefti_park(self, deadline) == WEFTI_CAUSE_HANDED) {
		wefti_node_drop(node);
		return 0;
	}
	wefti_waitlist_withdraw(&l->list, node, self, &ops);
	return -ETIMEDOUT;
}

static NOINLINE int lock_slow(struct wefti_rwlock *l, uint32_t what,
			      int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = -EDEADLK;

	if (load_relaxed(&l->owner) != self)
		error = try_lock(l, what);
	if (error == -EBUSY && deadline != WEFT_NO_WAIT)
		error = wait_turn(l, self, what, deadline);
	if (error == 0 && what == TO_WRITE)
		store_relaxed(&l->owner, self);
	wefti_leave(self);
	return error;
}

int weft_rwlock_read(struct weft_rwlock *lock)
{
	struct wefti_rwlock *l = rwlock_of(lock);

	if (likely(try_lock(l, TO_READ) == 0))
		return 0;
	return lock_slow(l, TO_READ, WEFT_FOREVER);
}

int weft_rwlock_read_until(struct weft_rwlock *lock, int64_t deadline)
{
	return lock_slow(rwlock_of(lock), TO_READ, deadline);
}

int weft_rwlock_try_read(struct weft_rwlock *lock)
{
	return lock_slow(rwlock_of(lock), TO_READ, WEFT_NO_WAIT);
}

int weft_rwlock_write(struct weft_rwlock *lock)
{
	struct wefti_rwlock *l = rwlock_of(lock);
	struct wefti_thread *self = wefti_self();

	if (likely(self) && likely(try_lock(l, TO_WRITE) == 0)) {
		store_relaxed(&l->owner, self);
		return 0;
	}
	return lock_slow(l, TO_WRITE, WEFT_FOREVER);
}

int weft_rwlock_write_until(struct weft_rwlock *lock, int64_t deadline)
{
	return lock_slow(rwlock_of(lock), TO_WRITE, deadline);
}

int weft_rwlock_try_write(struct weft_rwlock *lock)
{
	return lock_slow(rwlock_of(lock), TO_WRITE, WEFT_NO_WAIT);
}

/* What the word becomes when a thread gives it up. Sets *error if no thread has it. */
static uint64_t without_one(uint64_t w, int was_owner, int *error)
{
	*error = 0;
	if ((w & WEFTI_LIST_QUEUED))
		return w & WEFTI_LIST_BUSY ? w + WEFTI_LIST_ONE :
					     wefti_waitlist_taken(w);
	if (was_owner)
		return 0;
	if (wefti_waitlist_count(w) == 0)	/* or a WRITER that is not the caller */
		*error = -EPERM;
	return w - WEFTI_LIST_ONE;
}

static NOINLINE int unlock_slow(struct wefti_rwlock *l, int was_owner)
{
	struct wefti_thread *self = wefti_enter();
	uint64_t w = load_relaxed(&l->list.word), next;
	int error;

	do {
		next = without_one(w, was_owner, &error);
	} while (!error && !cas_weak_acq_rel(&l->list.word, &w,	/* P1, P2 */
					     next));
	if (!error && (w & WEFTI_LIST_QUEUED) && !(w & WEFTI_LIST_BUSY))
		wefti_waitlist_serve(&l->list, w + WEFTI_LIST_ONE, &ops);
	wefti_leave(self);
	return error;
}

int weft_rwlock_unlock(struct weft_rwlock *lock)
{
	struct wefti_rwlock *l = rwlock_of(lock);
	struct wefti_thread *owner = load_relaxed(&l->owner);
	uint64_t w = load_relaxed(&l->list.word);

	if (owner) {
		if (owner != wefti_known_self())
			return -EPERM;
		store_relaxed(&l->owner, NULL);
		w = WRITER;
		if (likely(cas_release(&l->list.word, &w, 0)))	/* P1 */
			return 0;
		return unlock_slow(l, 1);
	}
	if (likely(!(w & WEFTI_LIST_QUEUED) && wefti_waitlist_count(w) > 0) &&
	    likely(cas_weak_release(&l->list.word, &w,	/* P1 */
				    w - WEFTI_LIST_ONE)))
		return 0;
	return unlock_slow(l, 0);
}

int weft_rwlock_destroy(struct weft_rwlock *lock)
{
	return load_acquire(&rwlock_of(lock)->list.word) ? -EBUSY : 0; /* P1 */
}
