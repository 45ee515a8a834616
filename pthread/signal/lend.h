/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/lend.h - a kernel thread takes its thread's mask for a while
 *
 * A new program inherits the mask of the kernel thread that starts it, and that blocks
 * all signals. The program has to inherit the mask of the thread. While the kernel thread
 * has the thread's mask, the thread is inside the runtime: it is not preempted, and keeps
 * its kernel thread.
 */
#ifndef WEFT_PTHREAD_SIGNAL_LEND_H
#define WEFT_PTHREAD_SIGNAL_LEND_H

#include <unistd.h>

#include "pthread/core/started.h"
#include "pthread/signal/signal.h"

struct wefti_lent {
	int real;			/* the kernel thread has the thread's mask */
	struct wefti_thread *self;	/* inside the runtime */
	uint64_t before;
};

/* The child of a clone() that shares our memory must not enter the runtime. */
static inline struct wefti_lent wefti_lend(void)
{
	struct wefti_thread *self = wefti_pt_green();
	struct wefti_lent l = { self != NULL, NULL, 0 };

	if (self && getpid() == wefti_pt_pid())
		l.self = wefti_enter();
	if (l.real)
		l.before = wefti_signals_real_begin();
	return l;
}

static inline void wefti_take_back(struct wefti_lent l)
{
	if (l.real)
		wefti_signals_real_end(l.before);
	if (l.self)
		wefti_leave(l.self);
}

#endif
