/* SPDX-License-Identifier: MIT */
/* sched/hold.c - for others' short sections: no preemption, the VCPU stays */
#include <weft/lock.h>

#include "sched/seat.h"

/* Not wefti_known_self(): a kernel thread that is not weft's stays so. */
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
