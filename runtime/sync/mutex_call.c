/* SPDX-License-Identifier: MIT */
/*
 * sync/mutex_call.c - the public calls of the hand-off mutex, with their fast paths
 *
 * A mutex that no other thread wants takes one CAS for each call. Everything else, and
 * the argument, is in sync/mutex.c.
 */
#include <errno.h>

#include "sched/park.h"
#include "sched/ready.h"
#include "sync/mutex.h"

int weft_mutex_lock(struct weft_mutex *mutex)
{
	struct wefti_mutex *m = wefti_mutex_of(mutex);
	struct wefti_thread *self = wefti_self();
	uint64_t w = load_relaxed(&m->word);

	if (likely(self && !(w & WEFTI_MUTEX_LOCKED)) &&
	    cas_acquire(&m->word, &w, w | WEFTI_MUTEX_LOCKED)) { /* of mutex.c: P1 */
		store_relaxed(&m->owner, self);
		return 0;
	}
	return wefti_mutex_lock_slow(m, self ? self : wefti_foreign_self());
}

int weft_mutex_lock_until(struct weft_mutex *mutex, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = wefti_mutex_lock(wefti_mutex_of(mutex), self, deadline);

	wefti_leave(self);
	return error;
}

int weft_mutex_try_lock(struct weft_mutex *mutex)
{
	struct wefti_mutex *m = wefti_mutex_of(mutex);
	struct wefti_thread *self = wefti_known_self();

	if (!wefti_mutex_take_if_free(m))
		return -EBUSY;
	store_relaxed(&m->owner, self);
	return 0;
}

int weft_mutex_unlock(struct weft_mutex *mutex)
{
	struct wefti_mutex *m = wefti_mutex_of(mutex);
	struct wefti_thread *self = wefti_self();

	if (unlikely(!wefti_mutex_is_mine(m, self)))
		return -EPERM;
	if (unlikely(!wefti_mutex_let_go(m)))
		wefti_mutex_unlock_slow(m, self);
	return 0;
}

int weft_mutex_init(struct weft_mutex *mutex, unsigned policy)
{
	struct wefti_mutex *m = wefti_mutex_of(mutex);

	if (policy > WEFT_MUTEX_STRICT)
		return -EINVAL;
	*m = (struct wefti_mutex){ .policy = policy };
	return 0;
}

int weft_mutex_destroy(struct weft_mutex *mutex)
{
	return load_acquire(&wefti_mutex_of(mutex)->word) ? -EBUSY : 0; /* of mutex.c: P1 */
}
