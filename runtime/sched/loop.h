/* SPDX-License-Identifier: MIT */
/* sched/loop.h - what a kernel thread does between threads */
#ifndef WEFT_SCHED_LOOP_H
#define WEFT_SCHED_LOOP_H

#include "sched/vcpu.h"

/*
 * Entry of k->sched. Returns to the kernel thread's start; the first one's never
 * returns.
 */
void wefti_loop(struct wefti_kthread *k);

/* Set by a layer above; called by a kernel thread that is about to carry a VCPU. */
typedef void wefti_carry_hook_fn(void);

extern _Atomic(wefti_carry_hook_fn *) wefti_carry_hook;

/*
 * Makes a kernel thread that starts with v. If v is NULL, it starts reserved (see
 * sched/spare.h). out may be NULL. Returns 0, -EAGAIN or -ENOMEM.
 */
int wefti_kthread_start(struct wefti_vcpu *v, struct wefti_kthread **out);

/* The parts of it that do not need the kernel thread; also used for the first one. */
struct wefti_kthread *wefti_kthread_new(void);
void wefti_kthread_free(struct wefti_kthread *k);

/*
 * The id of the kernel thread that carries v at the moment; 0: not known. For threads that
 * only look: the struct may just be freed.
 */
int wefti_kthread_carrier(const struct wefti_vcpu *v);

/*
 * k has ended. Takes it off the list, so that later walks of the list do not find it.
 */
void wefti_kthread_unlist(struct wefti_kthread *k);

#endif
