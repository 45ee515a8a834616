/* SPDX-License-Identifier: MIT */
/*
 * sched/park.c - a thread stops until it is woken, timed out or cancelled
 *
 * The protocol is in thread/wait.h. This file has what a green thread does between
 * begin and resolve (it switches to the next thread, and commits there), and what a
 * foreign thread does (it sleeps on its wait word).
 *
 * Writers
 *   thread.waits_for  wefti_park_begin; bare.c: wefti_thread_bare;
 *       park_by.h: wefti_park_by; sync/cond.c: wake
 *
 * Pairs
 *   P1  the wait has begun; light fence; load cancel.
 *       life/cancel.c: cancel is set; heavy fence; load the wait word.
 *       One of the two sees the other.
 *   P2  the sole waker has set node->data to TAKEN; light fence; load cancel.
 *       the canceller: cancel is set; heavy fence; load node->data.
 *       One of the two sees the other, or both do. A canceller that sees TAKEN
 *       leaves the wait to the waker. A waker that sees no cancel is alone and ends
 *       the wait by a store; else it ends it by a CAS, as any waker does. TAKEN may
 *       be left from the previous wait only as long as this wait is not published;
 *       its thread looks for cancel after it publishes, by P1.
 *   P3  cancel is cleared for the next thread in the struct (life/spawn.c) -> the
 *       sole waker loads it: so the previous thread's wait is over
 */
#include "sched/park.h"

#include "os/call/clock.h"
#include "os/call/futex.h"
#include "sched/policy.h"
#include "sched/poller.h"
#include "sched/ready.h"
#include "sched/steal.h"
#include "sched/switch.h"
#include "sched/timer.h"

/*
 * Runs off t's stack: t is parked now, or ready again if it was resolved on the way.
 * After a time-out it goes behind the others, as each thread that times out does
 * (sched/timer.c). Otherwise threads that wait with expired deadlines would hand the
 * VCPU back and forth, ahead of all others.
 */
static void post_park(struct wefti_thread *t)
{
	if (wefti_wait_commit(t))
		return;
	if (wefti_wait_cause(t) == WEFTI_CAUSE_TIMEDOUT)
		wefti_ready_in_order(t);
	else
		wefti_ready(t);
}

/* The low half of the wait word, on which a foreign thread sleeps. */
static _Atomic uint32_t *wait_futex(struct wefti_thread *t)
{
	return (_Atomic uint32_t *)(void *)&t->wait;
}

