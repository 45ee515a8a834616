/* SPDX-License-Identifier: MIT */
/* os/signal/retry.h - this kernel thread is sent the preemption signal again, soon */
#ifndef WEFT_OS_SIGNAL_RETRY_H
#define WEFT_OS_SIGNAL_RETRY_H

#include <signal.h>

/* A kernel thread's own. Zero-filled: it has asked for none. */
struct wefti_os_retry {
	int timer;		/* the kernel's number and 1; -1: there can be none */
	unsigned tries;		/* since done() */
};

/*
 * In a handler: after some 30 us, and later the more often it has been asked. One that
 * is there already is put off. Where there is no timer nothing comes.
 */
void wefti_os_retry_soon(struct wefti_os_retry *r);

static inline void wefti_os_retry_done(struct wefti_os_retry *r)
{
	r->tries = 0;
}

/* Is it one of these? */
int wefti_os_retry_is(const siginfo_t *info);
void wefti_os_retry_end(struct wefti_os_retry *r);

#endif
