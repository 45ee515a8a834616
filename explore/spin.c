/* SPDX-License-Identifier: MIT */
/* explore/spin.c - spin locks: a thread that finds one taken waits, and does not spin */
#include "explore.h"

#include <errno.h>

#include "real.h"

static void point(const volatile void *l, enum wefti_ex_op op, const void *where)
{
	(void)wefti_ex_object_point((const void *)l, WEFTI_EX_SPIN, op, where);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_spin_lock)(l);
	point(l, WEFTI_EX_LOCK, CALLER);
	while ((error = REAL(pthread_spin_trylock)(l)) == EBUSY)
		(void)wefti_ex_block(wefti_ex_self, (const void *)l, WEFTI_EX_NEVER);
	if (!error)
		wefti_ex_take(wefti_ex_self, l);
	return error;
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *l)
{
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_spin_trylock)(l);
	point(l, WEFTI_EX_TRYLOCK, CALLER);
	error = REAL(pthread_spin_trylock)(l);
	if (!error)
		wefti_ex_take(wefti_ex_self, l);
	else
		wefti_ex_found_nothing();
	return error;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
	int error;

	if (!wefti_ex_controlled())
		return REAL(pthread_spin_unlock)(l);
	point(l, WEFTI_EX_UNLOCK, CALLER);
	wefti_ex_give(wefti_ex_self, l);
	error = REAL(pthread_spin_unlock)(l);
	wefti_ex_wake_all((const void *)l);
	return error;
}
