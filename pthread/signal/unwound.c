/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/unwound.c - what is done when a handler or a function is left halfway
 *
 * libc's unwinder runs cleanups by the tables of each frame. It stops at the first frame
 * without a table, and jumps from there to the buffer that was registered last. So we
 * have both: a buffer, and a cleanup for exceptions. The unwinder looks at the buffer
 * before the frame in which the buffer lies, so only one of the two runs.
 */
#include "pthread/signal/unwound.h"

#include "base/compiler.h"
#include "pthread/core/real.h"
#include "pthread/signal/signal.h"

struct frame {
	__pthread_unwind_buf_t buf;
	void (*then)(void *arg);
	void *arg;
	int is_over;
};

/* An exception has left the call. */
static void by_exception(struct frame *f)
{
	if (f->is_over)
		return;
	__pthread_unregister_cancel(&f->buf);
	f->then(f->arg);
}

NOINLINE void wefti_unwound_call(void (*fn)(void *arg), void *arg,
				 void (*then)(void *arg))
{
	__attribute__((cleanup(by_exception))) struct frame f = {
		.then = then, .arg = arg,
	};

	if (wefti_setjmp_cancel(&f.buf, 0) != 0) {
		f.is_over = 1;
		f.then(f.arg);
		__pthread_unwind_next(&f.buf);
	}
	__pthread_register_cancel(&f.buf);
	fn(arg);
	__pthread_unregister_cancel(&f.buf);
	f.is_over = 1;
}

struct point {
	void (*fn)(void *arg), (*then)(void *arg);
	void *arg;
};

/* A cancellation that libc knows of already ends the thread where the type is set. */
static void call_at_point(void *arg)
{
	const struct point *p = arg;
	int type;

	(void)!REAL(pthread_setcanceltype)(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	p->fn(p->arg);
	(void)!REAL(pthread_setcanceltype)(type, NULL);
}

static void leave_point(void *arg)
{
	const struct point *p = arg;

	p->then(p->arg);
}

void wefti_unwound_point(void (*fn)(void *arg), void *arg, void (*then)(void *arg))
{
	struct point p = { fn, then, arg };

	wefti_unwound_call(call_at_point, &p, leave_point);
}

static void run_signals(void *unused)
{
	(void)unused;
	wefti_signals_run();
}

/* Each instruction at which a handler may run is inside of the call. */
static void run_and_hold_signals(void *unused)
{
	run_signals(unused);
	wefti_unwound_begin();
}

void wefti_unwound_signals(void (*then)(void *arg), void *arg)
{
	if (unlikely(wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL)))
		wefti_unwound_call(run_signals, arg, then);
}

void wefti_unwound_again(void (*then)(void *arg), void *arg)
{
	if (unlikely(wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL)))
		wefti_unwound_call(run_and_hold_signals, arg, then);
	else
		wefti_unwound_begin();
}
