/* SPDX-License-Identifier: MIT */
/* os/signal/retry.h - sends this kernel thread the preemption signal again, soon */
#ifndef WEFT_OS_SIGNAL_RETRY_H
#define WEFT_OS_SIGNAL_RETRY_H

#include <signal.h>

/* Each kernel thread has its own. Zero-filled: it has asked for no retry. */
struct wefti_os_retry {
	int timer;		/* the kernel's number plus 1; -1: there can be none */
	unsigned tries;		/* since done() */
};

/*
 * Called in a handler: the signal comes after about 30 us, and later the more often this
 * was called. A pending retry is put off. If there can be no timer, no signal comes.
 */
void wefti_os_retry_soon(struct wefti_os_retry *r);

static inline void wefti_os_retry_done(struct wefti_os_retry *r)
{
	r->tries = 0;
}

/* Is it a signal of such a timer? */
int wefti_os_retry_is(const siginfo_t *info);
void wefti_os_retry_end(struct wefti_os_retry *r);

#endif
