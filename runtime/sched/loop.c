/* SPDX-License-Identifier: MIT */
/*
 * sched/loop.c - what a kernel thread does between threads
 *
 * The loop looks for a thread and switches to it. Threads then switch among themselves;
 * the last one switches back when its VCPU has no other thread. If the loop finds that
 * it has no VCPU any more (sched/seat.c), its kernel thread becomes spare.
 *
 * Writers
 *   wefti_carry_hook  trapped.c: wefti_trapped_begin, wefti_trapped_end
 */
#include "sched/loop.h"

#include "os/kthread/quiescent.h"
#include "sched/idle.h"
#include "sched/poller.h"
#include "sched/ready.h"
#include "sched/seat.h"
#include "sched/spare.h"
#include "sched/steal.h"
#include "sched/switch.h"
#include "sched/timer.h"

_Atomic(wefti_carry_hook_fn *) wefti_carry_hook;
_Atomic(wefti_take_hook_fn *) wefti_take_hook;

/* The loop's own context needs no post-switch action. */
static void post_nothing(struct wefti_thread *t)
{
	(void)t;
}

/* Looks everywhere, and idles until there is something. Returns NULL: look again. */
static struct wefti_thread *find(struct wefti_vcpu *v, int *searching)
{
	struct wefti_thread *t = wefti_pick_slow(v);

	if (!t && wefti_poller_poll())
		t = wefti_pick_slow(v);
	if (!t && !*searching)
		*searching = wefti_idle_take_search();
	if (!t && *searching)
		t = wefti_steal(v);
	if (t) {
		if (*searching)
			wefti_idle_found();
		*searching = 0;
		return t;
	}
	wefti_os_quiescent_offline();
	*searching = wefti_idle_wait(v, *searching);
	wefti_steal_note_idled(v);
	wefti_os_quiescent_online();
	return NULL;
}

/* Runs threads as v until v is gone, or k is asked for something else. */
static void carry(struct wefti_kthread *k, struct wefti_vcpu *v)
{
	wefti_carry_hook_fn *hook = load_relaxed(&wefti_carry_hook);
	int searching = 0;

	if (hook)
		hook();
	k->sched->vcpu = v;
	store_relaxed(&v->current, k->sched);
	wefti_record_vcpu(v, WEFTI_EVENT_CARRY, k->number, (uint64_t)k->tid);
	while (k->vcpu == v) {
		if (load_seq_cst(&wefti_rt.state) == WEFTI_RT_STOPPING)
			break;

		struct wefti_thread *t = find(v, &searching);

		wefti_os_quiescent();
		if (!t)
			continue;
		k->sched->post = post_nothing;
		wefti_os_quiescent_offline();
		wefti_switch(v, k->sched, t);
		wefti_os_quiescent_online();
	}
	if (searching)
		wefti_idle_found();
	k->sched->vcpu = NULL;
}

/* weft_stop(): main goes back to kernel thread 0; see init/stop.c. */
static void switch_to_main(struct wefti_kthread *k)
{
	struct wefti_thread *main = load_seq_cst(&k->adopt);

	wefti_os_quiescent_unregister(&k->reader);
	if (main->tp)
		wefti_arch_tp_set(main->tp);
	else
		*k->self_slot = main;
	k->sched->post = post_nothing;
	wefti_sanitizer_switch(k->sched, main);
	wefti_arch_jump(&main->ctx, k->sched);
}

void wefti_loop(struct wefti_kthread *k)
{
	for (;;) {
		if (k->vcpu)
			carry(k, k->vcpu);
		if (load_seq_cst(&k->adopt))
			switch_to_main(k);
		if (k->number != 0 && (load_seq_cst(&k->ends) ||
		    load_seq_cst(&wefti_rt.state) == WEFTI_RT_STOPPING))
			return;
		wefti_os_quiescent_offline();
		k->vcpu = wefti_spare_wait(k);
		wefti_os_quiescent_online();
	}
}
