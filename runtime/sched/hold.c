/* SPDX-License-Identifier: MIT */
/* sched/hold.c - weft_preempt_off(): no preemption, and the thread keeps its VCPU */
#include <weft/lock.h>

#include "sched/seat.h"

/* Not wefti_known_self(): a kernel thread without a struct does not get one here. */
void *weft_preempt_off(void)
{
	struct wefti_thread *self = wefti_self();

	return self ? wefti_enter() : NULL;
}

void weft_preempt_on(void *held)
{
	if (held)
		wefti_leave(held);
}
