/* SPDX-License-Identifier: MIT */
/* sched/balance.h - a thread whose slice is over goes where it gets its share */
#ifndef WEFT_SCHED_BALANCE_H
#define WEFT_SCHED_BALANCE_H

#include "sched/vcpu.h"

/*
 * Running -> ready, behind others: those of its VCPU, or, where another VCPU has
 * fewer threads, all. Returns when the thread runs again, at once if no other is
 * ready. May park. By the thread itself, inside the runtime.
 */
void wefti_balance_yield(struct wefti_thread *self);

#endif
