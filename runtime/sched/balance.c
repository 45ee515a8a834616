/* SPDX-License-Identifier: MIT */
/*
 * sched/balance.c - threads that only compute get equal shares of all VCPUs
 *
 * An idle VCPU steals; but where threads only compute, no VCPU idles. So three threads
 * on one VCPU and one on another would stay there for ever, and each of the three would
 * get a third of a VCPU's time. If the number of threads is not a multiple of the
 * number of VCPUs, no placement stays fair for long.
 *
 * So a thread whose slice is over looks at the other VCPUs. If one of them has fewer
 * threads, by more than an eighth, the thread goes to the injection queue instead of
 * its own ring. The monitor finds that queue filled and no VCPU idle, and ends the
 * slices of the others. The first VCPU whose slice ends takes the thread.
 *
 * A coin decides whether this thread leaves, or the next one at the end of its slice.
 * Without the coin, one of three threads on two VCPUs would wander for ever and wait
 * half a slice each time, while the other two would never wait.
 *
 * The lengths are hints, read without an order. A wrong length moves a thread
 * needlessly, or one slice too late.
 *
 * Rejected:
 * - one queue for all preempted threads, always: it is fairer by some percent where there
 *   are many threads, but each slice then begins with the cache of another CPU.
 * - counting each thread's time and running the thread with the least: this needs an
 *   ordered queue for all VCPUs.
 */
#include "sched/balance.h"

#include "sched/idle.h"
#include "sched/ready.h"
#include "sched/switch.h"

#define MOST_AHEAD(fewer)	((fewer) + (fewer) / 7)

/* The number of threads that run or are ready on v, which is not the caller's VCPU. */
static uint64_t load_of(struct wefti_vcpu *v)
{
	return wefti_ready_len_hint(v) + (wefti_next_hint(v) != NULL) +
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

/* The 2: the caller, and the thread that runs after it. */
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
