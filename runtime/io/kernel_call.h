/* SPDX-License-Identifier: MIT */
/*
 * io/kernel_call.h - the end of a call that the kernel does for a waiting thread
 *
 * Structure
 *   A struct on the stack of the waiting thread. Its address goes through the kernel to
 *   the kernel thread that takes the call's result.
 *
 * States
 *   BEGUN --the thread parks--> WAITED --the result is taken--> DONE
 *   BEGUN --the result is taken--> DONE
 *
 * Writers
 *   kernel_call.state  wefti_kernel_call_done, wefti_kernel_call_wait
 *
 * Invariants
 *   I1  The kernel returns each call once, and the kernel thread that takes it makes it
 *       DONE.
 *   I2  A call that becomes DONE from BEGUN is not touched again by the taker: its
 *       thread may be gone. A call that was WAITED is touched until its thread is
 *       woken.
 *
 * Linearization
 *   The end of the call: at the exchange that makes it DONE.
 *
 * Progress
 *   Wait-free.
 *
 * ABA and reclamation
 *   By I1 and I2 no other thread has the address when the thread goes on.
 *
 * Pairs
 *   P1  done: result; xchg(DONE)  ->  wait: xchg(WAITED), or the end of its park
 *   P2  wait: thread, seq; xchg(WAITED)  ->  done: xchg(DONE)
 *
 * Source
 *   Two sides exchange a word, and the second one acts: a one-shot future.
 */
#ifndef WEFT_IO_KERNEL_CALL_H
#define WEFT_IO_KERNEL_CALL_H

#include <stdint.h>

#include "sched/park.h"

enum { WEFTI_CALL_BEGUN, WEFTI_CALL_WAITED, WEFTI_CALL_DONE };

/* Zero-filled: begun. */
struct wefti_kernel_call {
	_Atomic uint32_t state;
	struct wefti_thread *thread;	/* P2 */
	uint64_t seq;
	int64_t result;			/* P1 */
};

/*
 * Called by the thread, inside the runtime. Parks until the call is done; returns its
 * result.
 */
static inline int64_t wefti_kernel_call_wait(struct wefti_kernel_call *c,
					     struct wefti_thread *self)
{
	c->thread = self;
	c->seq = wefti_park_begin(self, 0, WEFTI_WHY_DISK, NULL);
	if (xchg_seq_cst(&c->state, WEFTI_CALL_WAITED) ==	/* P1, P2 */
	    WEFTI_CALL_DONE)
		wefti_park_end(self);
	else
		(void)wefti_park(self, INT64_MAX);
	return c->result;
}

/* Called inside the runtime by the taker of the result. */
static inline void wefti_kernel_call_done(struct wefti_kernel_call *c,
					  int64_t result)
{
	c->result = result;
	if (xchg_seq_cst(&c->state, WEFTI_CALL_DONE) ==		/* P1, P2 */
	    WEFTI_CALL_WAITED)
		wefti_unpark(c->thread, c->seq, WEFTI_CAUSE_WOKEN);
}

#endif
