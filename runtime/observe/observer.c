/* SPDX-License-Identifier: MIT */
/*
 * observe/observer.c - a kernel thread that writes dumps, and records, on request
 *
 * SIGQUIT's handler, the handler of another process's request, and the monitor only wake
 * it. So a dump needs nothing of what it shows. The observer sleeps on a futex otherwise.
 * A layer above may lend a kernel thread instead, one that waits for something else. The
 * observer does nothing that could wait for the program.
 *
 * libunwind's file is mapped at the start. As soon as the start is over, a program may
 * change its root, its ids or its folder, and another library might have the same name.
 *
 * Writers
 *   lent  wefti_observer_lend
 *   worker  work, wefti_observer_forget
 *   wants  observer_main, want, wefti_observer_start, wefti_observer_work
 *   works  start_work, wefti_observer_forget, wefti_observer_stop
 */
#include "observe/observer.h"

#include "base/check.h"
#include "observe/asked.h"
#include "observe/cycle_watch.h"
#include "observe/deadlock.h"
#include "observe/dump.h"
#include "observe/gate.h"
#include "observe/last.h"
#include "observe/look.h"
#include "observe/overflow.h"
#include "observe/profile.h"
#include "observe/recording.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/object/unwind.h"
#include "os/signal/signal.h"
#include "sched/monitor.h"

#define STDERR		2
#define STACK		(128 * 1024)

#define WANT_DUMP	1u
#define WANT_CHECK	2u
#define WANT_END	4u
#define WANT_ASKED	16u
#define WANT_RECORDING	32u
#define WANT_LAST	64u

typedef void ring_fn(void);

static _Atomic(ring_fn *) lent;	/* NULL: it has its own kernel thread */
static _Atomic int works;	/* the lent one may work, from start to stop */
static struct wefti_os_kthread handle;
static int runs;		/* written by start and stop */
static int has_quit;		/* SIGQUIT's handler is ours */
static _Atomic int worker;	/* the kernel thread that has worked last; 0: none */
static struct sigaction quit_before;
static _Atomic uint32_t wants;	/* WANT_*, a futex */

static int64_t check_at;	/* written by the start, then by the observer */
static int64_t record_at;	/* the same: the end of a reader's time */
static int64_t watch_at;	/* the same: the next look for cycles */

static void want(uint32_t what)
{
	ring_fn *ring = load_seq_cst(&lent);

	fetch_or_seq_cst(&wants, what);
	if (ring)
		ring();
	else
		wefti_os_futex_wake(&wants, 1);
}

int wefti_observer_is_lent(void)
{
	return load_seq_cst(&lent) != NULL;
}

unsigned wefti_observer_kthreads(void)
{
	return !wefti_observer_is_lent();
}

void wefti_observer_on_quit(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	want(WANT_DUMP);
}

int wefti_observer_on_asked(const siginfo_t *info)
{
	if (wefti_recording_note(info) || wefti_profile_note(info))
		want(WANT_RECORDING);
	else if (wefti_asked_note(info))
		want(WANT_ASKED);
	else
		return 0;
	return 1;
}

/* Nobody answers here. The request is still none of the program's signals. */
static int refuse(const siginfo_t *info)
{
	const uint64_t mark = (uint64_t)(uintptr_t)info->si_value.sival_ptr >> 32;

	return info->si_code == SI_QUEUE &&
	       (mark == WEFTI_ASKED_MARK || mark == WEFTI_RECORDING_MARK ||
		mark == WEFTI_PROFILE_MARK);
}

static void on_quiet(void)
{
	want(WANT_CHECK);
}

static int64_t check(void)
{
	int64_t after = wefti_deadlock_check();

	return after == INT64_MAX ? after : wefti_os_now_ns() + after;
}

static int64_t answer_reader(void)
{
	const int64_t recording = wefti_recording_answer();
	const int64_t profile = wefti_profile_answer();

	return recording < profile ? recording : profile;
}

/* Returns the time at which to work next, even if nothing is wanted. */
static int64_t work(uint32_t wanted)
{
	store_relaxed(&worker, wefti_os_gettid());
	if (wanted & WANT_LAST)
		wefti_last_answer();
	if (wanted & WANT_DUMP)
		(void)wefti_dump(STDERR, "SIGQUIT");
	if (wanted & WANT_ASKED)
		wefti_asked_answer();
	if ((wanted & WANT_CHECK) || wefti_os_now_ns() >= check_at)
		check_at = check();
	if ((wanted & WANT_RECORDING) || wefti_os_now_ns() >= record_at)
		record_at = answer_reader();
	if (wefti_os_now_ns() >= watch_at)
		watch_at = wefti_watch_cycles();
	if (watch_at < record_at)
		return check_at < watch_at ? check_at : watch_at;
	return check_at < record_at ? check_at : record_at;
}

