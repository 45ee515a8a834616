/* SPDX-License-Identifier: MIT */
/*
 * sched/monitor.c - the kernel thread that watches the VCPUs
 *
 * While any VCPU is busy, the monitor looks at each of them every half slice, and at
 * least every 5 ms, so that blocked threads and deadlines do not wait for long slices.
 * If a thread has a shorter slice (sched/slice.c), looks are as frequent. A VCPU that
 * makes switches while threads wait for it is asked for a FIFO turn once in half a
 * slice. For a VCPU that has made no switch since the last look there are three cases.
 * If its kernel thread is blocked (sched/blocked.c), its seat is taken. If the thread's
 * slice is over, the thread is preempted if others wait for the VCPU, or if the VCPU has
 * fewer threads than another (sched/balance.c). If that thread is light, it cannot be
 * stopped anywhere. Then its seat is taken, if others wait for the VCPU. A thread that
 * is asked to come through the hook (sched/preempt.h) is sent its signal again. VCPUs
 * that have lost their CPU are in sched/scarce.c.
 *
 * When all VCPUs have idled for a few looks, the monitor sleeps. It wakes when a VCPU
 * leaves idle, or when the keeper of the time (sched/idle.c) has missed a deadline. The
 * keeper's kernel thread may then have been stopped, and the monitor does its work. A
 * keeper that wakes in time leaves idle and so wakes the monitor; this costs an idle
 * program no extra wake-up. The monitor does not take the role from a stopped keeper:
 * nothing the keeper does later can disturb what the monitor has done. While such a
 * keeper has the role, deadlines are late by at most LATE_NS and one look. A keeper
 * that was stopped while it served a heap is in sched/stuck.c.
 *
 * The monitor sleeps by the idle protocol: monitor_asleep = 1; fence; look at the idle
 * bits, the queues and the earliest deadline; futex. A VCPU that leaves idle then looks
 * at monitor_asleep, and so does a thread that has injected work. Model: keeper.
 *
 * Writers
 *   runtime.coarse_now  go_round, wefti_monitor_start, wefti_monitor_wake
 *   runtime.compensations  take; init/start.c: reset
 *   runtime.monitor  drop_self, monitor_main; init/start.c: reset
 *   runtime.monitor_asleep  sleep_while_idle; init/start.c: reset
 *   runtime.monitor_hurry  monitor_main, wefti_monitor_hurry;
 *       blocked.c: wefti_blocked_in_region
 *   runtime.monitor_stop  wefti_monitor_start, wefti_monitor_stop
 *   runtime.monitor_wake  wefti_monitor_wake
 *   wefti_monitor_quiet  observer.c: leave_quit, wefti_observer_start
 *
 * Pairs
 *   P1  monitor: asleep = 1; fence; load the idle bits, queues, heaps' next, and
 *                the kernel threads that are to be signalled again
 *       VCPU:    leaves idle; load asleep (both seq_cst). It armed its timers
 *                before it set its bit
 *       inject:  the thread; fence (of the announcement); load asleep
 *       handler: pushes its kernel thread (sched/again.c); load asleep
 *   P2  a switch stores current -> the monitor loads it: the carrier of the VCPU
 */
#include "sched/monitor.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tasks.h"
#include "os/kthread/kthread.h"
#include "sched/again.h"
#include "sched/balance.h"
#include "sched/blocked.h"
#include "sched/idle.h"
#include "sched/loop.h"
#include "sched/poller.h"
#include "sched/preempt.h"
#include "sched/ready.h"
#include "sched/sample.h"
#include "sched/scarce.h"
#include "sched/seat.h"
#include "sched/slice.h"
#include "sched/spare.h"
#include "sched/stuck.h"
#include "sched/timer.h"
#include "thread/bare.h"
#include "thread/peek.h"

#define LOOK_NS		5000000		/* between two looks, at most */
#define HURRY_NS	20000		/* while a region is announced */
#define LATE_NS		5000000		/* a keeper that runs is not as late */
#define LOOKS_AWAKE	6		/* looks at which all idle, before it sleeps */

