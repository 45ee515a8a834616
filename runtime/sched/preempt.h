/* SPDX-License-Identifier: MIT */
/*
 * sched/preempt.h - stops a thread that computes past its slice
 *
 * A layer above may have something for a thread that computes: a hook, which the
 * handler calls when the thread goes on. A signal that meets the thread inside the
 * runtime does nothing. So the request stays marked in the thread's body
 * (preempt_insists) until the hook is called, and the monitor sends the signal again at
 * each look. A thread that has lost its VCPU while it blocked in the kernel may compute
 * by now: it waits in the handler for another VCPU. The taker of the VCPU sends its
 * kernel thread a signal, and so does the insisting thread: one of the two sees what
 * the other has stored (P1). That signal is sent once. If it comes during the handler
 * it is handled after it (os/signal/signal.c). If it meets the thread inside the runtime, the
 * thread is on its way to a VCPU, where the monitor finds it. (A post in a handler of
 * the program's is not on its way to one, see wefti_enter_anywhere(): a signal during
 * that has its effect at the thread's next call.) A thread that may be in malloc does
 * not wait for a VCPU with malloc's lock held. Its kernel thread asks for the signal
 * again (sched/again.c).
 *
 * The hook may run a handler of the program's, which may wait. So it is not called
 * where the thread may hold a lock of malloc's or the loader's (sched/busy.c), but at
 * the next look. A signal of the program's that comes to the carrier (os/signal/caught.h) is
 * treated like ours, but ends no slice, and is given back where the hook cannot be
 * called.
 *
 * A layer above may let a thread keep its VCPU past its slice. The handler asks it each
 * time, so it costs nothing where no slice ends; the hook is called all the same. The
 * monitor takes the VCPU of such a thread too, when it blocks in the kernel.
 */
#ifndef WEFT_SCHED_PREEMPT_H
#define WEFT_SCHED_PREEMPT_H

#include <signal.h>
#include <ucontext.h>

#include "sched/vcpu.h"

void wefti_preempt_init(void);	/* once in a process */
void wefti_preempt_start(void);	/* and again in the child of a fork */

/*
 * Called by the monitor: asks v's thread, which was t, to give way at once. Returns 0
 * if t is of a kind that cannot be stopped anywhere (light).
 */
int wefti_preempt(struct wefti_vcpu *v, struct wefti_thread *t);

/*
 * Called by the monitor: t, which runs, has been asked often and was never in a place
 * where it may be stopped.
 */
int wefti_preempt_is_refused(struct wefti_thread *t);

/*
 * Any thread may call it: t is to come through the hook. If t runs now and can be
 * stopped where it is, it does so at once. Otherwise it does so at one of the monitor's
 * looks, as long as it computes without making a call that does what the hook would.
 */
void wefti_preempt_insist(struct wefti_thread *t);

/*
 * Called by the thread before it does itself what the hook would, as when it has been
 * woken for that: the request is cleared. A thread that insists stores its reason
 * first, then insists.
 */
void wefti_preempt_heard(struct wefti_thread *self);

/*
 * Called by the monitor, which has taken t's VCPU: sends the signal if a thread insists
 * on t.
 */
void wefti_preempt_taken(struct wefti_thread *t);

/*
 * Called by the handler when the thread goes on, outside the runtime, with the thread's
 * errno saved. uc is where the thread goes on; info is the signal that has come for the
 * program, or NULL. Set by a layer above; NULL: none.
 */
typedef void wefti_preempt_hook_fn(ucontext_t *uc, const siginfo_t *info);

extern _Atomic(wefti_preempt_hook_fn *) wefti_preempt_hook;

/*
 * Asked by the handler, inside the runtime, about a thread that is to give way. Returns
 * 1: the thread keeps its VCPU until it is asked again, at one of the monitor's looks.
 * Set by a layer above; NULL: always 0. Never asked about a light thread.
 */
typedef int wefti_preempt_keeps_fn(void);

extern _Atomic(wefti_preempt_keeps_fn *) wefti_preempt_keeps;

/*
 * Asked in a handler, when the thread is on a stack that is not its own: where else the
 * signal may be handled, so that the thread can be stopped there. Set by a layer above.
 * NULL, or no bytes: nowhere.
 */
struct wefti_preempt_room {
	uintptr_t low;
	size_t bytes;
};

typedef struct wefti_preempt_room wefti_preempt_room_fn(void);

extern _Atomic(wefti_preempt_room_fn *) wefti_preempt_room;

#endif
