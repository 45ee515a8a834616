/* SPDX-License-Identifier: MIT */
/* sync/mutex.h - the hand-off mutex, for condition variables and dumps */
#ifndef WEFT_SYNC_MUTEX_H
#define WEFT_SYNC_MUTEX_H

#include "thread/wait.h"
#include "weft/mutex.h"

/* The layout of struct weft_mutex. policy is where glibc has a mutex's kind. */
struct wefti_mutex {
	_Atomic uint64_t word;
	struct wefti_node *list;	/* the owner's: waiters, oldest first */
	uint32_t policy;
	uint32_t unused;
	_Atomic(struct wefti_thread *) owner;
	/* mutex_line.c */
	_Atomic uint32_t left, sweep_at;
};

_Static_assert(sizeof(struct wefti_mutex) == sizeof(struct weft_mutex),
	       "the public size is the size");

#define WEFTI_MUTEX_LOCKED	UINT64_C(1)	/* in word; see mutex.c */

/* Takes it if nobody has it. Any kernel thread; sets no owner. */
static inline int wefti_mutex_take_if_free(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	while (!(w & WEFTI_MUTEX_LOCKED))
		if (cas_weak_acquire(&m->word, &w,	/* of mutex.c: P1 */
				     w | WEFTI_MUTEX_LOCKED))
			return 1;
	return 0;
}

/* OWNED -> FREE by the owner, if nobody waits. Returns 0 otherwise. */
static inline int wefti_mutex_let_go(struct wefti_mutex *m)
{
	uint64_t w = load_relaxed(&m->word);

	/* Looked at first: a CAS that fails costs as much as one that does not. */
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

/*
 * The caller owns it, inside the runtime, and gives it up, while others wait or
 * not. Returns 1 if it was handed to one of them.
 */
int wefti_mutex_release(struct wefti_mutex *m);

/*
 * For a waiter whose wait goes on until it has the mutex (its episode was kept,
 * see wefti_wait_keep): takes it for the waiter and wakes it, or queues it.
 */
void wefti_mutex_pass(struct wefti_mutex *m, struct wefti_node *node);

/*
 * What a thread does after such a wait, or after its own: cause is how its park
 * ended. Returns 0 as the owner, or -ETIMEDOUT.
 */
int wefti_mutex_arrive(struct wefti_mutex *m, struct wefti_thread *self,
		       struct wefti_node *node, enum wefti_cause cause,
		       int64_t deadline);

/* The same without a deadline, from outside. */
int wefti_mutex_lock_slow(struct wefti_mutex *m, struct wefti_thread *self);

/* unlock by its owner, which may park, from outside. */
void wefti_mutex_unlock_slow(struct wefti_mutex *m, struct wefti_thread *self);

/* Takes the mutex; inside the runtime. 0, -EDEADLK, -ETIMEDOUT, ... */
int wefti_mutex_take(struct wefti_mutex *m, struct wefti_thread *self,
		     int64_t deadline);

#endif
