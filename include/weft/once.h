/* SPDX-License-Identifier: MIT */
/* weft/once.h - run a function once in a process */
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
 *   fn        returns 0 if it is done; after any other result, another caller
 *             runs it again
 *   arg       passed to fn
 *   deadline  how long to wait while another caller runs fn
 *
 * Returns 0 if fn has been run, or what fn returned if the caller ran it, else
 *   -EDEADLK    fn called weft_once() with the same once
 *   -ETIMEDOUT  the other caller did not finish before the deadline
 *   -EAGAIN     the same, with WEFT_NO_WAIT
 *   -ENOMEM     see weft_mutex_lock()
 *
 * Blocks     may park. Not cancelled.
 * Orders     fn happens before every return of 0.
 * Progress   lock-free, except for fn itself. If a kernel thread is stopped at the
 *            end of a run, or in a call that times out, parked threads may be woken
 *            late.
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
