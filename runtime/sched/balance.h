/* SPDX-License-Identifier: MIT */
/* sched/balance.h - a thread whose slice is over moves where it gets a fair share */
#ifndef WEFT_SCHED_BALANCE_H
#define WEFT_SCHED_BALANCE_H

#include "sched/vcpu.h"

/*
 * Running -> ready, behind the other threads of its VCPU; or, where another VCPU has
 * fewer threads, in the injection queue, behind those of all. Returns when the thread
 * runs again; at once if no other is ready. May park. Called by the thread itself,
 * inside the runtime.
 */
void wefti_balance_yield(struct wefti_thread *self);

#endif
