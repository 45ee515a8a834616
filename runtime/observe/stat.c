/* SPDX-License-Identifier: MIT */
/*
 * observe/stat.c - the runtime's counters
 *
 * Sums over the VCPUs, each of which counts for itself; not of a single moment. The
 * peak is noted when a VCPU has no struct of an ended thread at hand (life/pool.c).
 * Only then can a VCPU have more threads than ever before. With several VCPUs the peak
 * may be too low, by the structs that were in other VCPUs' pools at that moment.
 */
#include <errno.h>

#include "life/life.h"
#include "observe/gate.h"
#include "sched/vcpu.h"
#include "weft/observe.h"

static void add_vcpu(struct weft_stat *s, const struct wefti_vcpu *v)
{
	s->threads_made += load_relaxed(&v->stat_made);
	s->switches += load_relaxed(&v->ticks) - 1;	/* ticks start at 1 */
	s->steals += load_relaxed(&v->stat_steals);
	s->preemptions += load_relaxed(&v->stat_preemptions);
	s->wakes += load_relaxed(&v->stat_wakes);
}

int weft_stat(struct weft_stat *stat)
{
	if (wefti_observe_begin() != 0)
		return -ESRCH;
	*stat = (struct weft_stat){
		.threads_made = load_relaxed(&wefti_rt.foreign_made),
		.threads = wefti_threads_alive(),
		.threads_peak = load_relaxed(&wefti_rt.threads_peak),
		.kernel_threads = load_relaxed(&wefti_rt.kthread_count),
		.compensations = load_relaxed(&wefti_rt.compensations),
		.own_tls = wefti_rt.own_tls,
		.blocked_ns = (uint64_t)load_relaxed(&wefti_rt.blocked_ns),
		.reserved = { 0 },
	};
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		add_vcpu(stat, wefti_vcpu_at(i));
	wefti_observe_end();
	if (stat->threads_peak < stat->threads)
		stat->threads_peak = stat->threads;
	return 0;
}
