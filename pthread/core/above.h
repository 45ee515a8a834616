/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/above.h - calls from lower rooms to higher ones
 *
 * These are the only calls that go up (tools/layers.txt). They are in one table, which is
 * a constant: another library's constructor may make a thread before ours has run, so the
 * table could not be filled in time. pthread/init/above.c says which function each is.
 */
#ifndef WEFT_PTHREAD_CORE_ABOVE_H
#define WEFT_PTHREAD_CORE_ABOVE_H

#include <signal.h>

typedef void wefti_above_fn(void);

struct wefti_above {
	/* core/real.c: libc's functions have been found. */
	wefti_above_fn *libc_is_found;
	/* core/started.c: wefti_pt_start() while the runtime is off, or steps aside. */
	int (*start)(void);

	/* signal/signal.c, on the receiver: when it begins; each time it was woken. */
	wefti_above_fn *receiver_begins;
	wefti_above_fn *const *receiver_woken;	/* NULL: the last */
	/* ... when a descriptor's owner was sent its signal. */
	void (*owner_signalled)(const siginfo_t *info);

	/* ... in a green thread: each time it was interrupted; when handlers have run. */
	wefti_above_fn *thread_interrupted;
	wefti_above_fn *handlers_ran;
	/* ... before a kernel thread makes a process or executes a program. */
	wefti_above_fn *becomes_process;
};

extern const struct wefti_above wefti_above __attribute__((visibility("hidden")));

#endif
