/* SPDX-License-Identifier: MIT */
/* sched/balance.h - at a slice's end a VCPU takes its share of all threads */
#ifndef WEFT_SCHED_BALANCE_H
#define WEFT_SCHED_BALANCE_H

#include "sched/vcpu.h"

/*
 * Running -> ready, behind the other threads of its VCPU. If another VCPU has many more
 * threads, or is behind, some of them come to this one first. Returns when the thread runs
 * again; at once if no other is ready. May park. Called by the thread itself, inside the
 * runtime.
 */
void wefti_balance_yield(struct wefti_thread *self);

/*
 * The thread that v runs behind self. The slice of self is over and charged, and self is
 * not ready yet. NULL: no other is ready. *published: threads that were elsewhere, or were
 * taken out of a queue, are in the queues of v now, and the caller announces them. Called by
 * the kernel thread that carries v.
 */
struct wefti_thread *wefti_balance_next(struct wefti_vcpu *v, struct wefti_thread *self,
					int *published);

/* The number of threads of the VCPU with the most. */
unsigned wefti_balance_most(void);

/* Would another thread run if v were free? */
int wefti_balance_others_wait(struct wefti_vcpu *v);

/* Has v so few threads that it takes some from a VCPU with `most`, at a slice's end? */
int wefti_balance_is_behind(struct wefti_vcpu *v, unsigned most);

#endif