static void observer_main(void *unused)
{
	uint32_t wanted;

	(void)unused;
	if (has_quit)
		wefti_os_signal_unblock(SIGQUIT);
	while (!((wanted = xchg_seq_cst(&wants, 0)) & WANT_END))
		wefti_os_futex_wait(&wants, 0, work(wanted));
}

void wefti_observer_lend(void (*ring)(void))
{
	store_seq_cst(&lent, ring);
}

int wefti_observer_may_answer(void)
{
	/* A child of _Fork() has none. */
	return (runs || load_seq_cst(&works)) && wefti_rt.process == wefti_os_pid() &&
	       load_relaxed(&worker) != wefti_os_gettid();
}

void wefti_observer_ask_last(void)
{
	want(WANT_LAST);
}

int64_t wefti_observer_work(void)
{
	if (!load_seq_cst(&works))
		return INT64_MAX;
	return work(xchg_seq_cst(&wants, 0));
}

/* A program that waits for SIGQUIT by sigwait() or a descriptor blocks it. */
static void install_quit(void)
{
	has_quit = wefti_rt.settings.dump &&
		   !wefti_os_signal_has_handler(SIGQUIT, wefti_observer_on_quit) &&
		   !wefti_os_signal_is_ignored(SIGQUIT) &&
		   !wefti_os_signal_is_blocked(SIGQUIT);
	if (has_quit)
		wefti_os_signal_install(SIGQUIT, wefti_observer_on_quit,
					SA_ONSTACK, &quit_before);
}

/* Returns 1 if there is an observer. */
static int start_work(void)
{
	(void)wefti_os_unwind_load();
	check_at = record_at = INT64_MAX;
	watch_at = 0;
	if (wefti_observer_is_lent()) {
		store_seq_cst(&works, 1);
		return 1;
	}
	runs = wefti_os_kthread_create(&handle, STACK, observer_main, NULL,
				       "weft-observer") == 0;
	return runs;
}

void wefti_observer_start(void)
{
	int there = 0;

	wefti_look_init();
	wefti_overflow_start();
	store_seq_cst(&wants, 0);
	wefti_asked_forget();
	if (wefti_rt.settings.dump ||
	    wefti_rt.settings.deadlock != WEFTI_DEADLOCK_OFF) {
		install_quit();
		there = start_work();
	}
	/* Privileged: see observe/asked.h. */
	wefti_os_signal_others(WEFTI_OS_ASKED, there && !wefti_os_is_privileged() ?
			       wefti_observer_on_asked : refuse);
	if (there && wefti_rt.settings.deadlock != WEFTI_DEADLOCK_OFF)
		store_seq_cst(&wefti_monitor_quiet, on_quiet);
	wefti_observe_open();
	if (there && wefti_rt.settings.deadlock == WEFTI_DEADLOCK_WATCH)
		want(0);	/* the first look */
}

static void leave_quit(void)
{
	wefti_os_signal_others(WEFTI_OS_ASKED, NULL);
	if (has_quit)
		wefti_os_signal_remove(SIGQUIT, wefti_observer_on_quit, &quit_before);
	store_seq_cst(&wefti_monitor_quiet, NULL);
}

void wefti_observer_forget(void)
{
	leave_quit();
	runs = has_quit = 0;
	store_seq_cst(&works, 0);
	store_relaxed(&worker, 0);
	wefti_last_forget();
	wefti_dump_forget();
	wefti_recording_forget();
	wefti_profile_forget();
	wefti_look_forget();
	wefti_observe_forget();
	wefti_overflow_stop();
}

void wefti_observer_stop(void)
{
	leave_quit();
	wefti_observe_shut();
	if (runs) {
		want(WANT_END);
		wefti_os_kthread_join(&handle);
	}
	/* A lent kernel thread that is about to work does so once more. */
	store_seq_cst(&works, 0);
	runs = has_quit = 0;
	wefti_recording_forget();
	wefti_profile_stop();
	wefti_observe_close();
	wefti_overflow_stop();
}
