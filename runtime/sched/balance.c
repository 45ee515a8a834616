/* SPDX-License-Identifier: MIT */
/*
 * sched/balance.c - threads that only compute get equal shares of all VCPUs
 *
 * An idle VCPU steals, but where threads only compute no VCPU idles. So three
 * threads on one VCPU and one on another would stay so for ever, with a third of the
 * time of a VCPU each for the three. And no place is right for long where the number
 * of threads is no multiple of the number of VCPUs.
 *
 * So a thread whose slice is over looks at the other VCPUs. If one of them has
 * fewer threads, by more than an eighth, the thread goes to the injection queue in
 * place of its own ring. The monitor, which finds that queue filled and no VCPU idle,
 * ends the slices of the others, and the first of them takes the thread.
 *
 * A coin decides whether the thread that leaves is this one, or the next one when its
 * slice is over. Without it, one thread of three on two VCPUs would wander for ever,
 * and wait half a slice each time, while the other two would never wait.
 *
 * The lengths are hints, read without an order: a wrong one moves a thread for
 * nothing, or moves it one slice later.
 *
 * Rejected: a queue for all that have been preempted, in each case. It is fairer by
 * some percent where there are many threads, but each slice then begins with the
 * cache of another CPU. To count each thread's time and to let the one with
 * the least run next: it needs an ordered queue for all VCPUs.
 */
#include "sched/balance.h"

#include "sched/idle.h"
#include "sched/ready.h"
#include "sched/switch.h"

#define MOST_AHEAD(fewer)	((fewer) + (fewer) / 7)

/* The threads that run or are ready on a VCPU that is not the caller's. */
static uint64_t load_of(struct wefti_vcpu *v)
{
	return wefti_ready_len_hint(v) + (load_relaxed(&v->next) != NULL) +
	       !wefti_idle_is(v);
}

static uint64_t least_load_beside(const struct wefti_vcpu *v)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		uint64_t load = i == v->index ? UINT64_MAX :
						load_of(wefti_vcpu_at(i));

		if (load < least)
			least = load;
	}
	return least;
}

/* The caller and the thread that runs after it are two. */
static int is_ahead(struct wefti_vcpu *v)
{
	uint64_t least = least_load_beside(v);

	return least != UINT64_MAX &&
	       wefti_ready_len_hint(v) + 2 > MOST_AHEAD(least);
}

static int coin_is_heads(struct wefti_vcpu *v)
{
	return wefti_vcpu_random(v) & 1;
}

static void post_stay(struct wefti_thread *t)
{
	wefti_ready_last(t->vcpu, t);
}

static void post_leave(struct wefti_thread *t)
{
	wefti_inject(t);
}

void wefti_balance_yield(struct wefti_thread *self)
{
	struct wefti_vcpu *v = self->vcpu;
	struct wefti_thread *next = wefti_pick_slow(v);

	if (!next)
		return;
	self->post = is_ahead(v) && coin_is_heads(v) ? post_leave : post_stay;
	wefti_switch(v, self, next);
}