static void sleep_foreign(struct wefti_thread *self, int64_t deadline)
{
	uint64_t seq = load_relaxed(&self->wait) >> WEFTI_WAIT_SEQ_SHIFT;

	self->cold->since = wefti_os_now_ns();
	if (!wefti_wait_commit(self))
		return;
	for (;;) {
		uint64_t w = load_seq_cst(&self->wait);

		if ((w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE)
			return;
		if ((w & WEFTI_WAIT_SUMMONED) &&	/* of thread/wait.h: P2 */
		    wefti_wait_resolve(self, seq, WEFTI_CAUSE_WOKEN) !=
			    WEFTI_LOST)
			return;
		/* A wait that is kept or claimed has no deadline any more. */
		if (wefti_os_futex_wait(wait_futex(self), (uint32_t)w,
				w & WEFTI_WAIT_TIMED ? deadline : INT64_MAX) ==
		    -ETIMEDOUT)
			wefti_wait_resolve(self, seq, WEFTI_CAUSE_TIMEDOUT);
	}
}

static void sleep_green(struct wefti_thread *self, int64_t deadline)
{
	struct wefti_vcpu *v = self->vcpu;
	int timed = deadline != INT64_MAX;

	if (timed)
		wefti_timer_arm(self, load_relaxed(&self->wait) >>
				WEFTI_WAIT_SEQ_SHIFT, deadline);
	self->cold->since = load_relaxed(&wefti_rt.coarse_now);
	self->post = post_park;
	wefti_switch(v, self, wefti_pick_or_loop(v));
	if (timed)
		wefti_timer_disarm(self);
}

static void end_if_cancelled(struct wefti_thread *self, uint64_t wait)
{
	wefti_membarrier_light();	/* P1; of cancel.c: P1 */
	if (wefti_is_cancelled(self))
		wefti_wait_resolve(self, wait >> WEFTI_WAIT_SEQ_SHIFT,
				   WEFTI_CAUSE_CANCELLED);
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	uint64_t w = load_relaxed(&self->wait);
	enum wefti_cause cause;

	if (w & WEFTI_WAIT_CANCELLABLE)
		end_if_cancelled(self, w);
	cause = wefti_wait_cause(self);

	if (cause == WEFTI_CAUSE_NONE) {
		if (likely(self->kind != WEFTI_KIND_FOREIGN))
			sleep_green(self, deadline);
		else
			sleep_foreign(self, deadline);
		cause = wefti_wait_cause(self);
	}
	self->why = WEFTI_WHY_NOTHING;
	return cause;
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	switch (wefti_wait_resolve(t, seq, cause)) {
	case WEFTI_WAS_PARKED:
		wefti_ready(t);
		return 1;
	case WEFTI_WAS_ARMED:
		return 1;
	default:
		return 0;
	}
}

/* A thread that waits on another VCPU, behind one that computes, runs next here. */
static void glance(struct wefti_vcpu *v)
{
	struct wefti_thread *t = wefti_steal_glance(v);

	if (!t)
		return;
	wefti_ready_last(v, t);
	wefti_idle_announce();	/* for it, and for those that came with it */
}

/*
 * All threads of the VCPU only yield. Offers the CPU to another kernel thread that may
 * wait for it: one of another program, or one of this program that the yielding threads
 * may wait for. Only the kernel knows whether one waits, and asking is a system call.
 * So a call that let no kernel thread run halves the rate of calls, down to one in
 * 2^WEFTI_OFFER_RARE looks. After a call that let one run, each look makes the call.
 * With more VCPUs than CPUs, each look makes it.
 */
static void offer_cpu(struct wefti_vcpu *v)
{
	int64_t before;

	if (wefti_rt.is_crowded) {
		wefti_os_yield();
		return;
	}
	if (v->offers_left-- > 0)
		return;
	before = wefti_os_now_ns();
	wefti_os_yield();
	if (wefti_os_now_ns() - before > WEFTI_OFFER_GAVE_NS)
		v->offers_rare = 0;
	else if (v->offers_rare < WEFTI_OFFER_RARE)
		v->offers_rare++;
	v->offers_left = (1 << v->offers_rare) - 1;
}

/*
 * A loop of yields waits for another thread, which may be in one of three places. It
 * may wait for a descriptor, or be ready on another VCPU. If a yield since the last
 * look found no thread, there were too few switches for a look at the poller. This VCPU
 * did not idle, so it did not search either. Both are done here. Or the other thread is
 * on a VCPU that has no CPU at the moment: a VCPU that did nothing but yield since the
 * last look offers its own CPU. (Switches are counted anyway, so comparing counts is
 * enough.)
 */
static NOINLINE void help_yields(struct wefti_vcpu *v)
{
	uint64_t ticks = load_relaxed(&v->ticks);
	uint64_t switches = ticks - v->yields_since;

	v->yields_since = ticks;
	if (switches < WEFTI_YIELDS) {
		if (wefti_poller_poll())
			return;
		if (v->yields % WEFTI_YIELDS_GLANCE == 0)
			glance(v);
	}
	if (switches <= WEFTI_YIELDS)
		offer_cpu(v);
}

void wefti_yield(struct wefti_thread *self)
{
	struct wefti_vcpu *v = self->vcpu;
	struct wefti_thread *next;

	if (self->kind == WEFTI_KIND_FOREIGN) {
		wefti_os_yield();
		return;
	}
	if (unlikely(++v->yields % WEFTI_YIELDS == 0))
		help_yields(v);
	next = wefti_pick(v);
	if (!next)	/* without a switch the tick for this does not come */
		next = wefti_pick_slow(v);
	if (!next)
		return;
	self->post = v->post_yield;
	wefti_switch(v, self, next);
}
