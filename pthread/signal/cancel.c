/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/cancel.c - cancellation of threads
 *
 * pthread/signal/interrupt.c interrupts a thread that blocks in the kernel.
 *
 * To act is to call libc's own pthread_exit(). Its forced unwinding runs cleanup handlers
 * and C++ destructors, up to the frame that began the thread.
 *
 * libc has cancellation points that we do not see: the write(2) of a fflush(), the
 * open(2) of a fopen(). They look at a word of the thread's control block. In it a green
 * thread is EXITING, so libc leaves it alone. A thread that has to act on a cancellation
 * replaces EXITING by CANCELED itself: it *shows* the cancellation to libc. So libc acts at
 * its next point. That point is one that libc has for its own threads too, or one in a
 * function of ours that calls libc outside the runtime. (Inside, WEFTI_NO_POINT() hides it.) A thread
 * that computes shows it in the runtime's handler. A thread that waited, or had no VCPU,
 * shows it where its call ends, or where it begins (wefti_signals_run_any()). libc sets
 * EXITING when it acts. Our code learns of that at its next look, or where the unwinding
 * lands.
 *
 * Rejected: to act where the runtime's signal finds the thread at such a system call. A
 * thread that seldom writes would seldom be found there.
 *
 * Structure (in struct wefti_pt)
 *   urgent           ASKED: the thread was cancelled. CANCEL: it has to act on that; this
 *                    is the bit that interrupts waits.
 *   cancel_disabled  the thread must not act now
 *   libc's word      CANCELED, EXITING: what libc's own points see
 *
 * States
 *   LIVE     neither bit
 *   ASKED    ASKED alone: cancellation is disabled
 *   DUE      ASKED and CANCEL
 *   ENDS     the thread unwinds, or ends; disabled for good
 *
 *   LIVE --pthread_cancel--> DUE; ASKED, if it is disabled
 *   ASKED --it is enabled--> DUE
 *   DUE --it is disabled--> ASKED
 *   DUE --wefti_cancel_act--> ENDS
 *   LIVE, ASKED, DUE --the thread exits--> ENDS
 *
 * Writers
 *   pt.cancel_disabled  pthread_setcancelstate, wefti_cancel_end
 *   pt.urgent  act_on_asked, pthread_cancel, pthread_setcancelstate,
 *       wefti_cancel_act, wefti_cancel_end; jump.c: go_back;
 *       self.c: wefti_pt_urge; signal_queue.c: mark_rest, wefti_signal_get,
 *       mark; wait/fd_wait.c: park
 *   *libcs_word()  wefti_cancel_hide, wefti_cancel_show
 *
 * Invariants
 *   I1  ASKED is never cleared.
 *   I2  While ASKED is set and cancellation is enabled, CANCEL is set, or a thread is
 *       about to set it: the cancelling one or the target (P1).
 *   I3  CANCEL may be set although cancellation is disabled, if both happened at once.
 *       The next cancellation point then takes it back, and does not act.
 *   I4  Only libc and the thread itself, outside the runtime, change libc's word. The
 *       thread's CANCELED is set only while cancel_shown is.
 *   I5  libc has for the first thread the state and the type of cancellation that the
 *       thread has set; for all others, enabled and deferred, until they end.
 *
 * Linearization
 *   pthread_cancel(), where it sets ASKED. The end is decided where wefti_cancel_act()
 *   finds cancellation enabled.
 *
 * Progress
 *   Wait-free, but for the interruption of a wait (wefti_pt_urge()).
 *
 * ABA and reclamation
 *   A thread's words lie in its TLS. A pthread_t that was joined, or has ended detached,
 *   may be another thread's: POSIX leaves that undefined.
 *
 * Pairs (all seq_cst)
 *   P1  the cancelling thread sets ASKED, then loads cancel_disabled; the target enables
 *       cancellation, then loads ASKED: one of them sees the other's store
 *   Model: tests/model/loom/c/pt_cancel.c, with self.c's wefti_pt_urge().
 *
 * Source
 *   The cancellation points and types are POSIX's; libc's word and the unwinding are
 *   glibc's (nptl/cancellation.c). The rest is ours.
 */
