/* SPDX-License-Identifier: MIT */
/*
 * sched/share.c - how much CPU time the threads that compute have had
 *
 * Turns differ in length. The monitor looks once in half a slice, the kernel takes the CPU
 * away in the middle of a turn, a thread is in malloc when it is asked for the end. Turns
 * differ in number too: a VCPU whose kernel thread gets less CPU time gives its threads
 * fewer. So a thread whose slice is over adds what it has really used to `served`. Three
 * things follow from that:
 *   - a thread that has had less than the others of its VCPU gets the rest on top of its
 *     slice (wefti_share_owed),
 *   - one that has had more, by more than a slice, loses its turn (sched/balance.c),
 *   - a VCPU whose slice ends takes a thread from another VCPU if that thread has had less
 *     than its own next one, by more than two slices (sched/balance.c). Less may mean no
 *     more than that the other VCPU is in the midst of its round.
 *
 * Two marks say how far the turns have come: for each VCPU one, for its own threads, and
 * one for all. A mark is what the thread with the most of those that have begun a turn had
 * had at that moment. It moves by no more than a slice in a turn, so that a thread which
 * is far ahead does not put all others behind.
 *
 * Only the ends of slices are counted. What a thread uses in a turn that ends by a wait is
 * not, and costs nothing. A thread that comes back from waiting, or is new, is far from the
 * mark. So whatever is more than KNOWN_SLICES from the mark is taken for the mark itself.
 * A thread is charged for CHARGED_SLICES at one time, at most: a longer turn was that of a
 * thread alone.
 *
 * The counts are in us, modulo 2^32. All of this is a guess, and no thread relies on it.
 * All VCPUs move the mark of all, by a load and a store: one move may be lost.
 *
 * Rejected:
 * - a queue of all threads in the order of what they have had. It is fairer still, and
 *   each slice begins with the cache of another CPU.
 * - the mean of what the threads have had as the mark. With few threads it comes too late,
 *   and with many that have just begun it says little.
 * - the mark of all for wefti_share_owed(), too. All threads of a slow VCPU then get longer
 *   turns, which makes none of them faster.
 *
 * Writers
 *   runtime.served  wefti_share_charge; init/start.c: reset
 *   vcpu.served  wefti_share_charge
 */
#include "sched/share.h"

#include "sched/slice.h"
#include "thread/peek.h"

#define US		1000	/* ns */
#define KNOWN_SLICES	8
#define CHARGED_SLICES	4

/* By how much `served` is behind the mark, in ns. 0: the two have nothing in common. */
static int64_t behind(uint32_t mark, uint32_t served)
{
	const int64_t most = KNOWN_SLICES * wefti_rt.slice_ns;
	const int64_t ns = US * (int64_t)(int32_t)(mark - served);

	return ns > most || ns < -most ? 0 : ns;
}

static int64_t lag(uint32_t mark, struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);

	return body ? behind(mark, wefti_peek_served(body)) : 0;
}

int64_t wefti_share_lag(struct wefti_thread *t)
{
	return lag(load_relaxed(&wefti_rt.served), t);
}

int64_t wefti_share_lag_on(const struct wefti_vcpu *v, struct wefti_thread *t)
{
	return lag(load_relaxed(&v->served), t);
}

/* Less than a quarter of a slice is left as it is: a look of the monitor is as coarse. */
int64_t wefti_share_owed(const struct wefti_vcpu *v, struct wefti_thread *t,
			 int64_t slice_ns)
{
	const int64_t owed = wefti_share_lag_on(v, t) - slice_ns / 4;

	return owed < 0 ? 0 : owed < slice_ns ? owed : slice_ns;
}

/* A turn began when its thread had had `served`. */
static uint32_t moved(uint32_t mark, uint32_t served, int64_t slice_ns)
{
	const int64_t ahead = -behind(mark, served);

	if (ahead == 0)		/* or v's mark is from long ago */
		return served;
	if (ahead < 0)
		return mark;
	return mark + (uint32_t)((ahead < slice_ns ? ahead : slice_ns) / US);
}

void wefti_share_charge(struct wefti_vcpu *v, struct wefti_cold *body, int64_t used_ns)
{
	const int64_t most = CHARGED_SLICES * wefti_rt.slice_ns;
	const int64_t slice = wefti_slice_whole(v);
	const uint32_t all = load_relaxed(&wefti_rt.served);
	const uint32_t had = all - (uint32_t)(behind(all, body->served) / US);

	store_relaxed(&wefti_rt.served, moved(all, had, slice));
	store_relaxed(&v->served, moved(load_relaxed(&v->served), had, slice));
	used_ns = used_ns < 0 ? 0 : used_ns < most ? used_ns : most;
	body->served = had + (uint32_t)(used_ns / US);
}

/*
 * The turn began when the last slice of v ended, if v has made no more than one switch
 * since. Else it began shortly before the monitor saw its switch.
 */
void wefti_share_end(struct wefti_vcpu *v, struct wefti_cold *body)
{
	const uint64_t ticks = load_relaxed(&v->ticks);
	const int64_t cpu = wefti_os_kthread_cpu_ns(v->kthread->tid);
	const int64_t since = ticks - v->turn_ticks <= 1 ? v->turn_cpu :
			      load_relaxed(&v->slice_cpu);

	wefti_share_charge(v, body, cpu - since);
	v->turn_ticks = ticks;
	v->turn_cpu = cpu;
}
