/* SPDX-License-Identifier: MIT */
/*
 * sched/switch.h - from thread to thread, and what is done on the other side
 *
 * A thread that leaves its VCPU names in thread->post what is to be done about
 * it: queue it, commit its park, take it apart. That post-switch action runs
 * on the next thread's stack, when the first one's context is saved. Nothing
 * may make a thread visible to another VCPU before that.
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
#include "sched/sanitizer.h"
#include "sched/vcpu.h"

/*
 * Called where a kernel thread takes another thread, before it has; set by a layer above,
 * NULL: nothing.
 */
typedef void wefti_take_hook_fn(struct wefti_kthread *k,
				const struct wefti_thread *to);

extern _Atomic(wefti_take_hook_fn *) wefti_take_hook;

/*
 * `to` is now the thread of the VCPU and of the thread register. Called on the
 * stack of the thread before, which runs only a few instructions more. A signal
 * may come between any two of them: wefti_self() is always one of the two, never
 * the light thread that this kernel thread ran last. So the slot goes first.
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
		wefti_tp_change(tp);	/* each such thread has its own */
	}
	wefti_sanitizer_switch(from, to);
}

/* Runs `to`; returns when somebody switches back, maybe on another VCPU. */
static ALWAYS_INLINE void wefti_switch(struct wefti_vcpu *v,
		struct wefti_thread *from, struct wefti_thread *to)
{
	struct wefti_thread *prev;

	wefti_take_seat(v, from, to);
	prev = wefti_arch_switch(&from->ctx, &to->ctx, from);
	wefti_sanitizer_arrived();
	prev->post(prev);
}

#endif
