/* SPDX-License-Identifier: MIT */
/*
 * sched/balance.c - threads that only compute get equal shares of all VCPUs
 *
 * An idle VCPU steals; but where threads only compute, no VCPU idles. So three threads
 * on one VCPU and one on another would stay there for ever, and each of the three would
 * get a third of a VCPU's time. If the number of threads is not a multiple of the
 * number of VCPUs, no placement stays fair for long.
 *
 * So a VCPU whose slice ends looks at the others. If the fullest of them has more
 * threads, by more than an eighth, the VCPU takes half of the difference: from one to
 * WEFTI_SHARE_MOST threads, from the head of the fullest VCPU's ring. The first thread
 * that it takes runs at once: that thread has waited longest. The monitor ends the slice
 * of a VCPU that has fewer threads, even where no other thread waits for that VCPU.
 *
 * With three threads on two VCPUs each VCPU takes the thread that waits, in turn, as if
 * both had one queue. With 64 threads, all of them begun on one of eight VCPUs, each of
 * the others takes its share in one turn.
 *
 * What is in `next` and in the injection queue comes first, by wefti_pick_slow(): a VCPU
 * takes nothing from others while one of the two is filled. So neither starves. A VCPU
 * that takes at each of its turns has a thread taken from its own ring's head for each,
 * or it would soon be the fullest. So its ring does not starve either.
 *
 * The lengths are hints, read without an order. A wrong length moves a thread
 * needlessly, or one slice too late.
 *
 * Rejected:
 * - one queue for all preempted threads, always: it is fairer by some percent where there
 *   are many threads, but each slice then begins with the cache of another CPU.
 * - the fuller VCPU gives, by the injection queue. Any VCPU may take such a thread,
 *   and one thread moves in a slice. Some of 64 threads on 8 VCPUs and two CPUs then
 *   had a third of their share over 5 s, and some had twice their share.
 * - counting each thread's time and running the thread with the least: this needs an
 *   ordered queue for all VCPUs.
 */
#include "sched/balance.h"

#include "sched/idle.h"
#include "sched/policy.h"
#include "sched/ready.h"
#include "sched/steal.h"
#include "sched/switch.h"
#include "sched/timer.h"

#define MOST_AHEAD(fewer)	((fewer) + (fewer) / 7)

/* The number of threads that run or are ready on v. */
static unsigned load_of(struct wefti_vcpu *v)
{
	return wefti_ready_len_hint(v) + (wefti_next_hint(v) != NULL) +
	       !wefti_idle_is(v);
}

static unsigned find_fullest(struct wefti_vcpu **fullest)
{
	unsigned most = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at(i);
		unsigned load = load_of(v);

		if (load > most) {
			most = load;
			*fullest = v;
		}
	}
	return most;
}

unsigned wefti_balance_most(void)
{
	struct wefti_vcpu *fullest;

	return find_fullest(&fullest);
}

int wefti_balance_is_behind(struct wefti_vcpu *v, unsigned most)
{
	return most > MOST_AHEAD(load_of(v));
}

int wefti_balance_others_wait(struct wefti_vcpu *v)
{
	return wefti_ready_len_hint(v) > 0 || wefti_next_hint(v) ||
	       wefti_timers_due() ||
	       (!wefti_fifo_is_empty(&wefti_rt.inject) && !wefti_idle_any());
}

/* The thread that waited longest on the fullest VCPU, or NULL. */
static struct wefti_thread *take_share(struct wefti_vcpu *v)
{
	struct wefti_vcpu *from = v;
	unsigned most = find_fullest(&from), n;

	if (from == v || !wefti_balance_is_behind(v, most) ||
	    wefti_next_hint(v) || !wefti_fifo_is_empty(&wefti_rt.inject))
		return NULL;
	n = (most - load_of(v) + 1) / 2;
	return wefti_steal_share(v, from, n < WEFTI_SHARE_MOST ? n : WEFTI_SHARE_MOST);
}

static void post_stay(struct wefti_thread *t)
{
	wefti_ready_last(t->vcpu, t);
}

/* The VCPU has more threads in its queues than before: announces them. */
static void post_joined(struct wefti_thread *t)
{
	wefti_ready_last(t->vcpu, t);
	wefti_idle_announce();
}

void wefti_balance_yield(struct wefti_thread *self)
{
	struct wefti_vcpu *v = self->vcpu;
	struct wefti_thread *next;

	wefti_ready_outlasted(v);
	next = take_share(v);
	self->post = next ? post_joined : post_stay;
	if (!next)
		next = wefti_pick_slow(v);
	if (next)
		wefti_switch(v, self, next);
}
