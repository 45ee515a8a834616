/* SPDX-License-Identifier: MIT */
/* sync/mutex_age.h - how long a waiter of an adaptive mutex has waited */
#ifndef WEFT_SYNC_MUTEX_AGE_H
#define WEFT_SYNC_MUTEX_AGE_H

#include "os/call/clock.h"
#include "sync/mutex.h"

#define WEFTI_PATIENCE_NS	1000000		/* after this long, unlock hands over */

/* A cheap clock, if there is one; only differences are used. */
static inline uint64_t wefti_age_now(void)
{
	return wefti_os_cycles_are_reliable() ? wefti_arch_cycles() :
						(uint64_t)wefti_os_now_ns();
}

/* Called before the node is in the line of m. A strict mutex needs no age. */
static inline void wefti_age_begin(const struct wefti_mutex *m,
				   struct wefti_node *node)
{
	if (m->policy != WEFT_MUTEX_STRICT)
		node->stamp = wefti_age_now();
}

/* Not NULL: it says whether a waiter is old, in the place of the clock. Set by the start. */
typedef int wefti_age_fn(void);
extern _Atomic(wefti_age_fn *) wefti_age_hook;	/* mutex.c */

static inline int wefti_age_is_over(const struct wefti_node *oldest)
{
#if !defined(WEFT_MODEL)
	wefti_age_fn *hook = load_relaxed(&wefti_age_hook);

	if (unlikely(hook))
		return hook();
#endif
	int64_t age = (int64_t)(wefti_age_now() - load_relaxed(&oldest->data));

	if (age > 0 && wefti_os_cycles_are_reliable())
		age = (int64_t)wefti_os_cycles_to_ns((uint64_t)age);
	return age >= WEFTI_PATIENCE_NS;
}

#endif