#include "pthread/signal/cancel.h"

#include <errno.h>

#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal_queue.h"
#include "thread/thread.h"
#include "weft/runtime.h"

/* What wefti_pt.cancel_shown says. */
#define SHOWN		1u
#define WAS_EXITING	2u	/* libc's word has to say so again */

static _Atomic uint32_t *libcs_word(void)
{
	return wefti_tls_field(wefti_arch_tp_get(),
			       wefti_tls_layout.pthread_cancelhandling);
}

/* Not before the first start, perhaps. Then what was shown stays shown. */
static int is_word_known(void)
{
	return wefti_tls_layout.pthread_cancelhandling != 0;
}

/* Is libc acting on the cancellation that was shown to it? */
static int libc_acts(void)
{
	const uint32_t both = WEFTI_TLS_CANCELED | WEFTI_TLS_EXITING;

	return wefti_pt.cancel_shown && is_word_known() &&
	       (load_relaxed(libcs_word()) & both) == both;
}

/*
 * While the runtime is off, libc itself shows the cancellation: a process with one thread
 * looks for one only after it has cancelled itself.
 */
void wefti_cancel_show(void)
{
	const int is_off = wefti_pt_is_off();

	if ((!is_off && !wefti_pt_green()) || wefti_pt.exiting || libc_acts())
		return;
	wefti_pt.cancel_shown |= SHOWN;
	if (is_word_known() &&
	    fetch_and_seq_cst(libcs_word(), ~WEFTI_TLS_EXITING) & WEFTI_TLS_EXITING)
		wefti_pt.cancel_shown |= WAS_EXITING;
	if (is_off)
		(void)!REAL(pthread_cancel)(pthread_self());
	else
		fetch_or_seq_cst(libcs_word(), WEFTI_TLS_CANCELED);
}

void wefti_cancel_hide(void)
{
	if (!wefti_pt.cancel_shown || !is_word_known() || libc_acts())
		return;
	if (wefti_pt.cancel_shown & WAS_EXITING)
		fetch_or_seq_cst(libcs_word(), WEFTI_TLS_EXITING);
	fetch_and_seq_cst(libcs_word(), ~WEFTI_TLS_CANCELED);
	wefti_pt.cancel_shown = 0;
}

void wefti_cancel_act(void)
{
	if (libc_acts()) {
		wefti_cancel_end();
		return;
	}
	wefti_cancel_hide();
	if (load_seq_cst(&wefti_pt.cancel_disabled)) {
		fetch_and_seq_cst(&wefti_pt.urgent, ~WEFTI_URGENT_CANCEL);
		return;
	}
	pthread_exit(PTHREAD_CANCELED);
}

void *wefti_cancel_landed(void)
{
	struct wefti_thread *self = wefti_self();

	if (!libc_acts())
		return wefti_pt.result;
	while (self && self->cold->block_depth > 0)
		weft_block_end();
	wefti_pt.ends = 0;
	wefti_pt.cancel_held = 0;
	wefti_cancel_end();
	return wefti_pt.result = PTHREAD_CANCELED;
}

/*
 * Has libc to know how the caller may be cancelled? What the first thread has told it
 * before the start stays in force for libc's own points.
 */
static int is_told_to_libc(void)
{
	return wefti_pt_is_libcs() || wefti_self()->kind == WEFTI_KIND_MAIN;
}

/*
 * From here on it is libc that says how the thread may be cancelled: glibc 2.43 changes
 * both at the exit, as POSIX of 2024 has it.
 */
