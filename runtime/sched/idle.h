/* SPDX-License-Identifier: MIT */
/* sched/idle.h - VCPUs with nothing to do, and those who have work for them */
#ifndef WEFT_SCHED_IDLE_H
#define WEFT_SCHED_IDLE_H

#include "sched/vcpu.h"

COLD void wefti_idle_wake_one(void);

/*
 * After work was published that any VCPU could take, by an RMW as the last
 * store (all queues do): wakes an idle VCPU, unless one is searching, which
 * then will find it.
 */
static inline void wefti_idle_notify(void)
{
	fence_seq_cst_after_rmw();	/* P1 */
	if (unlikely(load_relaxed(&wefti_rt.idle_count)) &&
	    !load_relaxed(&wefti_rt.searching))
		wefti_idle_wake_one();
}

/*
 * The same for a thread in `next`, which v will most likely run itself in a
 * moment. Waking another VCPU for each would cost more than it gains where two
 * threads wake each other in turn. So one in 2^next_shift is announced. The
 * shift is 0 after a thief took such a thread, grows with each search that was
 * announced so and found nothing, and falls by one at each look of the monitor:
 * such pairs pay for a needless search a few times a second, and threads that
 * wake others and go on computing are found out as soon. What is not announced
 * and stays there is seen by the monitor, also what a VCPU that was just going
 * idle has missed: it does not look at `next` before, and here is no fence. The
 * scheduler loop, which makes ready who has waited for a descriptor or a deadline,
 * announces none: v runs it at once, and each would be a search in vain.
 */
static inline void wefti_idle_notify_next(struct wefti_vcpu *v)
{
	if (likely(!load_relaxed(&wefti_rt.idle_count)))
		return;
	if (unlikely(wefti_self()->kind == WEFTI_KIND_SCHED))
		return;
	if (++v->notify_skip >> load_relaxed(&v->next_shift)) {
		v->notify_skip = 0;
		store_relaxed(&wefti_rt.announcer, v->index + 1);
		if (!load_relaxed(&wefti_rt.searching))
			wefti_idle_wake_one();
	}
}

/*
 * The same for an heir: a thread in `next` that was handed what many want. Those
 * who hand over and come back for more have it run within some 30 ns, a thousand
 * times while another VCPU is being woken; and that one, while it looks, takes
 * the cache lines away that they need. Worse, who wakes it is in the kernel for
 * so long that it seems to compute: a thief takes the heir, there is an idle VCPU
 * to be woken again, and so on, at a third of the speed. So heirs are announced
 * only where the last ones were given far from each other.
 */
#define WEFTI_HEIRS		64	/* between two looks at the clock */
#define WEFTI_HEIRS_NEAR	2	/* looks that may find otherwise */

void wefti_idle_time_heirs(struct wefti_vcpu *v);

static inline void wefti_idle_notify_heir(struct wefti_vcpu *v)
{
	if (likely(!load_relaxed(&wefti_rt.idle_count)))
		return;
	if (unlikely(++v->heirs % WEFTI_HEIRS == 0))
		wefti_idle_time_heirs(v);
	if (unlikely(!v->heirs_near))
		wefti_idle_notify_next(v);
}

/*
 * By a searching VCPU that has found something: hands the role on. By the
 * monitor, who takes it from one that may be stopped, for another.
 */
void wefti_idle_found(void);

/* By the monitor: wakes an idle VCPU, whether or not another searches. */
void wefti_idle_wake_another(void);

/* Does work wait while VCPUs idle? A look, no promise. */
int wefti_idle_work_is_left(void);

/* By the monitor: if VCPUs idle, one of them keeps the time and the poller. */
void wefti_idle_have_keeper(void);

/* Becomes the searching VCPU. Returns 0 if there is one. */
int wefti_idle_try_search(void);

/* Does any VCPU idle, at this moment? Do all? */
int wefti_idle_any(void);
int wefti_idle_all(void);

/* Nothing was found. Returns 1 as the searching VCPU, 0 as an ordinary one. */
int wefti_idle_wait(struct wefti_vcpu *v, int searching);

/* Does v idle, at this moment? */
static inline int wefti_idle_is(const struct wefti_vcpu *v)
{
	return load_relaxed(&wefti_rt.idle[v->index / 64]) >> v->index % 64 & 1;
}

/* How many threads of v, but the one in `next`, any VCPU could take. */
static inline unsigned wefti_ready_len_hint(const struct wefti_vcpu *v)
{
	return wefti_ring_len_hint(&v->ring) +
	       wefti_ring_len_hint(&v->parents);
}

/* Is there anything that a VCPU could take? A look, no promise. */
int wefti_idle_work_waits(void);

#endif
