/* SPDX-License-Identifier: MIT */
/* sync/mutex.h - the hand-off mutex, for condition variables and dumps */
#ifndef WEFT_SYNC_MUTEX_H
#define WEFT_SYNC_MUTEX_H

#include "sched/record.h"
#include "thread/wait.h"
#include "weft/mutex.h"

/* The layout of struct weft_mutex. policy is where glibc has a mutex's kind. */
struct wefti_mutex {
	_Atomic uint64_t word;
	struct wefti_node *list;	/* the owner's: the waiters, oldest first */
	uint32_t policy;
	uint32_t unused;
	_Atomic(struct wefti_thread *) owner;
	/* see mutex_line.c */
	_Atomic uint32_t left, sweep_at;
};

_Static_assert(sizeof(struct wefti_mutex) == sizeof(struct weft_mutex),
	       "the public size is the size");

/*
 * The parts of word (0:32 | top:24 | 0:4 | SWEEP | GRANT | WOKEN | LOCKED), each with
 * what holds when it is set and when it is clear. A strict mutex never has WOKEN or
 * GRANT.
 *
 *   LOCKED  set: a thread has the mutex, or has been granted it
 *           clear: FREE; any thread may take it by a CAS
 *   WOKEN   set: the head of the list is kept, to compete; it has neither taken the
 *           mutex nor parked again. No other waiter is woken meanwhile, and no other
 *           thread touches the head
 *           clear: no woken waiter is on its way, so an unlock with waiters wakes one
 *           or hands over. Hence never clear while FREE with waiters
 *   GRANT   set (only with LOCKED and WOKEN): the woken waiter has it, once it looks
 *           clear: the woken waiter gets it only by a CAS of its own
 *   SWEEP   set: a sweeper may be at work on the stack; perhaps it has just ended, or
 *           found nothing. An owner that takes the stack exchanges the links
 *           clear: no node is taken out of the stack; an owner may load the links
 *   top     not 0: nodes have been pushed; all their waits may be over
 *           0: the stack is empty; the list may have waiters
 */
#define WEFTI_MUTEX_LOCKED	UINT64_C(1)
#define WEFTI_MUTEX_WOKEN	UINT64_C(2)
#define WEFTI_MUTEX_GRANT	UINT64_C(4)
#define WEFTI_MUTEX_SWEEP	UINT64_C(8)
#define WEFTI_MUTEX_FLAGS	UINT64_C(0xff)
#define WEFTI_MUTEX_TOP_SHIFT	8

/* Takes it if it is free. For any kernel thread; does not set the owner. */
static inline int wefti_mutex_take_if_free(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	while (!(w & WEFTI_MUTEX_LOCKED))
		if (cas_weak_acquire(&m->word, &w,	/* of mutex.c: P1 */
				     w | WEFTI_MUTEX_LOCKED))
			return 1;
	return 0;
}

/* OWNED -> FREE by the owner, if no thread waits. Returns 0 otherwise. */
static inline int wefti_mutex_let_go(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	/* A look comes first: a CAS that fails costs as much as one that succeeds. */
	if (unlikely(m->list || w != WEFTI_MUTEX_LOCKED))
		return 0;
	store_relaxed(&m->owner, NULL);
	return cas_release(&m->word, &w, 0);	/* of mutex.c: P1 */
}

static inline struct wefti_mutex *wefti_mutex_of(struct weft_mutex *m)
{
	return (struct wefti_mutex *)(void *)m;
}

static inline int wefti_mutex_is_mine(const struct wefti_mutex *m,
				      const struct wefti_thread *self)
{
	return self && load_relaxed(&m->owner) == self;
}

/* self is about to wait for m: the recorder is told which thread has it. */
static inline void wefti_mutex_record_owner(const struct wefti_mutex *m,
					    const struct wefti_thread *self)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_OWNER, self, m);
	if (likely(self->vcpu) && wefti_records(self->vcpu))
		wefti_recorded_owner(self->vcpu, load_relaxed(&m->owner), m);
}

/*
 * The caller, inside the runtime, owns it and gives it up, whether or not others wait.
 * Returns 1 if the mutex is strict and was handed to a waiter, else 0.
 */
int wefti_mutex_release(struct wefti_mutex *m);

/*
 * For a waiter whose wait goes on until it has the mutex (its episode was kept, see
 * wefti_wait_keep): takes the mutex for the waiter and wakes it, or queues it.
 */
void wefti_mutex_pass(struct wefti_mutex *m, struct wefti_node *node);

/*
 * Called by a thread after such a wait, or after its own; cause is how its park ended.
 * Returns 0 as the owner, or -ETIMEDOUT.
 */
int wefti_mutex_arrive(struct wefti_mutex *m, struct wefti_thread *self,
		       struct wefti_node *node, enum wefti_cause cause,
		       int64_t deadline);

/* Locks without a deadline, from outside the runtime. */
int wefti_mutex_lock_slow(struct wefti_mutex *m, struct wefti_thread *self);

/* Unlocks by the owner, from outside the runtime; may park. */
void wefti_mutex_unlock_slow(struct wefti_mutex *m, struct wefti_thread *self);

/*
 * Locks the mutex, inside the runtime. Returns 0, -EDEADLK, -EBUSY, -ENOMEM or
 * -ETIMEDOUT.
 */
int wefti_mutex_lock(struct wefti_mutex *m, struct wefti_thread *self,
		     int64_t deadline);

#endif