static void begin_end(void)
{
	wefti_pt.exiting = 1;
	if (is_told_to_libc() || libc_acts())
		return;
	if (wefti_pt.cancel_told)
		(void)!REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, NULL);
	if (wefti_pt.cancel_async)
		(void)!REAL(pthread_setcanceltype)(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

void wefti_cancel_end(void)
{
	wefti_cancel_hide();
	if (!wefti_pt.exiting)
		begin_end();
	store_relaxed(&wefti_pt.cancel_disabled, 1);	/* I3: another may see it late */
	if (unlikely(wefti_pt_is_urgent(WEFTI_URGENT_CANCEL)))
		fetch_and_seq_cst(&wefti_pt.urgent, ~WEFTI_URGENT_CANCEL);
}

EXPORT int pthread_cancel(pthread_t thread)
{
	struct wefti_thread *t = wefti_pt_thread(thread);
	struct wefti_pt *pt;

	if (wefti_is_aside())
		return REAL(pthread_cancel)(thread);
	/* The first thread of a program without others may become green. */
	if (!t && (thread != pthread_self() || !wefti_pt_is_off()))
		return REAL(pthread_cancel)(thread);
	pt = t ? wefti_pt_of(t) : &wefti_pt;
	fetch_or_seq_cst(&pt->urgent, WEFTI_URGENT_ASKED);	/* P1 */
	if (load_seq_cst(&pt->cancel_disabled))			/* P1 */
		return 0;
	if (t) {
		wefti_pt_urge(t, WEFTI_URGENT_CANCEL);
	} else {
		fetch_or_seq_cst(&pt->urgent, WEFTI_URGENT_CANCEL);
	}
	if (pt == &wefti_pt && wefti_cancel_is_async())
		wefti_cancel_act();
	else if (pt == &wefti_pt)
		wefti_cancel_show();
	return 0;
}

/* A cancellation that was asked for while disabled has to be acted on now. */
static void act_on_asked(void)
{
	if (load_seq_cst(&wefti_pt.urgent) & WEFTI_URGENT_ASKED)	/* P1 */
		fetch_or_seq_cst(&wefti_pt.urgent, WEFTI_URGENT_CANCEL);
	wefti_cancel_point_async();
	if (wefti_pt_is_urgent(WEFTI_URGENT_CANCEL))
		wefti_cancel_show();
}

EXPORT int pthread_setcancelstate(int state, int *old)
{
	if (wefti_is_aside())
		return REAL(pthread_setcancelstate)(state, old);
	if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
		return EINVAL;
	if (wefti_pt.exiting)
		return REAL(pthread_setcancelstate)(state, old);
	if (old)
		*old = wefti_pt.cancel_told ? PTHREAD_CANCEL_DISABLE :
					      PTHREAD_CANCEL_ENABLE;
	wefti_pt.cancel_told = state == PTHREAD_CANCEL_DISABLE;
	if (is_told_to_libc())
		(void)!REAL(pthread_setcancelstate)(state, NULL);
	/* P1, with act_on_asked() */
	store_seq_cst(&wefti_pt.cancel_disabled,
		      state == PTHREAD_CANCEL_DISABLE);
	if (state == PTHREAD_CANCEL_DISABLE)
		wefti_cancel_hide();
	if (state == PTHREAD_CANCEL_DISABLE)
		fetch_and_seq_cst(&wefti_pt.urgent, ~WEFTI_URGENT_CANCEL);
	else
		act_on_asked();
	return 0;
}

EXPORT int pthread_setcanceltype(int type, int *old)
{
	if (wefti_is_aside())
		return REAL(pthread_setcanceltype)(type, old);
	if (type != PTHREAD_CANCEL_DEFERRED &&
	    type != PTHREAD_CANCEL_ASYNCHRONOUS)
		return EINVAL;
	if (wefti_pt.exiting)
		return REAL(pthread_setcanceltype)(type, old);
	if (old)
		*old = wefti_pt.cancel_async ? PTHREAD_CANCEL_ASYNCHRONOUS :
					       PTHREAD_CANCEL_DEFERRED;
	if (is_told_to_libc())
		(void)!REAL(pthread_setcanceltype)(type, NULL);
	wefti_pt.cancel_async = type == PTHREAD_CANCEL_ASYNCHRONOUS;
	wefti_cancel_point_async();
	return 0;
}

EXPORT void pthread_testcancel(void)
{
	if (wefti_pt_is_libcs())
		REAL(pthread_testcancel)();
	wefti_cancel_point();
}
