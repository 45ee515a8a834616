/* SPDX-License-Identifier: MIT */
/*
 * sync/mutex_call.c - the public calls of the hand-off mutex: the short ways
 *
 * One CAS each for a mutex that nobody else wants. Everything else, and the
 * argument, is in sync/mutex.c.
 */
#include <errno.h>

#include "sched/park.h"
#include "sync/mutex.h"

static NOINLINE int lock_slow(struct weft_mutex *mutex, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = wefti_mutex_take(wefti_mutex_of(mutex), self, deadline);

	wefti_leave(self);
	return error;
}

int weft_mutex_lock(struct weft_mutex *mutex)
{
	struct wefti_mutex *m = wefti_mutex_of(mutex);
	struct wefti_thread *self = wefti_self();
	uint64_t w = 0;

	/* of mutex.c: P1 */
	if (likely(self && cas_acquire(&m->word, &w, WEFTI_MUTEX_LOCKED))) {
		store_relaxed(&m->owner, self);
		return 0;
	}
	return lock_slow(mutex, WEFT_FOREVER);
}

int weft_mutex_lock_until(struct weft_mutex *mutex, int64_t deadline)
{
	return lock_slow(mutex, deadline);
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

static NOINLINE void unlock_slow(struct wefti_mutex *m)
{
	struct wefti_thread *self = wefti_enter();

	wefti_mutex_release_slow(m);
	wefti_leave(self);
}

int weft_mutex_unlock(struct weft_mutex *mutex)
{
	struct wefti_mutex *m = wefti_mutex_of(mutex);
	uint64_t w = WEFTI_MUTEX_LOCKED;

	if (unlikely(!wefti_mutex_is_mine(m, wefti_self())))
		return -EPERM;
	store_relaxed(&m->owner, NULL);
	if (unlikely(!cas_release(&m->word, &w, 0)))	/* of mutex.c: P1 */
		unlock_slow(m);
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
