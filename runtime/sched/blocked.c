/* SPDX-License-Identifier: MIT */
/*
 * sched/blocked.c - whether who carries a VCPU waits in the kernel
 *
 * Its CPU time stands still, and the kernel says that it sleeps. Where the monitor
 * looks more often than each look_ns, one look is not enough for that: it may wait for
 * a lock of the kernel's.
 *
 * Who wants the kernel's lock of the process's mappings waits for another of the same
 * process, which has to run to give it back. One more kernel thread would be in its
 * way, and want the lock next: so it counts as blocked only after LOCK_NS.
 *
 * One that is found twice in the same announced region is blocked if it sleeps. If it
 * runs there, or waits for a CPU, it is not helped by one more kernel thread either: it
 * is looked at again when it has been there for twice as long, until RUNS_NS.
 */
#include "sched/blocked.h"

#include "os/kthread/kthread.h"
#include "thread/peek.h"

#define LOCK_NS	100000000
#define RUNS_NS	5000000		/* in a region, with its VCPU */

void wefti_blocked_begin(struct wefti_vcpu *v, int64_t now)
{
	v->seen_cpu_at = now;
	v->seen_cpu = wefti_os_kthread_cpu_ns(v->kthread->tid);
}

enum wefti_blocked wefti_blocked_look(struct wefti_vcpu *v, int64_t now,
				      int64_t look_ns)
{
	int64_t cpu = v->seen_cpu;

	if (now - v->seen_cpu_at < look_ns)
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
