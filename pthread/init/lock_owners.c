/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/lock_owners.c - dumps learn which thread owns a lock of the program's
 *
 * Mutexes and rwlocks have the number of their owner or writer in them, as glibc's have. A
 * thread sets it when it has the lock, and clears it before it gives the lock up. So a
 * thread that is seen parked, and after that as the owner, has the lock until it goes on
 * (observe/cycle.c). A mutex that processes share has the number of a guard, which is no
 * thread's. An owner that is one of libc's threads is not known.
 */
#include "pthread/init/lock_owners.h"

#include <stddef.h>

#include "observe/view.h"
#include "os/call/copy.h"
#include "pthread/core/number.h"
#include "pthread/core/self.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/sync/rwlock_layout.h"

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
		return wefti_pt_by_number(mutex_owner(object));
	case WEFTI_WHY_READ_LOCK:
	case WEFTI_WHY_WRITE_LOCK:
		return wefti_pt_by_number(rwlock_writer(wefti_view_lock(object)));
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
