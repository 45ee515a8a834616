/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/lot_list.h - the buckets of the lot, and their lists; for lot.c alone
 *
 * The argument is in lot.c.
 */
#ifndef WEFT_PTHREAD_WAIT_LOT_LIST_H
#define WEFT_PTHREAD_WAIT_LOT_LIST_H

#include <stdalign.h>
#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "pthread/core/hold.h"

struct wefti_thread;

#define BUCKETS		1024u

#define QUEUED		1u
#define WOKEN		2u
#define HANDED		3u

struct entry {
	struct entry *next, *prev;
	const void *key;
	struct wefti_thread *t;		/* NULL: a kernel thread sleeps on state */
	uint64_t seq;
	int64_t since;			/* INT64_MAX: does not wait for a mutex */
	_Atomic uint32_t *count;
	uint32_t bits;
	int8_t priority;		/* when the wait began */
	_Atomic uint32_t state;
	_Atomic(struct bucket *) bucket;	/* changes under the locks of both */
};

struct bucket {
	alignas(CACHE_LINE) _Atomic uint32_t lock;	/* pthread/core/hold.h */
	struct entry *first, *last;
	/*
	 * The lock that was handed over last here, and to which thread, until it is
	 * unlocked. (The new owner writes its name into the lock itself when it runs.)
	 */
	const void *handed;
	const struct wefti_thread *heir;	/* NULL: a kernel thread */
};

static struct bucket buckets[BUCKETS] TABLE;

static inline struct bucket *bucket_of(const void *key)
{
	uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[h >> 54];
}

_Static_assert(BUCKETS == 1024, "54 is for this");

/* Inserts e behind all entries with at least its priority: usually at the end. */
static inline void insert(struct bucket *b, struct entry *e)
{
	struct entry *prev = b->last;

	while (prev && unlikely(prev->priority < e->priority))
		prev = prev->prev;
	store_relaxed(&e->bucket, b);
	e->prev = prev;
	e->next = prev ? prev->next : b->first;
	if (prev)
		prev->next = e;
	else
		b->first = e;
	if (e->next)
		e->next->prev = e;
	else
		b->last = e;
}

static inline void take_out(struct entry *e)
{
	struct bucket *b = load_relaxed(&e->bucket);

	if (e->prev)
		e->prev->next = e->next;
	else
		b->first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		b->last = e->prev;
}

/* Under the lock of e's bucket. */
static inline void change_count(const struct entry *e, uint32_t by)
{
	if (e->count)	/* of lot.c: P2 */
		store_release(e->count, load_relaxed(e->count) + by);
}

/* Takes e out of its list, and out of the count of waiting threads. */
static inline void leave_list(struct entry *e)
{
	take_out(e);
	change_count(e, UINT32_MAX);
}

/* Under the lock of b. */
static inline struct entry *first_at(const struct bucket *b, const void *key)
{
	struct entry *e = b->first;

	while (e && e->key != key)
		e = e->next;
	return e;
}

/* Two buckets are locked in the order of their addresses. */
static inline void lock_two(struct bucket *a, struct bucket *b)
{
	wefti_hold_lock(&(a < b ? a : b)->lock);
	if (a != b)
		wefti_hold_lock(&(a < b ? b : a)->lock);
}

static inline void unlock_two(struct bucket *a, struct bucket *b)
{
	wefti_hold_unlock(&a->lock);
	if (a != b)
		wefti_hold_unlock(&b->lock);
}

/* The entry's bucket may change until the bucket is locked. */
static inline struct bucket *lock_bucket_of(struct entry *e)
{
	for (;;) {
		struct bucket *b = load_relaxed(&e->bucket);

		wefti_hold_lock(&b->lock);
		if (b == load_relaxed(&e->bucket))
			return b;
		wefti_hold_unlock(&b->lock);
	}
}

#endif
