/* SPDX-License-Identifier: MIT */
/*
 * sched/again.c - the preemption signal comes once more to a thread without a VCPU
 *
 * Structure
 *   runtime.again is a stack of kernel threads, linked by kthread.again_next. The monitor
 *   takes the whole stack at each look.
 *
 * States of kthread.again
 *   NONE      not in the stack
 *   WANTED    in the stack, and the signal is wanted
 *   UNWANTED  in the stack; its thread has left the kernel thread
 *
 *   NONE --ask, then a push--> WANTED --leaves--> UNWANTED --ask--> WANTED
 *   WANTED, UNWANTED --the monitor has taken it out--> NONE; if it was WANTED the
 *   signal is sent then
 *
 * Writers
 *   kthread.again  wefti_again_ask, wefti_again_leaves, wefti_again_signal_all
 *   runtime.again  wefti_again_ask, wefti_again_signal_all;
 *       spare.c: wefti_spares_reset
 *
 * Invariants
 *   I1  Only the kernel thread itself goes from NONE to WANTED, and only then it pushes
 *       itself. So it is in the stack at most once.
 *   I2  The monitor reads the link before it sets NONE, and sends the signal after
 *       that. So a handler that finds WANTED is followed by another, and one that finds
 *       NONE pushes, and wakes the monitor (of monitor.c: P1).
 *   I3  The monitor takes all out before it frees a kernel thread's record.
 *
 * Linearization
 *   A request: at the xchg to WANTED. Its end: at the xchg to NONE.
 *
 * Progress
 *   A push is lock-free, all else is wait-free.
 *
 * ABA and reclamation
 *   The monitor takes the whole stack by one xchg, so there is no ABA. I3 has the rest.
 *
 * Pairs
 *   None: all operations but the look for an empty stack are seq_cst. A push that this
 *   look misses is found at the next one (of monitor.c: P1). Model: the scenario `again`
 *   in tests/model/loom/c/spare.c.
 *
 * Source
 *   Ours.
 */
#include "sched/again.h"

#include "os/call/tid.h"
#include "os/signal/signal.h"
#include "sched/monitor.h"

/*
 * There is nothing to ask if the thread is carried by another kernel thread: it has a
 * VCPU then, and `attention` is only a mark that the monitor has not yet taken back.
 */
void wefti_again_ask(struct wefti_kthread *k)
{
	struct wefti_kthread *top = load_relaxed(&wefti_rt.again);

	if (k->tid != wefti_os_gettid() ||
	    xchg_seq_cst(&k->again, WEFTI_AGAIN_WANTED) != WEFTI_AGAIN_NONE)
		return;
	do {
		k->again_next = top;
	} while (!cas_weak_seq_cst(&wefti_rt.again, &top, k));
	wefti_monitor_wake_if_asleep();
}

void wefti_again_signal_all(void)
{
	struct wefti_kthread *next, *k = NULL;

	if (load_relaxed(&wefti_rt.again))
		k = xchg_seq_cst(&wefti_rt.again, NULL);
	for (; k; k = next) {
		next = k->again_next;
		if (xchg_seq_cst(&k->again, WEFTI_AGAIN_NONE) ==
		    WEFTI_AGAIN_WANTED)
			wefti_os_kthread_signal(k->tid,
						wefti_os_preempt_signal());
	}
}
