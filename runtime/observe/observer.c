/* SPDX-License-Identifier: MIT */
/*
 * observe/observer.c - a kernel thread that writes dumps when others ask for it
 *
 * SIGQUIT's handler, that of another process's request, and the monitor only wake it, so nothing that is dumped is
 * needed for the dump. It sleeps on a futex otherwise; or it is lent by a layer
 * above, which has one that waits for something else. It does nothing that
 * could wait for the program: libunwind is loaded by another one, the loader,
 * which it makes once, a second after the start or at the first dump, whichever
 * is first, and which then ends. By then a short program is over and has not
 * paid for it; and a thread that is stopped inside dlopen() or malloc() later
 * can stop no dump. While a program has calls that block, and so spare kernel
 * threads, the loader is put off, for ten seconds at most.
 * Who needs libunwind before waits for it, but not for ever, and does without.
 * The loader's descriptors are its own: the file that dlopen() reads and
 * libunwind's pipe, which nothing here uses, take no number that the program
 * could have had.
 *
 * Rejected: to load at the start (a millisecond for each program), or by the
 * one who dumps (who might never come back); a loader that sleeps for that
 * second, when a program may have one kernel thread more in a call that blocks;
 * to have the monitor make it, who must not wait for a lock of libc's either.
 *
 * Writers
 *   lent  wefti_observer_lend
 *   loader_state  is_taken_on, loader_is, start_observer, wefti_observer_forget
 *   observer_tid  is_this_kthread, leave_loader
 *   wants  observer_main, want, wefti_observer_start, wefti_observer_work
 *   works  leave_work, start_work
 */
#include "observe/observer.h"

#include "base/check.h"
#include "observe/asked.h"
#include "observe/deadlock.h"
#include "observe/dump.h"
#include "observe/guard.h"
#include "observe/look.h"
#include "observe/overflow.h"
#include "os/apart.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/kthread.h"
#include "os/signal.h"
#include "os/unwind.h"
#include "sched/monitor.h"

#define STDERR		2
#define LOAD_AFTER_NS	INT64_C(1000000000)
#define PUTS_OFF	10u	/* for that long each */
#define LOAD_PATIENCE	INT64_C(500000000)
#define STACK		(128 * 1024)

#define WANT_DUMP	1u
#define WANT_CHECK	2u
#define WANT_END	4u
#define WANT_LOAD	8u
#define WANT_ASKED	16u

typedef void ring_fn(void);

static _Atomic(ring_fn *) lent;	/* NULL: it has a kernel thread of its own */
static _Atomic int works;	/* the one that is lent may, start to stop */
static struct wefti_os_kthread handle;
static int runs;		/* start and stop */
static int has_quit;		/* SIGQUIT's handler is ours */
static struct sigaction quit_before;
static _Atomic uint32_t wants;	/* WANT_*, a futex */

/* The loader: 0 nobody makes it, then these; a futex. */
#define LOADER_WAITS	1u	/* to be made by the observer */
#define LOADER_LOADS	2u
#define LOADER_ENDED	3u

static struct wefti_os_kthread loader;
static _Atomic uint32_t loader_state;
static int64_t load_at;		/* by the start, then by the observer */
static int64_t check_at;	/* the same */
static unsigned puts_off;	/* how often it may still be later */
static _Atomic int observer_tid;

static void loader_is(uint32_t state)
{
	store_seq_cst(&loader_state, state);
	wefti_os_futex_wake(&loader_state, 1 << 20);
}

static void load_main(void *unused)
{
	(void)unused;
	(void)wefti_os_descriptors_apart();
	(void)wefti_os_unwind_load();
	loader_is(LOADER_ENDED);
}

static int is_taken_on(uint32_t state)
{
	uint32_t waits = LOADER_WAITS;

	if (!cas_seq_cst(&loader_state, &waits, state))
		return 0;
	wefti_os_futex_wake(&loader_state, 1 << 20);
	return 1;
}

/* Without an observer nobody makes it. */
static void leave_loader(void)
{
	store_seq_cst(&observer_tid, 0);
	(void)is_taken_on(0);
}

/* By the observer. */
static void make_loader(void)
{
	if (!is_taken_on(LOADER_LOADS))
		return;
	if (wefti_os_kthread_create(&loader, STACK, load_main, NULL,
				    "weft-loader") != 0)
		loader_is(0);
	else
		wefti_os_kthread_detach(&loader);
}

static void want(uint32_t what)
{
	ring_fn *ring = load_seq_cst(&lent);

	fetch_or_seq_cst(&wants, what);
	if (ring)
		ring();
	else
		wefti_os_futex_wake(&wants, 1);
}

void wefti_unwind_want(void)
{
	int64_t until = wefti_os_now_ns() + LOAD_PATIENCE;
	uint32_t s;

	if (wefti_os_gettid() == load_seq_cst(&observer_tid))
		make_loader();
	else if (load_seq_cst(&loader_state) == LOADER_WAITS)
		want(WANT_LOAD);
	while ((s = load_seq_cst(&loader_state)) != 0 && s != LOADER_ENDED &&
	       wefti_os_now_ns() < until)
		wefti_os_futex_wait(&loader_state, s, until);
}

