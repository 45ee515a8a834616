/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/lock_owners.c - dumps learn which thread owns a lock of the program's
 *
 * Mutexes and rwlocks have the number of their owner or writer in them, as glibc's have. A
 * thread sets it when it has the lock, and clears it before it gives the lock up. So a
 * thread that is seen parked, and after that as the owner, has the lock until it goes on
 * (observe/cycle.c). A mutex that processes share has the number of a guard, which is no
 * thread's. An owner that is one of libc's threads is not known.
 *
 * The number leads to its thread by a walk over all. A short table keeps what was found.
 *
 * Writers
 *   found  search
 */
#include "pthread/init/lock_owners.h"

#include <stddef.h>

#include "observe/view.h"
#include "os/call/copy.h"
#include "pthread/core/self.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/sync/rwlock_layout.h"

#define FOUND	256u	/* by the number's last bits; a number and a slot */

static _Atomic uint64_t found[FOUND];

/* The number is written by the thread itself, and never changes while it is a green one. */
__attribute__((noinline, no_sanitize("thread", "address")))
static int has_number(const struct wefti_thread *t, int number)
{
	uint32_t gen;
	const struct wefti_pt *pt = wefti_pt_peek(t, &gen);

	return pt && *(const volatile int *)&pt->id == number && wefti_pt_is_same(t, gen);
}

static const struct wefti_thread *search(int number)
{
	_Atomic uint64_t *place = &found[(unsigned)number % FOUND];
	const uint64_t is = load_relaxed(place);
	const struct wefti_thread *t = wefti_slot_get((uint32_t)is);

	if (is >> 32 == (uint32_t)number && has_number(t, number))
		return t;
	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		t = wefti_slot_get(i);
		if (!has_number(t, number))
			continue;
		store_relaxed(place, (uint64_t)(uint32_t)number << 32 | i);
		return t;
	}
	return NULL;
}

/* The first thread has the process's number, and libc's threads others of the kernel's. */
static const struct wefti_thread *thread_of(int number)
{
	if (number >= WEFTI_KERNEL_IDS)
		return search(number);
	return number > 0 && wefti_rt.main && has_number(wefti_rt.main, number) ?
	       wefti_rt.main : NULL;
}

static int mutex_owner(const void *object)
{
	pthread_mutex_t m;

	if (wefti_os_copy(&m, object, sizeof(m)) < sizeof(m) || m.__data.__lock == 0 ||
	    (m.__data.__kind & WEFTI_MUTEX_SHARED))
		return 0;
	return m.__data.__owner;
}

static int rwlock_writer(const void *object)
{
	struct wefti_pt_rwlock l;

	if (wefti_os_copy(&l, object, sizeof(l)) < sizeof(l))
		return 0;
	return load_relaxed(&l.writer);
}

static const struct wefti_thread *owner(enum wefti_why why, const void *object)
{
	switch (why) {
	case WEFTI_WHY_MUTEX:
		return thread_of(mutex_owner(object));
	case WEFTI_WHY_READ_LOCK:
	case WEFTI_WHY_WRITE_LOCK:
		return thread_of(rwlock_writer(wefti_view_lock(object)));
	default:
		return NULL;
	}
}

/* 0 for the first thread: it has the process's number. */
static int gettid_of(const struct wefti_thread *t)
{
	uint32_t gen;
	const struct wefti_pt *pt = wefti_pt_peek(t, &gen);
	const int tid = pt ? load_seq_cst(&pt->tid) : 0;

	return pt && wefti_pt_is_same(t, gen) ? tid : 0;
}

void wefti_lock_owners_begin(void)
{
	store_seq_cst(&wefti_view_gettid, gettid_of);
	store_seq_cst(&wefti_view_owner, owner);
}
