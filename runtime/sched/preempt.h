/* SPDX-License-Identifier: MIT */
/* sched/preempt.h - a thread that computes past its slice is stopped */
#ifndef WEFT_SCHED_PREEMPT_H
#define WEFT_SCHED_PREEMPT_H

#include <signal.h>
#include <ucontext.h>

#include "sched/vcpu.h"

void wefti_preempt_init(void);	/* once a process */
void wefti_preempt_start(void);	/* in the child of a fork, again */

/*
 * By the monitor: asks v's thread, which was t, to give way at once. Returns 0
 * if t is of a kind that cannot be stopped anywhere (light).
 */
int wefti_preempt(struct wefti_vcpu *v, struct wefti_thread *t);

/* By the monitor: t, which runs, has been asked often, and may not be stopped. */
int wefti_preempt_is_refused(struct wefti_thread *t);

/*
 * By anybody: t is to come through the hook. If it runs now and can be stopped
 * where it is, it does so at once, else at one of the monitor's looks, as long
 * as it computes without a call that asks what the hook would.
 */
void wefti_preempt_insist(struct wefti_thread *t);

/*
 * By the thread, before it does what the hook would, as when it has been woken for
 * that: nobody insists any more. Who does gives a reason first, then insists.
 */
void wefti_preempt_heard(struct wefti_thread *self);

/* By the monitor, which has taken t's VCPU: if somebody insists on t. */
void wefti_preempt_taken(struct wefti_thread *t);

/* By the monitor: those without a VCPU who could not wait for one. */
void wefti_preempt_again(void);

/* By a thread that leaves k, and has been asked. */
static inline void wefti_preempt_leaves(struct wefti_kthread *k)
{
	uint32_t wanted = WEFTI_AGAIN_WANTED;

	(void)cas_seq_cst(&k->again, &wanted, WEFTI_AGAIN_UNWANTED);
}

/*
 * Called by the handler when the thread goes on, outside the runtime, with the
 * thread's errno kept, where it goes on, and the signal that has come for the program
 * (NULL: none); set by a layer above, NULL: nothing.
 */
typedef void wefti_preempt_hook_fn(ucontext_t *uc, const siginfo_t *info);

extern _Atomic(wefti_preempt_hook_fn *) wefti_preempt_hook;

/*
 * Asked by the handler, inside the runtime, by a thread that is to give way: 1,
 * and it keeps its VCPU until it is asked again, at one of the monitor's looks;
 * set by a layer above, NULL: 0. Of a light thread nobody asks.
 */
typedef int wefti_preempt_keeps_fn(void);

extern _Atomic(wefti_preempt_keeps_fn *) wefti_preempt_keeps;

/*
 * Asked in a handler, of a thread that is on a stack which is not its own: where else
 * it is to be handled, so that the thread can be stopped there; set by a layer above,
 * NULL, or no bytes: nowhere.
 */
struct wefti_preempt_room {
	uintptr_t low;
	size_t bytes;
};

typedef struct wefti_preempt_room wefti_preempt_room_fn(void);

extern _Atomic(wefti_preempt_room_fn *) wefti_preempt_room;

#endif
