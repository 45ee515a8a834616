/* SPDX-License-Identifier: MIT */
/* sched/stuck.h - deadlines at a home whose server was stopped */
#ifndef WEFT_SCHED_STUCK_H
#define WEFT_SCHED_STUCK_H

#include "sched/vcpu.h"

/*
 * The monitor, at each look. Returns how many homes are marked; while there are
 * any it must look again.
 */
unsigned wefti_stuck_look(int64_t now);

#endif
