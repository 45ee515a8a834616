/* SPDX-License-Identifier: MIT */
/*
 * observe/observer.c - a kernel thread that writes dumps when others ask for it
 *
 * SIGQUIT's handler and the monitor only wake it, so nothing that is dumped is
 * needed for the dump. It sleeps on a futex otherwise. It does nothing that
 * could wait for the program: libunwind is loaded by another one, the loader,
 * which a program has once, a second after its first start or at the first
 * dump, whichever is first, and which then ends. By then a short program is
 * over and has not paid for it; and a thread that is stopped inside dlopen()
 * or malloc() later can stop no dump. Who needs it before waits for it, but
 * not for ever, and does without. The loader's descriptors are its own: the file
 * that dlopen() reads and libunwind's pipe, which nothing here uses, take no
 * number that the program could have had.
 *
 * Rejected: to load at the start (a millisecond for each program), or by the
 * one who dumps (who might never come back).
 */
#include "observe/observer.h"

#include "base/check.h"
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
#define LOAD_PATIENCE	INT64_C(500000000)
#define STACK		(128 * 1024)

#define WANT_DUMP	1u
#define WANT_CHECK	2u
#define WANT_END	4u

static struct wefti_os_kthread handle;
static int runs;		/* start and stop */
static int has_quit;		/* SIGQUIT's handler is ours */
static struct sigaction quit_before;
static _Atomic uint32_t wants;	/* WANT_*, a futex */

/* The loader: 0 not made, then these; a futex. */
#define LOADER_WAITS	1u
#define LOADER_LOADS	2u
#define LOADER_ENDED	3u

static struct wefti_os_kthread loader;
static _Atomic uint32_t loader_state;

static void load_main(void *unused)
{
	uint32_t waits = LOADER_WAITS;

	(void)unused;
	wefti_os_futex_wait(&loader_state, LOADER_WAITS,
			    wefti_os_now_ns() + LOAD_AFTER_NS);
	cas_seq_cst(&loader_state, &waits, LOADER_LOADS);
	(void)wefti_os_descriptors_apart();
	(void)wefti_os_unwind_load();
	store_seq_cst(&loader_state, LOADER_ENDED);
	wefti_os_futex_wake(&loader_state, 1 << 20);
}

static void start_loader(void)
{
	if (load_seq_cst(&loader_state) != 0)
		return;
	store_seq_cst(&loader_state, LOADER_WAITS);
	if (wefti_os_kthread_create(&loader, STACK, load_main, NULL,
				    "weft-loader") != 0) {
		store_seq_cst(&loader_state, 0);
		return;
	}
	wefti_os_kthread_detach(&loader);
}

void wefti_unwind_want(void)
{
	int64_t until = wefti_os_now_ns() + LOAD_PATIENCE;
	uint32_t s = LOADER_WAITS;

	if (cas_seq_cst(&loader_state, &s, LOADER_LOADS))
		wefti_os_futex_wake(&loader_state, 1);
	while (load_seq_cst(&loader_state) == LOADER_LOADS &&
	       wefti_os_now_ns() < until)
		wefti_os_futex_wait(&loader_state, LOADER_LOADS, until);
}

unsigned wefti_observer_kthreads(void)
{
	uint32_t s = load_seq_cst(&loader_state);

	return 1 + (s == LOADER_WAITS || s == LOADER_LOADS);
}

static void want(uint32_t what)
{
	fetch_or_seq_cst(&wants, what);
	wefti_os_futex_wake(&wants, 1);
}

void wefti_observer_on_quit(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	want(WANT_DUMP);
}

static void on_quiet(void)
{
	want(WANT_CHECK);
}

static void observer_main(void *unused)
{
	(void)unused;
	if (has_quit)
		wefti_os_signal_unblock(SIGQUIT);
	for (;;) {
		uint32_t w = xchg_seq_cst(&wants, 0);

		if (w & WANT_END)
			return;
		if (w & WANT_DUMP)
			(void)wefti_dump(STDERR, "SIGQUIT");
		if (w & WANT_CHECK)
			wefti_deadlock_check();
		if (w == 0)
			wefti_os_futex_wait(&wants, 0, INT64_MAX);
	}
}

/* A program that waits for SIGQUIT by sigwait() or a descriptor blocks it. */
static void install_quit(void)
{
	has_quit = wefti_rt.settings.dump &&
		   !wefti_os_signal_has_handler(SIGQUIT, wefti_observer_on_quit) &&
		   !wefti_os_signal_is_ignored(SIGQUIT) &&
		   !wefti_os_signal_is_blocked(SIGQUIT);
	if (has_quit)
		wefti_os_signal_install(SIGQUIT, wefti_observer_on_quit, 1, &quit_before);
}

void wefti_observer_start(void)
{
	wefti_look_init();
	wefti_overflow_start();
	store_seq_cst(&wants, 0);
	if (wefti_rt.settings.dump ||
	    wefti_rt.settings.deadlock != WEFTI_DEADLOCK_OFF) {
		start_loader();
		install_quit();
		runs = wefti_os_kthread_create(&handle, STACK, observer_main,
					       NULL, "weft-observer") == 0;
	}
	if (runs && wefti_rt.settings.deadlock != WEFTI_DEADLOCK_OFF)
		store_seq_cst(&wefti_monitor_quiet, on_quiet);
	wefti_observe_open();
}

static void leave_quit(void)
{
	if (has_quit)
		wefti_os_signal_remove(SIGQUIT, wefti_observer_on_quit, &quit_before);
	store_seq_cst(&wefti_monitor_quiet, NULL);
}

void wefti_observer_forget(void)
{
	uint32_t s = load_seq_cst(&loader_state);

	leave_quit();
	runs = has_quit = 0;
	/* What was loaded by half cannot be loaded again. */
	store_seq_cst(&loader_state, s == LOADER_WAITS ? 0 :
		      s == LOADER_LOADS ? LOADER_ENDED : s);
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
	runs = has_quit = 0;
	wefti_observe_close();
	wefti_overflow_stop();
}
