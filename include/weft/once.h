/* SPDX-License-Identifier: MIT */
/* weft/once.h - do something once in a process */
#ifndef WEFT_ONCE_H
#define WEFT_ONCE_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_once {
	uint64_t weft_private[4];
};

#define WEFT_ONCE_INIT	{ { 0, 0, 0, 0 } }

/*
 * weft_once, weft_once_until - run a function unless it has been run
 *
 *   fn        returns 0 when done; else another caller runs it again
 *   arg       handed to fn
 *   deadline  how long to wait for another caller who runs it
 *
 * Returns 0 when fn has been run, what fn returned if the caller ran it, else
 *   -EDEADLK    fn of this once called it again
 *   -ETIMEDOUT  another caller has not finished it before the deadline
 *   -EAGAIN     the same, with WEFT_NO_WAIT
 *   -ENOMEM     as for weft_mutex_lock()
 *
 * Blocks     may park. Not cancelled.
 * Orders     fn happens before every return of 0.
 * Progress   lock-free, but for fn. While a kernel thread is stopped in the end
 *            of a run, or in a call whose time is over, those that wait can be
 *            woken late.
 * Since      0.1
 */
WEFT_API int weft_once(struct weft_once *once, int (*fn)(void *arg),
	void *arg);
WEFT_API WEFT_MUST_USE int weft_once_until(struct weft_once *once,
	int (*fn)(void *arg), void *arg, int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif
