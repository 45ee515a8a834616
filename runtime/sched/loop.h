/* SPDX-License-Identifier: MIT */
/* sched/loop.h - what a kernel thread does between threads */
#ifndef WEFT_SCHED_LOOP_H
#define WEFT_SCHED_LOOP_H

#include "sched/vcpu.h"

/* Entry of k->sched; returns to the kernel thread's start, or never (first). */
void wefti_loop(struct wefti_kthread *k);

/* Of a layer above; called by a kernel thread that is about to carry a VCPU. */
typedef void wefti_carry_hook_fn(void);

extern _Atomic(wefti_carry_hook_fn *) wefti_carry_hook;

/*
 * Makes a kernel thread that starts with v or, where that is NULL, reserved (see
 * sched/spare.h). out may be NULL. Returns 0, -EAGAIN or -ENOMEM.
 */
int wefti_kthread_start(struct wefti_vcpu *v, struct wefti_kthread **out);

/* Its parts that do not need the kernel thread; also for the first one. */
struct wefti_kthread *wefti_kthread_new(void);
void wefti_kthread_free(struct wefti_kthread *k);

/* k has ended, and is not found any more by who looks at all. */
void wefti_kthread_unlist(struct wefti_kthread *k);

#endif
