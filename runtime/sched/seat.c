/* SPDX-License-Identifier: MIT */
/*
 * sched/seat.c - takes a VCPU from a thread that does not use it
 *
 * Structure
 *   A thread in user code may be blocked in the kernel, or compute where it cannot be
 *   stopped. The monitor then takes its VCPU and gives it to a spare kernel thread. The
 *   thread notices at its next entry into the runtime.
 *
 * States of attention
 *   HELD      the VCPU is the thread's
 *   TAKEN     the monitor wants the VCPU, or has it; the value names the stint
 *   CONCEDED  the thread knows that it has no VCPU
 *
 *   HELD --monitor--> TAKEN --thread, on entry in the stint--> CONCEDED
 *   CONCEDED --post-switch action--> HELD
 *   TAKEN --monitor, if it found the thread inside, or the stint over--> HELD
 *   any --child of a fork--> HELD
 *
 * Writers
 *   cold.carrier_tid  peek.h: wefti_peek_set_carrier
 *   runtime.blocked_ns  wefti_seat_lost; init/start.c: reset
 *   thread.attention  post_lost, wefti_seat_lost, wefti_seat_take;
 *       init/fork.c: forget_threads
 *   thread.in_runtime  wefti_enter_as, wefti_leave, wefti_try_enter;
 *       bare.c: wefti_thread_bare; first.c: make_main;
 *       sched/kthread.c: wefti_kthread_new; spawn.c: unite
 *
 * Invariants
 *   I1  The monitor owns the VCPU from the moment when it reads in_runtime as 0 after
 *       TAKEN, or when its CAS back to HELD fails because the thread has conceded.
 *   I2  A thread that reads HELD on entry keeps the VCPU until it switches: its
 *       in_runtime > 0 was visible before, so the monitor goes back to HELD.
 *   I3  Between the monitor's TAKEN and its CAS back to HELD, only a thread that
 *       concedes this very stint changes the word. So a CAS that fails means
 *       "conceded". This is why a spawn does not reset the word of a used struct: the
 *       monitor may not have gone back yet. The new thread then finds TAKEN of another
 *       stint, and ignores it.
 *   I4  A VCPU whose thread has conceded makes no switch until it is given to a kernel
 *       thread.
 *
 * Linearization
 *   Taking the VCPU: at the monitor's second look at in_runtime if that is 0, else at
 *   the thread's CAS TAKEN -> CONCEDED. Giving it back: at the monitor's CAS TAKEN ->
 *   HELD.
 *
 * Progress
 *   Wait-free for both the monitor and the thread; neither waits for the other.
 *
 * ABA and reclamation
 *   Threads are type-stable. After its fence the monitor checks that the VCPU still
 *   runs this thread and has made no switch since it looked (ticks). Before the thread
 *   finds TAKEN, it may have parked and come to another VCPU. It may also have ended,
 *   and its struct may be another thread's, even a foreign one's. Each of these sees
 *   that another stint is meant, and leaves the word to the monitor, which finds the
 *   switch and goes back to HELD.
 *
 * Pairs
 *   P1  entry: in_runtime = n; fence; load attention
 *       monitor: attention = TAKEN; fence; load in_runtime
 *       One of the two sees the other. membarrier is the fence of both, where
 *       the kernel has it, so that entry costs only a compiler barrier.
 *   P2  leave: in_runtime = 0, release  ->  the monitor's second look: everything that
 *       belongs to the VCPU, for its next carrier. The membarrier does not order what
 *       a thread that was inside did after it. So each 0 after a thread's stint is
 *       stored with release, behind the switches since. A used struct stays 1 until
 *       its next thread leaves the runtime; a foreign thread's does not
 *       (thread/bare.c).
 *   P3  wefti_membarrier_light(), wefti_membarrier_heavy(): each between a store
 *       and a load, in the pairs of their callers
 *   P4  the CAS to CONCEDED  ->  the monitor, after its CAS has failed, loads that, or
 *       the HELD that the same kernel thread stores after it: the VCPU of a thread
 *       that concedes, in the state in which the thread left it
 *
 * Source
 *   The retake of Go's sysmon, without its mark at every system call.
 *   Models: tests/model (seat); tests/stall/test_stall_seat.c.
 */
#include "sched/seat.h"

#include "base/check.h"
#include "os/call/clock.h"
#include "os/call/fatal.h"
#include "os/kthread/kthread.h"
#include "sched/again.h"
#include "sched/idle.h"
#include "sched/ready.h"
#include "sched/switch.h"
#include "thread/peek.h"

/*
 * If the kernel refuses the system call, fences may have replaced it meanwhile; then it
 * was not needed.
 */
