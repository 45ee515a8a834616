/* SPDX-License-Identifier: MIT */
/* sched/stuck.h - deadlines in a heap whose server was stopped */
#ifndef WEFT_SCHED_STUCK_H
#define WEFT_SCHED_STUCK_H

#include "sched/vcpu.h"

/*
 * Called by the monitor at each look. Returns how many homes are stuck; while there
 * are any, the monitor must look again.
 */
unsigned wefti_stuck_find(int64_t now);

#endif
