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
#include "thread/peek.h"

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

static void sleep_foreign_recorded(struct wefti_thread *self, int64_t deadline)
{
	/* The waker of a condition variable may change `why` meanwhile. */
	wefti_record_outside(WEFTI_EVENT_SLEEP,
			     WEFTI_LEFT_WAITS + wefti_peek_why(self), self,
			     (uintptr_t)load_relaxed(&self->waits_for));
	sleep_foreign(self, deadline);
	wefti_record_outside(WEFTI_EVENT_GO_ON, 0, self, 0);
}

static void sleep_green(struct wefti_thread *self, int64_t deadline)
{
	struct wefti_vcpu *v = self->vcpu;
	int timed = deadline != INT64_MAX;

	if (timed)
		wefti_timer_arm(self, load_relaxed(&self->wait) >>
				WEFTI_WAIT_SEQ_SHIFT, deadline);
	self->cold->since = load_relaxed(&wefti_rt.coarse_now);
	if (timed)
		wefti_record(v, WEFTI_EVENT_DEADLINE, 0, self, (uint64_t)deadline);
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
			sleep_foreign_recorded(self, deadline);
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
	v->yields.in_row = 0;
	wefti_ready_last(v, t);
	wefti_idle_announce();	/* for it, and for those that came with it */
}

/*
 * All threads of the VCPU only yield. Offers the CPU to another kernel thread that may
 * wait for it: one of another program, or one of this program that the yielding threads
 * may wait for. Only the kernel knows whether one waits, and asking is a system call.
 * So after a call that let no kernel thread run, the next one comes later. After a call
 * that let one run, the next one comes as soon as all have yielded again. With more
 * VCPUs than CPUs it always does.
 */
static void offer_cpu(struct wefti_yields *y, int64_t now)
{
	y->in_row = 0;
	wefti_os_yield();
	y->looked_ns = wefti_os_now_ns();
	if (y->looked_ns - now > WEFTI_OFFER_GAVE_NS || wefti_rt.crowding)
		y->rare_ns = 0;
	else if (y->rare_ns == 0)
		y->rare_ns = WEFTI_YIELDS_LOOK_NS;
	else if (y->rare_ns < WEFTI_OFFER_RARE_NS)
		y->rare_ns *= 2;
	y->offer_ns = y->looked_ns + y->rare_ns;
}

/* Yields until the next look, if `yields` of them took `ns`. */
static uint32_t until_look(uint32_t yields, int64_t ns)
{
	const int64_t n = yields * WEFTI_YIELDS_LOOK_NS / (ns > 0 ? ns : 1);

	return n < 1 ? 1 : n < WEFTI_YIELDS_MOST ? (uint32_t)n : WEFTI_YIELDS_MOST;
}

/*
 * A loop of yields waits for another thread, which may be in one of three places. It
 * may wait for a descriptor, or be ready on another VCPU. If a yield since the last
 * look found no thread, there were too few switches for a look at the poller. This VCPU
 * did not idle, so it did not search either. Both are done here. Or the other thread is
 * on a VCPU that has no CPU at the moment: a VCPU whose ready threads have all yielded,
 * and that did nothing else, offers its own CPU. (Switches are counted anyway. A yield that
 * led to none shows as more yields than switches.)
 *
 * A loop may compute or pause between two yields. So looks are a time apart. until_look()
 * makes of that time how many yields there are to the next look.
 */
static NOINLINE void help_yields(struct wefti_vcpu *v)
{
	struct wefti_yields *y = &v->yields;
	const uint64_t switches = load_relaxed(&v->ticks) - y->ticks;
	const int64_t now = wefti_os_now_ns(), ns = now - y->looked_ns;
	const uint32_t yields = y->apart;

	y->ticks += switches;
	y->looked_ns = now;
	y->apart = switches < yields && y->rare_ns == 0 ? 1 : until_look(yields, ns);
	y->left = y->apart;
	if (switches > yields || ns > (int64_t)yields * WEFTI_YIELDS_FAR_NS)
		y->in_row = 0;
	else
		y->in_row += yields;
	if (switches < yields) {
		if (wefti_poller_poll())
			return;
		if (now - y->glanced_ns >= WEFTI_YIELDS_GLANCE_NS) {
			y->glanced_ns = now;
			glance(v);
		}
	}
	if (y->in_row > wefti_ready_len_hint(v) && now >= y->offer_ns)
		offer_cpu(y, now);
}

void wefti_yield(struct wefti_thread *self)
{
	struct wefti_vcpu *v = self->vcpu;
	struct wefti_thread *next;

	if (self->kind == WEFTI_KIND_FOREIGN) {
		wefti_os_yield();
		return;
	}
	if (unlikely(v->yields.left-- <= 1))
		help_yields(v);
	next = wefti_pick(v);
	if (!next)	/* without a switch the tick for this does not come */
		next = wefti_pick_slow(v);
	if (!next)
		return;
	self->post = v->post_yield;
	wefti_switch(v, self, next);
}
