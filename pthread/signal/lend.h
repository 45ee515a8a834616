/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/lend.h - a kernel thread has its thread's mask for a while
 *
 * A program inherits the mask of the kernel thread that makes it, which blocks
 * all; it is to inherit that of the thread. While that is the real one, the
 * thread is inside the runtime: it is not preempted and keeps its kernel
 * thread.
 */
#ifndef WEFT_PTHREAD_SIGNAL_LEND_H
#define WEFT_PTHREAD_SIGNAL_LEND_H

#include <unistd.h>

#include "pthread/core/started.h"
#include "pthread/signal/signal.h"

struct wefti_lent {
	int real;			/* the mask is */
	struct wefti_thread *self;	/* inside the runtime */
	uint64_t before;
};

/* The child of a clone() that shares our memory must not enter. */
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
