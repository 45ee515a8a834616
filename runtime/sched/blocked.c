/* SPDX-License-Identifier: MIT */
/*
 * sched/blocked.c - is the kernel thread that carries a VCPU blocked in the kernel?
 *
 * It is blocked if its CPU time stands still and the kernel says that it sleeps. Looks
 * that are less than look_ns apart do not count: the kernel thread may only be waiting
 * for a lock inside the kernel.
 *
 * Where one blocked thread was found, there are often many that have not run yet. So
 * each look that takes a VCPU from a blocked thread makes the time to the next look four
 * times shorter, down to PACE_NS, and each that takes none makes it twice as long again.
 * (It takes two looks to find the next one.) While the time is shorter than look_ns,
 * looks that are PACE_NS apart count. Threads in announced regions do not matter here.
 *
 * A kernel thread that wants the kernel's lock of the process's mappings waits for
 * another kernel thread of the same process, which must run to release it. One more
 * kernel thread would get in its way and want the lock next. So such a kernel thread
 * counts as blocked only after LOCK_NS.
 *
 * A thread that is found twice in the same announced region is blocked if its kernel
 * thread sleeps. If the kernel thread runs there, or waits for a CPU, one more kernel
 * thread would not help it. It is then looked at again when it has been there twice as
 * long, up to RUNS_NS. After that it counts as blocked, though it runs.
 */
#include "sched/blocked.h"

#include "os/kthread/kthread.h"
#include "thread/peek.h"

#define LOCK_NS	100000000
#define RUNS_NS	5000000		/* in a region, holding its VCPU */
#define PACE_NS	20000		/* between looks, at least */

static int64_t pace;		/* the monitor's: to the next look; 0: look_ns */

void wefti_blocked_start(void)
{
	pace = 0;
}

void wefti_blocked_pace(unsigned taken, int64_t look_ns, int64_t *next_look_ns)
{
	if (taken)
		pace = (pace ? pace : look_ns) / 4;
	else
		pace *= 2;
	if (taken && pace < PACE_NS)
		pace = PACE_NS;
	if (pace >= look_ns)
		pace = 0;
	if (pace && pace < *next_look_ns)
		*next_look_ns = pace;
}

void wefti_blocked_begin(struct wefti_vcpu *v, int64_t now)
{
	v->seen_cpu_at = now;
	v->seen_cpu = wefti_os_kthread_cpu_ns(v->kthread->tid);
}

enum wefti_blocked wefti_blocked_decide(struct wefti_vcpu *v, int64_t now,
					int64_t look_ns)
{
	int64_t cpu = v->seen_cpu;

	if (now - v->seen_cpu_at < (pace ? PACE_NS : look_ns))
		return WEFTI_GOES_ON;
	wefti_blocked_begin(v, now);
	if (v->seen_cpu != cpu || !wefti_os_kthread_is_asleep(v->kthread->tid))
		return WEFTI_GOES_ON;
	return now - v->seen_since <= LOCK_NS &&
	       wefti_os_kthread_wants_lock(v->kthread->tid) ?
		       WEFTI_WANTS_LOCK : WEFTI_BLOCKED;
}

enum wefti_blocked wefti_blocked_in_region(struct wefti_vcpu *v,
					   struct wefti_thread *t, int64_t now,
					   int64_t *next_look_ns)
{
	struct wefti_cold *body = wefti_peek_cold(t);
	uint32_t region = body ? wefti_peek_region(body) : 0;
	int is_new = region != v->seen_region;
	int64_t age;

	v->seen_region = region;
	if (region % 2 == 0)
		return WEFTI_GOES_ON;
	if (is_new) {
		v->region_since = now;
		store_relaxed(&wefti_rt.monitor_hurry, 1);
		return WEFTI_RUNS_IN_REGION;
	}
	age = now - v->region_since;
	if (age >= RUNS_NS || wefti_os_kthread_is_asleep(v->kthread->tid))
		return WEFTI_BLOCKED;
	if (age < *next_look_ns)
		*next_look_ns = age;
	return WEFTI_RUNS_IN_REGION;
}