void wefti_membarrier_heavy(void)
{
#if !defined(WEFT_MODEL)
	int error = 0;

	if (load_seq_cst(&wefti_rt.fence_on_entry) != WEFTI_FENCE)
		error = wefti_os_membarrier();
	if (unlikely(error) &&
	    load_seq_cst(&wefti_rt.fence_on_entry) != WEFTI_FENCE)
		wefti_os_fatal("membarrier", error);
#endif
	fence_seq_cst();	/* P3 */
}

/*
 * The light side makes no fence until it sees the word. The last membarrier comes after
 * everything that ran without one: those stores are seen from then on. Only after it
 * may the heavy side do without a membarrier too.
 */
void wefti_membarrier_forgo(void)
{
	uint32_t none = 0;

	if (!cas_seq_cst(&wefti_rt.fence_on_entry, &none, WEFTI_FENCE_SOON))
		return;
	wefti_membarrier_heavy();
	store_seq_cst(&wefti_rt.fence_on_entry, WEFTI_FENCE);
}

struct wefti_thread wefti_aside = {
	.kind = WEFTI_KIND_FOREIGN, .in_runtime = 1,
};

/* Runs off t's stack; t has no VCPU. CONCEDED -> HELD, and t queues for a VCPU. */
static void post_lost(struct wefti_thread *t)
{
	store_release(&t->attention, WEFTI_SEAT_HELD);	/* P4 */
	t->vcpu = NULL;
	wefti_inject(t);
}

/*
 * ticks are read before current: a VCPU that was taken makes no switch before current
 * is NULL. So if we are still current, the ticks belong to our stint. A foreign thread
 * has no stint.
 */
static int is_of_another_stint(struct wefti_thread *self, uint32_t taken)
{
	struct wefti_vcpu *v = self->vcpu;
	uint32_t mine = v ? wefti_seat_taken(v) : WEFTI_SEAT_HELD;

	return !v || (load_seq_cst(&v->current) == self && taken != mine);
}

/*
 * self found attention set on entry. Unless the monitor has gone back to HELD, self
 * waits for a VCPU like any ready thread, and its kernel thread becomes spare.
 */
COLD void wefti_seat_lost(struct wefti_thread *self)
{
	uint32_t taken = load_seq_cst(&self->attention);

	if (is_of_another_stint(self, taken) ||
	    !cas_seq_cst(&self->attention, &taken, WEFTI_SEAT_CONCEDED)) /* P4 */
		return;

	struct wefti_kthread *k = self->cold->carrier;
	struct wefti_thread *sched = k->sched;

	const int64_t ns = wefti_os_now_ns() - self->cold->taken_at;

	fetch_add_relaxed(&wefti_rt.blocked_ns, ns);
	wefti_record_outside(WEFTI_EVENT_SEAT_LOST, 0, self, (uint64_t)ns);
	self->post = post_lost;
	self->why = WEFTI_WHY_SEAT;
	self->cold->preempt_asked = 0;
	wefti_again_leaves(k);
	k->vcpu = NULL;		/* its loop, when we get there, becomes spare */
	sched->vcpu = NULL;
	*k->self_slot = sched;	/* first, as in sched/switch.h */
	if (self->tp)
		wefti_tp_change(k->tp);
	wefti_sanitizer_switch(self, sched);

	struct wefti_thread *prev =
		wefti_arch_switch(&self->ctx, &sched->ctx, self);

	wefti_sanitizer_arrived();
	prev->post(prev);
	self->why = WEFTI_WHY_NOTHING;
}

/* Is the stint of t that began at `ticks` over? */
static int is_over(struct wefti_vcpu *v, struct wefti_thread *t, uint64_t ticks)
{
	return load_seq_cst(&v->current) != t || load_seq_cst(&v->ticks) != ticks;
}

/* Called by the monitor. Returns 1 if v has no kernel thread now. */
int wefti_seat_take(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now)
{
	uint64_t ticks = load_relaxed(&v->ticks);
	uint32_t taken = wefti_seat_taken(v);
	struct wefti_cold *body = wefti_peek_cold(t);

	if (load_relaxed(&v->current) != t || load_relaxed(&t->in_runtime) ||
	    !body)
		return 0;
	/* If t has just ended, no VCPU was taken from its body's next thread yet. */
	wefti_peek_set_carrier(body, v->kthread, v->kthread->tid, now);
	if ((uint32_t)ticks << 10 != taken >> 10 << 10)
		return 0;	/* it switches */
	store_seq_cst(&t->attention, taken);
	wefti_membarrier_heavy();	/* P1 */
	/* P2; in this order: a 0 of a later stint comes with that stint's ticks. */
	if (load_seq_cst(&t->in_runtime) || is_over(v, t, ticks)) {
		if (cas_seq_cst(&t->attention, &taken, WEFTI_SEAT_HELD))
			return 0;
		(void)load_acquire(&t->attention);	/* P4; I3 */
		WEFT_ASSERT(!is_over(v, t, ticks));	/* I4 */
	}
	store_seq_cst(&v->current, NULL);	/* ours, until it is given on */
	return 1;
}