int wefti_unwind_will_load(void)
{
	uint32_t s = load_seq_cst(&loader_state);

	return s == LOADER_WAITS || s == LOADER_LOADS;
}

int wefti_observer_is_lent(void)
{
	return load_seq_cst(&lent) != NULL;
}

unsigned wefti_observer_kthreads(void)
{
	return !wefti_observer_is_lent() +
	       (load_seq_cst(&loader_state) == LOADER_LOADS);
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
	if (!wefti_asked_note(info))
		return 0;
	want(WANT_ASKED);
	return 1;
}

static void on_quiet(void)
{
	want(WANT_CHECK);
}

/* Has it no spare kernel thread? */
static int is_within_its_vcpus(void)
{
	return load_seq_cst(&wefti_rt.kthread_count) <= wefti_rt.vcpu_count;
}

/* Now, or later if it has one. */
static void load_or_put_off(void)
{
	if (is_within_its_vcpus() || --puts_off == 0) {
		load_at = INT64_MAX;
		make_loader();
	} else {
		load_at += LOAD_AFTER_NS;
	}
}

static int64_t check(void)
{
	int64_t after = wefti_deadlock_check();

	return after == INT64_MAX ? after : wefti_os_now_ns() + after;
}

/* Returns when there is something to do that nobody wants. */
static int64_t work(uint32_t wanted)
{
	if (wanted & WANT_LOAD)
		make_loader();
	if (wanted & WANT_DUMP)
		(void)wefti_dump(STDERR, "SIGQUIT");
	if (wanted & WANT_ASKED)
		wefti_asked_answer();
	if ((wanted & WANT_CHECK) || wefti_os_now_ns() >= check_at)
		check_at = check();
	if (wefti_os_now_ns() >= load_at)
		load_or_put_off();
	return check_at < load_at ? check_at : load_at;
}

static void is_this_kthread(void)
{
	store_seq_cst(&observer_tid, wefti_os_gettid());
}

static void observer_main(void *unused)
{
	uint32_t wanted;

	(void)unused;
	is_this_kthread();
	if (has_quit)
		wefti_os_signal_unblock(SIGQUIT);
	while (!((wanted = xchg_seq_cst(&wants, 0)) & WANT_END))
		wefti_os_futex_wait(&wants, 0, work(wanted));
}

void wefti_observer_lend(void (*ring)(void))
{
	store_seq_cst(&lent, ring);
}

int64_t wefti_observer_work(void)
{
	if (!load_seq_cst(&works))
		return INT64_MAX;
	if (load_seq_cst(&observer_tid) == 0)
		is_this_kthread();
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

/* Returns whether there is one. */
static int start_work(void)
{
	if (wefti_observer_is_lent()) {
		store_seq_cst(&works, 1);
		want(0);	/* it sleeps until it is time for the loader */
		return 1;
	}
	runs = wefti_os_kthread_create(&handle, STACK, observer_main, NULL,
				       "weft-observer") == 0;
	return runs;
}

static int start_observer(void)
{
	uint32_t none = 0;

	load_at = wefti_os_now_ns() + LOAD_AFTER_NS;
	check_at = INT64_MAX;
	puts_off = PUTS_OFF;
	cas_seq_cst(&loader_state, &none, LOADER_WAITS);
	if (start_work())
		return 1;
	leave_loader();
	return 0;
}

void wefti_observer_start(void)
{
	int there = 0;

	wefti_look_init();
	wefti_overflow_start();
	store_seq_cst(&wants, 0);
	if (wefti_rt.settings.dump ||
	    wefti_rt.settings.deadlock != WEFTI_DEADLOCK_OFF) {
		install_quit();
		there = start_observer();
	}
	if (there)
		wefti_os_signal_others(WEFTI_OS_ASKED, wefti_observer_on_asked);
	if (there && wefti_rt.settings.deadlock != WEFTI_DEADLOCK_OFF)
		store_seq_cst(&wefti_monitor_quiet, on_quiet);
	wefti_observe_open();
}

static void leave_quit(void)
{
	wefti_os_signal_others(WEFTI_OS_ASKED, NULL);
	if (has_quit)
		wefti_os_signal_remove(SIGQUIT, wefti_observer_on_quit, &quit_before);
	store_seq_cst(&wefti_monitor_quiet, NULL);
}

/* The one that is lent, and is about to work, does it once more. */
static void leave_work(void)
{
	store_seq_cst(&works, 0);
	leave_loader();
}

void wefti_observer_forget(void)
{
	leave_quit();
	runs = has_quit = 0;
	leave_work();
	/* What was loaded by half cannot be loaded again. */
	if (load_seq_cst(&loader_state) == LOADER_LOADS)
		store_seq_cst(&loader_state, LOADER_ENDED);
	wefti_dump_forget();
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
	leave_work();
	runs = has_quit = 0;
	wefti_observe_close();
	wefti_overflow_stop();
}
