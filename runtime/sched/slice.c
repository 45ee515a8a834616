/* SPDX-License-Identifier: MIT */
/*
 * sched/slice.c - how long a thread may run while others wait
 *
 * A thread that waits in a loop, without a call, for a thread that needs the same VCPU
 * waits until the end of its own slice. Two threads that wait for each other like this
 * spend all their time on it. From outside such a loop looks like computing. So a
 * thread that is preempted near the place of its last preemption gets half a slice,
 * then a quarter, then an eighth, but never less than a millisecond.
 *
 * Where threads only compute, shorter slices would lose some percent of their time to
 * switches and to looks of the monitor. So slices stay whole on a VCPU if its last
 * PATIENCE switches were all preemptions, and if its threads have not found events just
 * before they would have parked. (A thread waits in a loop to have another thread's
 * work sooner, and somewhere that work comes in and goes out.)
 *
 * Slices are also shorter where more than MANY threads of a VCPU wait for their turns.
 * Otherwise each of 32 threads that compute would run for 10 ms every third of a
 * second. Where there are more VCPUs than CPUs, those of the other VCPUs on the same CPU
 * count as well.
 *
 * A slice is half as long while a thread waits for the VCPU that is not known to compute: it
 * was woken, or has just been begun. Such a thread may need the VCPU for a moment only.
 *
 * A thread whose slice is over may have to be asked more than once, and the count of
 * refusals decides what is done (sched/preempt.c). So it is asked once in half a slice, or
 * in the monitor's longest time between two looks. Looks may come each 20 us, for a thread
 * of another VCPU (sched/blocked.c).
 *
 * All of this is a guess, and no thread relies on it.
 *
 * A slice is time in which the thread could run. Where there are more kernel threads
 * than CPUs, the kernel thread of a VCPU may wait for milliseconds. So a slice is over
 * when its time has passed and the kernel thread has had a CPU for half of that time.
 * Without the second condition, a turn on a crowded machine might end before the thread
 * has run at all. A thread that has had less than the others gets more of that time
 * (sched/share.c).
 *
 * Writers
 *   vcpu.slice_cpu  wefti_slice_begin
 *   vcpu.spared  wefti_slice_spared
 */
#include "sched/slice.h"

#include "os/kthread/kthread.h"
#include "sched/idle.h"
#include "sched/ready.h"
#include "sched/share.h"
#include "thread/peek.h"

#define NEAR_BYTES	2048	/* two loops of one function are near each other */
#define NEAR_MOST	3	/* an eighth */
#define PATIENCE	32
#define SHORTEST_NS	1000000

#define MANY		8		/* ready threads of a VCPU */
#define SHORTEST_OF_MANY_NS	2000000

void wefti_slice_ends(struct wefti_cold *body, uintptr_t pc)
{
	uintptr_t apart = pc - body->preempt_at + NEAR_BYTES;

	body->preempt_at = pc;
	if (apart > 2 * NEAR_BYTES)
		body->preempt_near = 0;
	else if (body->preempt_near < NEAR_MOST)
		body->preempt_near++;
}

void wefti_slice_note_switches(struct wefti_vcpu *v, uint64_t ticks)
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

/* The whole slice; shorter where many threads wait for their turns. */
int64_t wefti_slice_whole(const struct wefti_vcpu *v)
{
	const int64_t whole = wefti_rt.slice_ns;
	const int64_t waiting = (int64_t)wefti_ready_len_hint(v) * (1 + wefti_rt.crowding);
	int64_t part;

	if (waiting < MANY || whole <= SHORTEST_OF_MANY_NS)
		return whole;
	part = whole / waiting * MANY;
	return part < SHORTEST_OF_MANY_NS ? SHORTEST_OF_MANY_NS : part;
}

/* The longest slice for v's thread. */
static int64_t longest(const struct wefti_vcpu *v)
{
	const int64_t whole = wefti_slice_whole(v);
	const int known = wefti_ready_len_hint(v) == 0 || wefti_ready_has_spent(v);

	if (whole < 2 * SHORTEST_OF_MANY_NS ||
	    (known && !wefti_next_hint(v) && wefti_fifo_is_empty(&wefti_rt.inject)))
		return whole;
	return whole / 2;
}

int64_t wefti_slice_ns(const struct wefti_vcpu *v, struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);
	uint32_t near = body ? wefti_peek_preempt_near(body) : 0;
	int64_t whole = longest(v);
	int64_t part = whole >> (near < NEAR_MOST ? near : NEAR_MOST);

	if (v->only_preempted > PATIENCE || whole <= SHORTEST_NS)
		return whole;
	return part < SHORTEST_NS ? SHORTEST_NS : part;
}

int wefti_slice_is_over(const struct wefti_vcpu *v, struct wefti_thread *t,
			int64_t now)
{
	const int64_t slice = wefti_slice_ns(v, t);
	int64_t cpu;

	if (now - v->seen_since < slice)
		return 0;
	cpu = wefti_os_kthread_cpu_ns(v->kthread->tid);
	return cpu < 0 || cpu - load_relaxed(&v->slice_cpu) >=
			  slice / 2 + wefti_share_owed(v, t, slice);
}

int wefti_slice_must_end(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now,
			 int64_t look_ns)
{
	const int64_t half = wefti_slice_ns(v, t) / 2;

	if (now - v->end_asked < (half < look_ns ? half : look_ns) ||
	    !wefti_slice_is_over(v, t, now))
		return 0;
	v->end_asked = now;
	return 1;
}
