/* SPDX-License-Identifier: MIT */
/*
 * sched/scarce.c - VCPUs that have lost their CPU to another program
 *
 * Where more kernel threads want to run than there are CPUs, a kernel thread that loses
 * its CPU waits for milliseconds. So does the thread in its `next`: for example a
 * thread that was handed a mutex, and behind it all threads that want the mutex. An
 * idle VCPU that is woken has to wait for a CPU as well. So once the monitor has found
 * such a VCPU, it wakes several for that thread, and the first that gets a CPU takes
 * it. For a while after that the monitor looks more often and wakes another idle VCPU
 * each time, so that one already waits for a CPU when the next turn is over. A VCPU
 * that finds nothing idles again, after some 20 us.
 */
#include "sched/scarce.h"

#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/kthread/kthread.h"
#include "sched/idle.h"
#include "sched/policy.h"
#include "sched/seat.h"
#include "thread/peek.h"

static int looks_left;

void wefti_scarce_start(void)
{
	looks_left = 0;
}

/* The kernel thread wants to run, but has not run since it had used cpu_ns. */
static int waits_for_cpu(const struct wefti_kthread *k, int64_t cpu_ns)
{
	return wefti_os_kthread_cpu_ns(k->tid) == cpu_ns &&
	       !wefti_os_kthread_is_asleep(k->tid);
}

static void has_lost_its_cpu(void)
{
	looks_left = WEFTI_SCARCE_LOOKS;
	for (int i = 0; i < WEFTI_SCARCE_WOKEN && wefti_idle_any(); i++)
		wefti_idle_wake_another();
}

/* Returns NULL if v is between two threads or has not begun. */
static const struct wefti_kthread *carrier(struct wefti_vcpu *v)
{
	struct wefti_thread *t = load_seq_cst(&v->current);	/* of monitor.c: P2 */

	return t && wefti_peek_kind(t) != WEFTI_KIND_SCHED ? v->kthread : NULL;
}

void wefti_scarce_help(struct wefti_vcpu *v)
{
	uint64_t ticks = load_relaxed(&v->ticks);
	const struct wefti_kthread *k;
	int64_t cpu;

	if (!wefti_next_hint(v) || !load_relaxed(&wefti_rt.idle_count))
		return;
	k = carrier(v);
	cpu = k ? wefti_os_kthread_cpu_ns(k->tid) : 0;
	for (int i = 0; i < WEFTI_SCARCE_PAUSES; i++)
		wefti_arch_pause();
	fence_seq_cst();	/* of idle.c: P1 */
	if (!wefti_next_hint(v) || load_relaxed(&v->ticks) != ticks)
		return;
	if (k && waits_for_cpu(k, cpu))
		has_lost_its_cpu();
	else
		wefti_idle_announce();
}

static void help_all(void)
{
	struct wefti_thread *self = wefti_enter();

	looks_left--;
	wefti_idle_announce();
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		if (!wefti_idle_is(wefti_vcpu_at(i)))
			wefti_scarce_help(wefti_vcpu_at(i));
	wefti_leave(self);
}

void wefti_scarce_wait(uint32_t seen, int64_t until_ns)
{
	while (looks_left > 0 && !wefti_idle_all() &&
	       load_seq_cst(&wefti_rt.monitor_wake) == seen) {
		int64_t then = wefti_os_now_ns() + WEFTI_SCARCE_LOOK_NS;

		if (then > until_ns)
			break;
		wefti_os_futex_wait(&wefti_rt.monitor_wake, seen, then);
		help_all();
	}
}
