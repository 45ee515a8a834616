/* SPDX-License-Identifier: MIT */
/* pthread/signal/unwound.h - what is done when a handler or a function is left halfway */
#ifndef WEFT_PTHREAD_SIGNAL_UNWOUND_H
#define WEFT_PTHREAD_SIGNAL_UNWOUND_H

#include "pthread/signal/signal_queue.h"

/*
 * Calls fn(arg). If that ends by a cancellation, pthread_exit() or an exception, `then`
 * is called with the same argument, also where code without unwind tables was left.
 */
void wefti_unwound_call(void (*fn)(void *arg), void *arg, void (*then)(void *arg));

/*
 * The same, for a kernel thread of libc's: libc may cancel it at each instruction of fn,
 * which only sleeps.
 */
void wefti_unwound_point(void (*fn)(void *arg), void *arg, void (*then)(void *arg));

/* Runs the handlers of signals sent to the caller, and calls `then` in the same cases. */
void wefti_unwound_signals(void (*then)(void *arg), void *arg);

/*
 * From begin() on, no handler runs where the monitor interrupts the caller, outside of
 * wefti_unwound_again(). Handlers wait for that call, or for end(), which runs them.
 */
static inline void wefti_unwound_begin(void)
{
	wefti_signal_taking();
}

static inline void wefti_unwound_end(void)
{
	(void)wefti_signal_taken();
	wefti_signals_run_any();
}

/* As wefti_unwound_signals(), from a begin() to its end(): what comes behind it waits. */
void wefti_unwound_again(void (*then)(void *arg), void *arg);

#endif
