/* SPDX-License-Identifier: MIT */
/*
 * observe/deadlock.c - finds that all threads are parked and nothing can wake one
 *
 * The monitor asks for this check when all VCPUs have idled for a while and it is about
 * to sleep until one leaves idle. Then the program goes on only if
 *   - a timer is armed, or a thread waits for a descriptor or a disk,
 *   - a thread of a layer above sleeps without a deadline: it waits for a signal,
 *   - a kernel thread that is not ours exists: it could call weft,
 *   - a thread is blocked in the kernel without its VCPU,
 *   - a signal comes for which the program has a handler, which could post a semaphore.
 *     Handlers of faults and SIGABRT do not count: no code runs that could fault.
 * libc's sigwait() and read(), outside of weft's calls, block a kernel thread.
 * Not covered: a process that shares an object with this one; but no object of weft's
 * can be shared yet.
 *
 * A kernel thread may be late to end, or to stand by. If only the count of kernel
 * threads is wrong, the check is repeated for some seconds. One case is not noticed: a
 * deadlock that arises later, when a foreign kernel thread ends that never called weft.
 * Nothing wakes the monitor then.
 *
 * Writers
 *   wefti_deadlock_helpers  pthread/init/start.c: start
 */
#include "observe/deadlock.h"

#include <signal.h>

#include "base/format.h"
#include "io/disk.h"
#include "io/table.h"
#include "observe/dump.h"
#include "observe/gate.h"
#include "observe/last.h"
#include "observe/observer.h"
#include "os/call/copy.h"
#include "os/call/exit.h"
#include "os/call/tasks.h"
#include "os/signal/signal.h"
#include "sched/explore.h"
#include "sched/idle.h"
#include "sched/timer.h"

#define STDERR		2
#define STATUS		2
#define APART_NS	INT64_C(20000000)	/* between the two looks */
#define LOOKS		9	/* each after twice the time of the one before: 10 s */
#define SIGNALS		64

enum verdict {
	GOES_ON,
	UNSURE,		/* only surplus kernel threads speak against it */
	DEAD,
};

_Atomic unsigned wefti_deadlock_helpers;

static int is_of_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGTRAP || signal == SIGABRT ||
	       signal == SIGSYS;
}

static int signal_can_wake(void)
{
	for (int s = 1; s <= SIGNALS; s++) {
		if (is_of_fault(s) || s == 32 || s == 33)
			continue;	/* the two are libc's own */
		if (wefti_os_signal_has_handler(s, wefti_observer_on_quit))
			return 1;
	}
	return 0;
}

/* The list may change meanwhile; then the second look does not find all quiet. */
static unsigned count_spares(void)
{
	struct wefti_kthread *k = load_seq_cst(&wefti_rt.spares), copy;
	unsigned n = 0;

	for (; k && n <= wefti_rt.settings.spare_max; k = copy.spare_next, n++)
		if (wefti_os_copy(&copy, k, sizeof(copy)) < sizeof(copy))
			break;
	return n;
}

/* The VCPUs' side: no thread runs or is ready, and none will be. */
static int all_is_quiet(void)
{
	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON &&
	       wefti_idle_all() && !wefti_idle_work_waits() &&
	       !wefti_timers_any();
}

static uint64_t switches(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		sum += load_seq_cst(&wefti_vcpu_at(i)->ticks);
	return sum;
}

/*
 * How many threads wait. -1: one of them sleeps without a deadline, which for a layer
 * above is a wait for a signal.
 */
static int count_threads(void)
{
	int n = 0;

	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		struct wefti_view view;

		wefti_view_slot(i, &view);
		if (view.state != WEFTI_VIEW_PARKED ||
		    view.kind == WEFTI_KIND_FOREIGN)
			continue;
		if (view.why == WEFTI_WHY_SLEEP &&
		    load_seq_cst(&wefti_deadlock_helpers))
			return -1;
		n++;
	}
	return n;
}

/* No kernel thread is blocked, and none is the program's own. */
static int all_kthreads_are_ours(void)
{
	unsigned carriers = load_seq_cst(&wefti_rt.kthread_count);
	unsigned ours = carriers + wefti_observer_kthreads() +
			load_seq_cst(&wefti_deadlock_helpers) +
			1;	/* the monitor */

	return carriers == wefti_rt.vcpu_count + count_spares() &&
	       wefti_os_tasks(NULL, NULL) == (int)ours;
}

static enum verdict judge(void)
{
	if (!all_is_quiet() || wefti_fd_any_waits() ||
	    wefti_disk_any_waits() || signal_can_wake())
		return GOES_ON;
	if (!all_kthreads_are_ours())
		return UNSURE;
	return count_threads() < 0 ? GOES_ON : DEAD;	/* the most expensive look */
}

static void report(void)
{
	char title[128];

	wefti_explore_deadlock(0);
	wefti_format(title, sizeof(title), "deadlock: all %d threads are parked "
		     "and nothing can wake one", count_threads());
	(void)wefti_dump(STDERR, title);
	wefti_last_record();
	wefti_explore_deadlock(1);
	/* Below another layer a report ends nothing. */
	if (wefti_rt.settings.deadlock == WEFTI_DEADLOCK_EXIT &&
	    !load_seq_cst(&wefti_deadlock_helpers))
		wefti_os_exit(STATUS);
}

int64_t wefti_deadlock_check(void)
{
	/* Counts of switches at those moments; used by the observer only. */
	static uint64_t reported, seen;
	static unsigned looks, dead;
	uint64_t now;
	enum verdict v;

	if (wefti_observe_begin() != 0)
		return INT64_MAX;
	now = switches();
	v = now == reported ? GOES_ON : judge();
	wefti_observe_end();
	if (now != seen)
		looks = dead = 0;
	seen = now;
	dead = v == DEAD ? dead + 1 : 0;
	if (dead == 2) {
		reported = now;
		report();
	}
	if (v == GOES_ON || dead == 2 || looks == LOOKS)
		return INT64_MAX;
	return APART_NS << (dead ? 0 : looks++);
}
