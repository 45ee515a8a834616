/* SPDX-License-Identifier: MIT */
/*
 * sched/slice.c - how long a thread may run while others wait
 *
 * A thread that waits in a loop for another, without a call, waits for the end of
 * its own slice where that one needs the same VCPU. Two that wait for each other so
 * spend all time on it. From outside such a loop looks like one that computes: so a
 * thread that was preempted near where it was preempted before has half of a slice,
 * then a quarter, then an eighth, if that is a millisecond or more.
 *
 * Where threads only compute that would be some percent of their time lost, to
 * switches and to looks of the monitor. So slices stay whole on a VCPU whose last
 * PATIENCE switches were all preemptions, and whose threads have not found events at
 * once where they would have parked either: who waits in a loop does so to
 * have another's work sooner, and somewhere that work comes in and goes out.
 *
 * All of this is a guess, and no thread relies on it.
 *
 * Writers
 *   vcpu.spared  wefti_slice_spared
 */
#include "sched/slice.h"

#include "thread/peek.h"

#define NEAR_BYTES	2048	/* two loops of a function are near */
#define NEAR_MOST	3	/* an eighth */
#define PATIENCE	32
#define SHORTEST_NS	1000000

void wefti_slice_ends(struct wefti_cold *body, uintptr_t pc)
{
	uintptr_t apart = pc - body->preempt_at + NEAR_BYTES;

	body->preempt_at = pc;
	if (apart > 2 * NEAR_BYTES)
		body->preempt_near = 0;
	else if (body->preempt_near < NEAR_MOST)
		body->preempt_near++;
}

void wefti_slice_look(struct wefti_vcpu *v, uint64_t ticks)
{
	uint64_t switches = ticks - v->seen_ticks;
	uint64_t preemptions = load_relaxed(&v->stat_preemptions);
	uint64_t spared = load_relaxed(&v->spared);

	if (switches > preemptions - v->seen_preemptions ||
	    spared != v->seen_spared)
		v->only_preempted = 0;
	else
		v->only_preempted += switches;
	v->seen_preemptions = preemptions;
	v->seen_spared = spared;
}

int64_t wefti_slice_ns(const struct wefti_vcpu *v, struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);
	uint32_t near = body ? wefti_peek_preempt_near(body) : 0;
	int64_t whole = wefti_rt.slice_ns;
	int64_t part = whole >> (near < NEAR_MOST ? near : NEAR_MOST);

	if (v->only_preempted > PATIENCE || whole <= SHORTEST_NS)
		return whole;
	return part < SHORTEST_NS ? SHORTEST_NS : part;
}
