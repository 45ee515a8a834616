/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/mutex_owner.h - a mutex's kind, and whether the caller owns it
 *
 * Writers
 *   *wefti_mutex_owner()  wefti_mutex_disown_here, wefti_mutex_own,
 *       wefti_mutex_own_here
 */
#ifndef WEFT_PTHREAD_SHARED_MUTEX_OWNER_H
#define WEFT_PTHREAD_SHARED_MUTEX_OWNER_H

#include <errno.h>

#include "os/call/tid.h"
#include "pthread/core/started.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/shared/shared.h"

static inline int wefti_mutex_kind(const pthread_mutex_t *m)
{
	return m->__data.__kind & WEFTI_MUTEX_KIND_MASK;
}

/*
 * Is m a lock of this process alone, of a kind that does not check its owner? So are the
 * mutexes that an initializer or pthread_mutex_init() without attributes makes.
 */
static inline int wefti_mutex_is_plain(const pthread_mutex_t *m)
{
	const int kind = m->__data.__kind &
			 (WEFTI_MUTEX_KIND_MASK | WEFTI_MUTEX_ROBUST | WEFTI_MUTEX_INHERIT |
			  WEFTI_MUTEX_PROTECT | WEFTI_MUTEX_SHARED);

	return likely(kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP);
}

static inline int wefti_mutex_is_shared(const pthread_mutex_t *m)
{
	return unlikely(m->__data.__kind & WEFTI_MUTEX_SHARED);
}

/* Others read it to compare it with their own id, which only they write there. */
static inline _Atomic int *wefti_mutex_owner(const pthread_mutex_t *m)
{
	return (_Atomic int *)(uintptr_t)&m->__data.__owner;
}

/* The first thread may have locked it before the runtime was started. */
static inline int wefti_mutex_is_shared_mine(const pthread_mutex_t *m)
{
	return *(const volatile uint64_t *)wefti_mutex_holder(m) == wefti_shared_me() ||
	       (wefti_self() == wefti_rt.main &&
		load_relaxed(wefti_mutex_owner(m)) == wefti_pt_pid());
}

static inline int wefti_mutex_is_mine(const pthread_mutex_t *m)
{
	if (wefti_mutex_is_shared(m))
		return wefti_guard() ? wefti_mutex_is_shared_mine(m) :
				       load_relaxed(wefti_mutex_owner(m)) == wefti_os_gettid();
	return load_relaxed(wefti_mutex_owner(m)) == wefti_pt_id();
}

/* For a mutex that is not shared. */
static inline void wefti_mutex_own_here(pthread_mutex_t *m)
{
	store_relaxed(wefti_mutex_owner(m), wefti_pt_id());
	m->__data.__nusers++;
}

static inline void wefti_mutex_disown_here(pthread_mutex_t *m)
{
	store_relaxed(wefti_mutex_owner(m), 0);
	m->__data.__nusers--;
}

static inline void wefti_mutex_own(pthread_mutex_t *m)
{
	wefti_mutex_own_here(m);
	if (wefti_mutex_is_shared(m)) {
		store_relaxed(wefti_mutex_owner(m), wefti_guard());
		*wefti_mutex_holder(m) = wefti_shared_me();
	}
}

static inline void wefti_mutex_disown(pthread_mutex_t *m)
{
	wefti_mutex_disown_here(m);
	if (wefti_mutex_is_shared(m))
		*wefti_mutex_holder(m) = 0;
}

/* The caller locks m, which it owns. Returns 0 or an error; -1: a deadlock, as in libc. */
static inline int wefti_mutex_own_again(pthread_mutex_t *m)
{
	switch (wefti_mutex_kind(m)) {
	case PTHREAD_MUTEX_RECURSIVE_NP:
		if (m->__data.__count + 1 == 0)
			return EAGAIN;
		m->__data.__count++;
		return 0;
	case PTHREAD_MUTEX_ERRORCHECK_NP:
		return EDEADLK;
	default:
		return -1;
	}
}

/* The caller locks m, which it may own. Returns 0 or an error; -1: take it as usual. */
static inline int wefti_mutex_again(pthread_mutex_t *m)
{
	const int kind = wefti_mutex_kind(m);

	return (kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP) &&
	       wefti_mutex_is_mine(m) ? wefti_mutex_own_again(m) : -1;
}

#endif
