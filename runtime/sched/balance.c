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
 * threads, by more than a half, the VCPU takes half of the difference: from one to
 * WEFTI_SHARE_MOST threads, from the head of the fullest VCPU's ring. The first thread
 * that it takes runs at once: that thread has waited longest. The monitor ends the slice
 * of a VCPU that has so few threads, even where no other thread waits for that VCPU.
 *
 * With three threads on two VCPUs each VCPU takes the thread that waits, in turn, as if
 * both had one queue. With 64 threads, all of them begun on one of eight VCPUs, each of
 * the others takes some at its first turn.
 *
 * The number of threads does not say how fast they get on. One VCPU may have a thread more,
 * or its kernel thread may get less CPU time. So a VCPU that takes nothing for the number
 * compares what threads have had (sched/share.c): the oldest ready one of each other VCPU,
 * and its own. If one has had much less than its own, the VCPU takes that one. VCPUs that
 * are as fast as each other keep their threads.
 *
 * A thread that has had more than a slice too much is put behind the others of its VCPU
 * when its turn comes. The first of many threads is such a one: it runs while the others
 * are made.
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
 * - running the thread with the least time: this needs an ordered queue for all VCPUs.
 * - taking by the number alone, from a difference of an eighth on. Turns of the kernel
 *   threads of 8 VCPUs on two CPUs differ, and some of 16 threads had 0.78 of their share
 *   over 5 s, and some 1.22.
 */
#include "sched/balance.h"

#include "sched/idle.h"
#include "sched/policy.h"
#include "sched/ready.h"
#include "sched/share.h"
#include "sched/slice.h"
#include "sched/steal.h"
#include "sched/switch.h"
#include "sched/timer.h"

#define MOST_AHEAD(fewer)	((fewer) + (fewer) / 2)
#define LAG_SLICES		2

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

/* The VCPU but v whose oldest ready thread has had the least, if that is too little. */
static struct wefti_vcpu *find_behind(struct wefti_vcpu *v, struct wefti_thread *self)
{
	struct wefti_thread *own = wefti_ring_head_hint(&v->ring);
	int64_t most = wefti_share_lag(own ? own : self) +
		       LAG_SLICES * wefti_slice_whole(v);
	struct wefti_vcpu *behind = NULL;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *from = wefti_vcpu_at(i);
		struct wefti_thread *t = from == v ? NULL :
					 wefti_ring_head_hint(&from->ring);
		int64_t lag = t ? wefti_share_lag(t) : most;

		if (lag > most) {
			most = lag;
			behind = from;
		}
	}
	return behind;
}

/*
 * The thread that waited longest on the VCPU that is the fullest by far, or that is behind.
 * Or NULL.
 */
static struct wefti_thread *take_share(struct wefti_vcpu *v, struct wefti_thread *self)
{
	struct wefti_vcpu *from = v;
	unsigned most = find_fullest(&from), n = 1;

	if (wefti_next_hint(v) || !wefti_fifo_is_empty(&wefti_rt.inject))
		return NULL;
	if (from != v && wefti_balance_is_behind(v, most))
		n = (most - load_of(v) + 1) / 2;
	else
		from = most > 1 ? find_behind(v, self) : NULL;
	return from ? wefti_steal_share(v, from, n < WEFTI_SHARE_MOST ? n :
							WEFTI_SHARE_MOST) : NULL;
}

/*
 * The next thread, or the one after it if the next has had a slice too much. *published: the
 * next one was taken out of a queue and put behind the others (of idle.c: I7).
 */
static struct wefti_thread *pick(struct wefti_vcpu *v, int *published)
{
	struct wefti_thread *t = wefti_pick_slow(v);

	if (!t || wefti_ready_len_hint(v) == 0 ||
	    wefti_share_lag_on(v, t) >= -wefti_slice_whole(v))
		return t;
	wefti_ready_last(v, t);
	*published = 1;
	return wefti_pick_own(v);
}

struct wefti_thread *wefti_balance_next(struct wefti_vcpu *v, struct wefti_thread *self,
					int *published)
{
	struct wefti_thread *t = take_share(v, self);

	*published = t != NULL;
	return t ? t : pick(v, published);
}

static void post_stay(struct wefti_thread *t)
{
	wefti_ready_spent(t->vcpu, t);
}

/* Threads of other queues came to the VCPU's own: announces them. */
static void post_published(struct wefti_thread *t)
{
	wefti_ready_spent(t->vcpu, t);
	wefti_idle_announce();
}

void wefti_balance_yield(struct wefti_thread *self)
{
	struct wefti_vcpu *v = self->vcpu;
	struct wefti_thread *next;
	int published;

	wefti_share_end(v, self->cold);
	wefti_ready_outlasted(v);
	next = wefti_balance_next(v, self, &published);
	self->post = published ? post_published : post_stay;
	if (next)
		wefti_switch(v, self, next);
}
