/* SPDX-License-Identifier: MIT */
/*
 * sched/again.h - the preemption signal comes once more to a thread without a VCPU
 *
 * A thread that has lost its VCPU, and is to come through the hook (sched/preempt.h),
 * waits in the handler for another VCPU. It does not wait there while it may have a lock
 * of malloc's or the loader's. Its kernel thread then asks for the signal again.
 */
#ifndef WEFT_SCHED_AGAIN_H
#define WEFT_SCHED_AGAIN_H

#include "sched/vcpu.h"

/* Called in the handler: k, which carries the calling thread, is to get the signal. */
void wefti_again_ask(struct wefti_kthread *k);

/* Called by the monitor: signals the kernel threads that have asked. */
void wefti_again_signal_all(void);

/* Called by a thread that leaves k: it needs no signal any more. WANTED -> UNWANTED */
static inline void wefti_again_leaves(struct wefti_kthread *k)
{
	uint32_t wanted = WEFTI_AGAIN_WANTED;

	(void)cas_seq_cst(&k->again, &wanted, WEFTI_AGAIN_UNWANTED);
}

#endif
