/* SPDX-License-Identifier: MIT */
/*
 * observe/deadlock.c - every thread is parked, and nothing can wake one
 *
 * Asked for by the monitor when all VCPUs have idled for a while and it is about
 * to sleep until one leaves idle. Then the program goes on only if
 *   - a timer is armed, or a thread waits for a descriptor,
 *   - a kernel thread that is not ours lives: it could call us,
 *   - a thread is blocked in the kernel without its VCPU,
 *   - a signal comes for which the program has a handler, which could post a
 *     semaphore. Handlers of faults and SIGABRT do not count: nothing runs that
 *     could fault.
 * sigwait(), a read of a descriptor and the like are calls in which a kernel
 * thread is blocked. What is missed: a process that shares an object with this
 * one, but no object of weft's can be shared yet.
 *
 * Not noticed is a deadlock that becomes one when a foreign kernel thread ends
 * that never called weft: nothing wakes the monitor then.
 */
#include "observe/deadlock.h"

#include <signal.h>

#include "base/format.h"
#include "io/table.h"
#include "observe/dump.h"
#include "observe/guard.h"
#include "observe/observer.h"
#include "os/clock.h"
#include "os/copy.h"
#include "os/exit.h"
#include "os/futex.h"
#include "os/signal.h"
#include "os/tasks.h"
#include "sched/idle.h"
#include "sched/timer.h"

#define STDERR		2
#define STATUS		2
#define APART_NS	20000000	/* the two looks */
#define SIGNALS		64

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

/* The list may change meanwhile; then it is not quiet at the second look. */
static unsigned count_spares(void)
{
	struct wefti_kthread *k = load_seq_cst(&wefti_rt.spares), copy;
	unsigned n = 0;

	for (; k && n <= wefti_rt.settings.spare_max; k = copy.spare_next, n++)
		if (wefti_os_copy(&copy, k, sizeof(copy)) < sizeof(copy))
			break;
	return n;
}

/* The VCPUs' side: nothing runs, nothing waits to run, nothing will. */
static int all_is_quiet(void)
{
	unsigned carriers = load_seq_cst(&wefti_rt.kthread_count);

	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON &&
	       load_seq_cst(&wefti_rt.idle_count) == wefti_rt.vcpu_count &&
	       !wefti_idle_work_waits() &&
	       wefti_timers_earliest() == INT64_MAX &&
	       carriers == wefti_rt.vcpu_count + count_spares();
}

static uint64_t switches(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		sum += load_seq_cst(&wefti_vcpu_at(i)->ticks);
	return sum;
}

static unsigned count_threads(void)
{
	unsigned n = 0;

	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		struct wefti_view view;

		wefti_view_slot(i, &view);
		n += view.state == WEFTI_VIEW_PARKED &&
		     view.kind != WEFTI_KIND_FOREIGN;
	}
	return n;
}

static int is_dead(void)
{
	unsigned ours = load_seq_cst(&wefti_rt.kthread_count) +
			wefti_observer_kthreads() + 1;	/* and the monitor */

	return all_is_quiet() && !wefti_fd_any_waits() &&
	       wefti_os_tasks(NULL, NULL) == (int)ours &&
	       !signal_can_wake();
}

static void report(void)
{
	char title[128];

	wefti_format(title, sizeof(title), "deadlock: all %u threads are parked "
		     "and nothing can wake one", count_threads());
	(void)wefti_dump(STDERR, title);
	if (wefti_rt.settings.deadlock == WEFTI_DEADLOCK_EXIT)
		wefti_os_exit(STATUS);
}

void wefti_deadlock_check(void)
{
	static _Atomic uint32_t never;
	static uint64_t reported;	/* at this count of switches */
	uint64_t before;
	int dead;

	if (wefti_observe_begin() != 0)
		return;
	before = switches();
	dead = before != reported && is_dead();
	if (dead) {
		wefti_os_futex_wait(&never, 0, wefti_os_now_ns() + APART_NS);
		dead = is_dead() && switches() == before;
	}
	wefti_observe_end();
	if (dead) {
		reported = before;
		report();
	}
}