static struct wefti_os_kthread handle;
static int64_t look_ns;		/* between two looks */
static int64_t next_look_ns;	/* until the next, where slices are shorter */
static int64_t turn_ns;		/* between two FIFO turns asked of a VCPU */
static unsigned blocked_taken;	/* VCPUs, at this look; none of regions */
static unsigned most_load;	/* threads of the fullest VCPU, at this look */
static int runs;		/* written by start and stop */
static struct wefti_thread *self_made;	/* written by start and stop */
static struct wefti_cold cold;		/* of self_made */

_Atomic(wefti_quiet_fn *) wefti_monitor_quiet;

COLD void wefti_monitor_wake(void)
{
	/* The monitor did not update it while it slept. */
	store_relaxed(&wefti_rt.coarse_now, wefti_os_now_ns());
	fetch_add_seq_cst(&wefti_rt.monitor_wake, 1);
	wefti_os_futex_wake(&wefti_rt.monitor_wake, 1);
}

/* Logs the system call, by its number. */
static COLD void tell_taken(const struct wefti_vcpu *v, int tid)
{
	char call[128];

	wefti_os_task_line(tid, "syscall", call, sizeof(call));
	call[strcspn(call, " ")] = 0;
	wefti_log(WEFTI_LOG_DEBUG, "weft: VCPU %u is taken from kernel thread %d, "
		  "which is in system call %s\n", v->index, tid,
		  *call ? call : "?");
}

/*
 * v goes from t's kernel thread to another. That kernel thread is reserved first:
 * whatever can fail must fail before the seat is taken. Returns 1 if v was taken.
 */
static int take(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now)
{
	struct wefti_kthread *k = wefti_spare_reserve();
	const int tid = v->kthread->tid;

	if (!k)
		return 0;
	if (!wefti_seat_take(v, t, now)) {
		wefti_spare_give(k, NULL);
		return 0;
	}
	fetch_add_relaxed(&wefti_rt.compensations, 1);
	wefti_record_taken(v, t, tid);
	if (wefti_log_shows(WEFTI_LOG_DEBUG))
		tell_taken(v, tid);
	wefti_spare_give(k, v);
	wefti_preempt_taken(t);
	return 1;
}

/* t was inside something when it was asked to come through the hook: asks again. */
static void insist(struct wefti_vcpu *v, struct wefti_thread *t)
{
	struct wefti_cold *body = t ? wefti_peek_cold(t) : NULL;

	if (body && wefti_peek_insists(body))
		(void)wefti_preempt(v, t);
}

/* For a VCPU that makes switches while threads wait: once in half a slice. */
static void ask_for_turn(struct wefti_vcpu *v, int64_t now)
{
	if (now - v->turn_asked < turn_ns ||
	    (wefti_ready_len_hint(v) == 0 && wefti_fifo_is_empty(&wefti_rt.inject)))
		return;
	v->turn_asked = now;
	store_relaxed(&v->resched, WEFTI_FIFO_TURN);
}

/*
 * If others wait for the end of t's slice, or for the monitor's own look at epoll, the
 * next look comes in half a slice.
 */
static void shorten_next_look(struct wefti_vcpu *v, struct wefti_thread *t)
{
	int64_t half = wefti_slice_ns(v, t) / 2;

	if (half > 0 && half < next_look_ns &&
	    (wefti_balance_others_wait(v) || wefti_balance_is_behind(v, most_load) ||
	     (wefti_poller_is_on() && !load_relaxed(&wefti_poller.sleeper))))
		next_look_ns = half;
}

/* t goes on in v. If its slice is over, v takes another thread. */
static void end_slice_if_over(struct wefti_vcpu *v, struct wefti_thread *t, int64_t now)
{
	const int wait = wefti_balance_others_wait(v);

	if (wefti_rt.slice_ns <= 0 ||
	    !(wait || wefti_balance_is_behind(v, most_load)) ||
	    !wefti_slice_must_end(v, t, now, look_ns))
		return;
	store_relaxed(&v->resched, WEFTI_FIFO_TURN);
	if ((wefti_preempt_is_refused(t) || !wefti_preempt(v, t)) && wait)
		(void)take(v, t, now);
}

static void decide_for(struct wefti_vcpu *v, int64_t now)
{
	uint64_t ticks = load_relaxed(&v->ticks);
	struct wefti_thread *t = load_seq_cst(&v->current);	/* P2 */
	int is_thread = t && wefti_peek_kind(t) != WEFTI_KIND_SCHED;
	enum wefti_blocked is, region;

	insist(v, t);
	if (is_thread)
		shorten_next_look(v, t);
	if (ticks != v->seen_ticks || !is_thread) {
		wefti_slice_note_switches(v, ticks);
		v->seen_ticks = ticks;
		v->seen_since = now;
		v->seen_region = 0;
		if (is_thread) {
			wefti_blocked_begin(v, now);
			wefti_slice_begin(v);
			(void)wefti_blocked_in_region(v, t, now, &next_look_ns);
		}
		ask_for_turn(v, now);
		return;
	}
	if (load_relaxed(&t->in_runtime))
		return;
	region = wefti_blocked_in_region(v, t, now, &next_look_ns);
	is = region == WEFTI_GOES_ON ? wefti_blocked_decide(v, now, look_ns) : region;
	if (is == WEFTI_BLOCKED)
		blocked_taken += take(v, t, now) && region == WEFTI_GOES_ON;
	else if (is == WEFTI_GOES_ON)
		end_slice_if_over(v, t, now);
}

/*
 * The VCPU that sleeps in epoll takes the events, unless it was stopped. If it has been
 * there for two looks and made no switch, the monitor looks at epoll too.
 */
static void stand_in_for_sleeper(void)
{
	static uint32_t seen;
	static uint64_t seen_ticks;
	uint32_t sleeper = load_relaxed(&wefti_poller.sleeper);
	uint64_t ticks = sleeper ?
			 load_relaxed(&wefti_vcpu_at(sleeper - 1)->ticks) : 0;

	if (wefti_poller_is_on() &&
	    (!sleeper || (sleeper == seen && ticks == seen_ticks)))
		wefti_poller_run();
	seen = sleeper;
	seen_ticks = ticks;
}

/*
 * When the keeper of the time counts as late. Until then the deadline is left to the
 * keeper, so that an idle program is not woken twice for it.
 */
static int64_t late_at(void)
{
	int64_t next = wefti_timers_earliest();

	return next < INT64_MAX - LATE_NS ? next + LATE_NS : INT64_MAX;
}

/*
 * Returns 1 when every VCPU idles, no spare may have to be ended, and no heap is stuck.
 */
static int go_round(void)
{
	static unsigned first;	/* alternates: all VCPUs get at the injection queue */
	int64_t now = wefti_os_now_ns();
	unsigned idle = 0, stuck;

	store_relaxed(&wefti_rt.coarse_now, now);
	wefti_sample_begin(now);
	most_load = wefti_balance_most();
	next_look_ns = look_ns;
	blocked_taken = 0;
	first++;
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at((first + i) %
						     wefti_rt.vcpu_count);

		const int is_idle = wefti_idle_is(v);

		wefti_idle_trust_next(v);
		wefti_sample(v, is_idle);
		if (is_idle) {
			idle++;
			continue;
		}
		decide_for(v, now);
		wefti_scarce_help(v);
	}
	wefti_blocked_pace(blocked_taken, look_ns, &next_look_ns);
	wefti_again_signal_all();
	wefti_idle_pass_search_on();
	stand_in_for_sleeper();
	stuck = wefti_stuck_find(now);
	if (idle < wefti_rt.vcpu_count || late_at() <= now) {
		wefti_timers_run_all();
		wefti_idle_have_keeper();
	}
	return !wefti_spares_trim(now) && idle == wefti_rt.vcpu_count && !stuck;
}

