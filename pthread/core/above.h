/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/above.h - what lower rooms have done by higher ones
 *
 * The only calls that go up (tools/layers.txt), in one table, which is a constant:
 * another library's constructor may make a thread before ours has run, so nobody could
 * fill it in time. pthread/init/above.c says by whom each is done.
 */
#ifndef WEFT_PTHREAD_CORE_ABOVE_H
#define WEFT_PTHREAD_CORE_ABOVE_H

#include <signal.h>

typedef void wefti_above_fn(void);

struct wefti_above {
	/* core/real.c: libc's functions have been found. */
	wefti_above_fn *libc_is_found;
	/* core/started.c: as wefti_pt_start(), where the runtime is off. */
	int (*start)(void);

	/* signal/signal.c, on the receiver: it begins; it was woken, for whatever. */
	wefti_above_fn *receiver_begins;
	wefti_above_fn *const *receiver_looks;	/* NULL: the last */
	/* ... a descriptor's owner was sent its signal. */
	void (*owner_signalled)(const siginfo_t *info);

	/* ... in a green thread: it was interrupted, whatever for; handlers have run. */
	wefti_above_fn *thread_looks;
	wefti_above_fn *handlers_ran;
	/* ... a kernel thread is about to make a process or to become a program. */
	wefti_above_fn *becomes_process;
};

extern const struct wefti_above wefti_above __attribute__((visibility("hidden")));

#endif
