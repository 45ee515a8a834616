/* SPDX-License-Identifier: MIT */
/*
 * sched/switch.h - how threads leave a stack and come back to it
 *
 * A thread that leaves its VCPU stores in thread->post what is to be done with it:
 * queue it, commit its park, or take it apart. This post-switch action runs on the next
 * thread's stack, after the first thread's context is saved. No code may make the
 * thread visible to another VCPU before that.
 *
 * Ways off a stack and on to one. The thread that leaves sets `post` first; the code
 * that arrives runs the action of the thread that left.
 *
 *   +---------------+------------------------+-------------------+----------------+
 *   | way           | off: how it is left    | on: what arrives  | where          |
 *   +---------------+------------------------+-------------------+----------------+
 *   | switch        | wefti_arch_switch,     | a saved context,  | park, yield,   |
 *   |               | context saved          | behind its switch | balance, loop  |
 *   | seat lost     | the same               | k's own loop      | seat.c         |
 *   | first run     | wefti_arch_switch of   | thread_main, from | a switch to a  |
 *   |               | another thread         | a first frame     | queued new one |
 *   | spawn         | wefti_arch_start,      | child_main,       | life/spawn.c   |
 *   |               | the parent's is saved  | without a frame   |                |
 *   | exit          | the entry function     | a saved context   | life/exit.c    |
 *   |               | returns and names it   |                   |                |
 *   | weft_exit()   | wefti_arch_jump,       | the same          | life/exit.c    |
 *   |               | nothing is saved       |                   |                |
 *   | weft_stop()   | wefti_arch_jump from   | main's context    | loop.c:        |
 *   |               | the first loop         |                   | switch_to_main |
 *   +---------------+------------------------+-------------------+----------------+
 *
 * A preempted thread leaves by the switch of its yield, inside a signal handler that
 * runs on the thread's own stack (sched/preempt.c). wefti_arch_call_on() is an ordinary
 * call on another stack: the thread stays the same.
 *
 * Writers
 *   vcpu.current  wefti_take_seat; init/start.c: seat_main; loop.c: carry;
 *       seat.c: wefti_seat_take
 *   vcpu.ticks  wefti_take_seat
 */
#ifndef WEFT_SCHED_SWITCH_H
#define WEFT_SCHED_SWITCH_H

#include "cpu.h"
#include "os/tls/tp.h"
#include "sched/record.h"
#include "sched/sanitizer.h"
#include "sched/vcpu.h"

/*
 * Called when a kernel thread takes another thread, before it does so. A layer above
 * sets the hook; NULL: none.
 */
typedef void wefti_take_hook_fn(struct wefti_kthread *k,
				const struct wefti_thread *to);

extern _Atomic(wefti_take_hook_fn *) wefti_take_hook;

/*
 * Makes `to` the current thread of the VCPU, and sets the thread pointer for it. Runs
 * on the previous thread's stack, which is left a few instructions later. A signal may
 * come between any two of these instructions. wefti_self() must then be `from` or `to`,
 * never the light thread that this kernel thread ran last. So the slot is written
 * first.
 */
static ALWAYS_INLINE void wefti_take_seat(struct wefti_vcpu *v,
		struct wefti_thread *from, struct wefti_thread *to)
{
	struct wefti_kthread *k = v->kthread;
	uintptr_t tp = to->tp;

#if !defined(WEFT_MODEL)
	wefti_take_hook_fn *hook = load_relaxed(&wefti_take_hook);

	if (unlikely(hook))
		hook(k, to);
#endif
	to->vcpu = v;
	store_release(&v->current, to);	/* of monitor.c: P2 */
	store_relaxed(&v->ticks, load_relaxed(&v->ticks) + 1);
	if (!tp) {
		*k->self_slot = to;
		if (from->tp)
			wefti_tp_change(k->tp);
	} else {
		wefti_tp_change(tp);	/* each thread with TLS has its own */
	}
	wefti_sanitizer_switch(from, to);
}

/* Runs `to`. Returns after a switch back, perhaps on another VCPU. */
static ALWAYS_INLINE void wefti_switch(struct wefti_vcpu *v,
		struct wefti_thread *from, struct wefti_thread *to)
{
	struct wefti_thread *prev;

	wefti_record_switch(v, from, to);
	wefti_take_seat(v, from, to);
	prev = wefti_arch_switch(&from->ctx, &to->ctx, from);
	wefti_sanitizer_arrived();
	prev->post(prev);
}

#endif