static void sleep_while_idle(void)
{
	uint32_t seen = load_seq_cst(&wefti_rt.monitor_wake);
	wefti_quiet_fn *quiet = load_seq_cst(&wefti_monitor_quiet);

	if (quiet && wefti_idle_all() && !wefti_timers_any())
		quiet();
	store_seq_cst(&wefti_rt.monitor_asleep, WEFTI_MONITOR_ASLEEP);
	fence_seq_cst();	/* P1 */
	/* A VCPU may have been stopped before its own look for work. */
	if (wefti_idle_all() && !wefti_idle_work_waits() &&
	    !load_seq_cst(&wefti_rt.again) &&
	    !load_seq_cst(&wefti_rt.monitor_stop))
		wefti_os_futex_wait(&wefti_rt.monitor_wake, seen, late_at());
	store_seq_cst(&wefti_rt.monitor_asleep, 0);
}

static void wait_for_next_look(uint32_t seen)
{
	const int hurries = load_seq_cst(&wefti_rt.monitor_hurry) != 0;
	int64_t until = wefti_os_now_ns() + (hurries ? HURRY_NS : next_look_ns);

	wefti_scarce_wait(seen, until);
	wefti_os_futex_wait(&wefti_rt.monitor_wake, seen, until);
}

static void monitor_main(void *unused)
{
	int idle_looks = 0;
	int64_t half = wefti_rt.slice_ns / 2;

	(void)unused;
	look_ns = half > 0 && half < LOOK_NS ? half : LOOK_NS;
	turn_ns = half > 0 ? half : LOOK_NS;
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		wefti_vcpu_at(i)->turn_asked = wefti_os_now_ns();
	wefti_self_set(self_made);
	while (!load_seq_cst(&wefti_rt.monitor_stop)) {
		uint32_t seen = load_seq_cst(&wefti_rt.monitor_wake);
		struct wefti_thread *self = wefti_enter();

		store_relaxed(&wefti_rt.monitor, self);
		store_seq_cst(&wefti_rt.monitor_hurry, 0);
		idle_looks = go_round() ? idle_looks + 1 : 0;
		wefti_leave(self);
		if (idle_looks >= LOOKS_AWAKE) {
			wefti_sample_pause();
			sleep_while_idle();
			idle_looks = 0;
			continue;
		}
		if (!load_seq_cst(&wefti_rt.monitor_stop))
			wait_for_next_look(seen);
	}
}

/* The struct by which the monitor enters the runtime. The monitor does not run yet. */
static int make_self(void)
{
	cold = (struct wefti_cold){ .name = "weft-monitor" };
	wefti_timer_init(&cold.timer);
	self_made = wefti_thread_bare(WEFTI_KIND_FOREIGN, &cold);
	if (!self_made)
		return -ENOMEM;
	wefti_thread_begins(self_made, WEFTI_JOIN_DETACHED);
	if (wefti_records_any())	/* it wakes VCPUs and threads */
		wefti_record_named(NULL, wefti_thread_id(self_made), cold.name);
	return 0;
}

static void drop_self(void)
{
	store_relaxed(&wefti_rt.monitor, NULL);
	wefti_thread_turn(self_made);
	wefti_thread_bare_free(self_made);
	self_made = NULL;
}

int wefti_monitor_start(void)
{
	store_relaxed(&wefti_rt.coarse_now, wefti_os_now_ns());
	store_relaxed(&wefti_rt.monitor_stop, 0);
	wefti_blocked_start();
	wefti_scarce_start();
	wefti_sample_start();
	if (make_self() != 0)
		return -ENOMEM;

	int error = wefti_os_kthread_create(&handle, 128 * 1024, monitor_main,
					    NULL, cold.name);

	runs = error == 0;
	if (error)
		drop_self();
	return error;
}

void wefti_monitor_stop(void)
{
	if (!runs)
		return;		/* undoes a start that failed */
	runs = 0;
	store_seq_cst(&wefti_rt.monitor_stop, 1);
	wefti_monitor_wake();
	wefti_os_kthread_join(&handle);
	drop_self();
}
