/* SPDX-License-Identifier: MIT */
/* sched/idle.h - idle VCPUs, and how producers of work wake them */
#ifndef WEFT_SCHED_IDLE_H
#define WEFT_SCHED_IDLE_H

#include "sched/policy.h"
#include "sched/vcpu.h"

COLD void wefti_idle_wake_one(void);

/*
 * Called after work was published that any VCPU could take. The last store of the
 * publication must be an RMW, as it is in all queues. Wakes an idle VCPU, unless a VCPU
 * is searching: that one will find the work.
 */
static inline void wefti_idle_announce(void)
{
	fence_seq_cst_after_rmw();	/* P1 */
	if (unlikely(load_relaxed(&wefti_rt.idle_count)) &&
	    !load_relaxed(&wefti_rt.searching))
		wefti_idle_wake_one();
}

/*
 * The same for a thread in `next`, which v will most likely run itself in a moment.
 * Where two threads wake each other in turn, waking another VCPU each time would cost
 * more than it gains. So only one in 2^next_shift such threads is announced. The shift
 * becomes 0 when a thief takes such a thread, grows by one with each announced search
 * that finds nothing, and falls by one at each look of the monitor. So such pairs pay
 * for a needless search only a few times a second, and a thread that wakes others and
 * goes on computing is still found out soon. The monitor sees a thread that is not
 * announced and stays in `next` (sched/scarce.c). There is no fence here, and a VCPU that
 * goes idle does not look at `next` of others first. So it may miss such a thread, too. A
 * scheduler loop announces none of the threads that it makes ready after a wait for a
 * descriptor or a deadline: v runs the thread at once, and each search would be in vain.
 */
static inline void wefti_idle_announce_next(struct wefti_vcpu *v)
{
	if (likely(!load_relaxed(&wefti_rt.idle_count)))
		return;
	if (unlikely(wefti_self()->kind == WEFTI_KIND_SCHED))
		return;
	if (++v->announce_skip >> load_relaxed(&v->next_shift)) {
		v->announce_skip = 0;
		/* Written only if it calls a searcher: all VCPUs read this line. */
		if (!load_relaxed(&wefti_rt.searching)) {
			store_relaxed(&wefti_rt.announcer, v->index + 1);
			wefti_idle_wake_one();
		}
	}
}

void wefti_idle_time_heirs(struct wefti_vcpu *v);

/*
 * The same for an heir: a thread in `next` that was handed something many threads want.
 * Threads that hand over and come back for more run their heir within some 30 ns, a
 * thousand times while another VCPU is being woken. The woken VCPU, while it looks,
 * takes away the cache lines that they need. Worse, the waking VCPU is in the kernel
 * for so long that it seems to compute. Then a thief takes the heir, there is an idle VCPU
 * to be woken again, and so on, at a third of the speed. So heirs are announced only
 * where the last ones were handed over far apart in time.
 */
static inline void wefti_idle_announce_heir(struct wefti_vcpu *v)
{
	if (likely(!load_relaxed(&wefti_rt.idle_count)))
		return;
	if (unlikely(++v->heirs % WEFTI_HEIRS == 0))
		wefti_idle_time_heirs(v);
	if (unlikely(!v->heirs_near))
		wefti_idle_announce_next(v);
}

/* Called by a searching VCPU that has found work: it passes the searching role on. */
void wefti_idle_found(void);

/*
 * Called by the monitor at each look. If work waits while VCPUs idle at two looks in a
 * row, the work may rely on a VCPU whose kernel thread was stopped (I4). The searching
 * role is taken from that VCPU and given to another.
 */
void wefti_idle_pass_search_on(void);

/* Called by the monitor: wakes an idle VCPU, even if another is searching. */
void wefti_idle_wake_another(void);

/*
 * Called by the monitor: if VCPUs idle, makes one of them keep the time and the poller.
 */
void wefti_idle_have_keeper(void);

/* Becomes the searching VCPU. Returns 0 if there is one already. */
int wefti_idle_take_search(void);

/* Does any VCPU idle at this moment? Do all? */
int wefti_idle_any(void);
int wefti_idle_all(void);

/* Do all but the caller's VCPU? A hint. */
int wefti_idle_all_others(void);

/*
 * Idles: the VCPU found nothing. Returns 1 if it is the searching VCPU afterwards, else
 * 0.
 */
int wefti_idle_wait(struct wefti_vcpu *v, int searching);

/* Does v idle at this moment? */
static inline int wefti_idle_is(const struct wefti_vcpu *v)
{
	return load_relaxed(&wefti_rt.idle[v->index / 64]) >> v->index % 64 & 1;
}

/* How many threads of v any VCPU could take. Leaves out the thread in `next`. */
static inline unsigned wefti_ready_len_hint(const struct wefti_vcpu *v)
{
	return wefti_ring_len_hint(&v->ring) +
	       wefti_ring_len_hint(&v->parents);
}

/* The thread in `next`, or NULL. */
static inline struct wefti_thread *wefti_next_hint(const struct wefti_vcpu *v)
{
	struct wefti_thread *t = load_relaxed(&v->next);

	return t == WEFTI_NEXT_SHUT ? NULL : t;
}

/* Is there any thread that a VCPU could take? A hint. */
int wefti_idle_work_waits(void);

/* Called by the monitor, at each look: see wefti_idle_announce_next(). */
static inline void wefti_idle_trust_next(struct wefti_vcpu *v)
{
	uint32_t shift = load_relaxed(&v->next_shift);

	if (shift > 0)
		store_relaxed(&v->next_shift, shift - 1);
}

#endif
