/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/start.c - the runtime starts with the first thread
 *
 * It does not start in a constructor. So a program that makes no thread is left as it is,
 * and so is one that forks before it makes any. In the child of a fork the runtime is off
 * until the child makes a thread.
 *
 * Writers
 *   aside  decide, start_once
 */
#include "pthread/init/layout.h"
#include "pthread/init/lock_owners.h"
#include "pthread/init/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "observe/crash.h"
#include "observe/deadlock.h"
#include "os/call/descriptor.h"
#include "os/call/lacks.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/signal/signal.h"
#include "os/tls/tls.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/init/allocator.h"
#include "pthread/init/deepbind.h"
#include "pthread/init/trapped.h"
#include "pthread/io/owner.h"
#include "pthread/kthread/cpu_clock.h"
#include "pthread/kthread/filter.h"
#include "pthread/kthread/real_time.h"
#include "pthread/kthread/schedule.h"
#include "pthread/kthread/tied.h"
#include "pthread/process/memory_lock.h"
#include "pthread/process/ptrace.h"
#include "pthread/shared/robust.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/altstack.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/thread_timer.h"
#include "pthread/sync/ceiling.h"
#include "pthread/thread/code_on_stack.h"
#include "pthread/thread/create.h"
#include "pthread/wait/lot.h"
#include "sched/preempt.h"
#include "weft/observe.h"
#include "weft/runtime.h"

#define STDERR		2
#define NS_PER_MS	1000000

static void tell(const char *why)
{
	wefti_log(WEFTI_LOG_WARNING, "weft: threads stay kernel threads: %s\n", why);
}

static int give_up(const char *why)
{
	wefti_pt_set_never();
	tell(why);
	return -ENOTSUP;
}

/*
 * Why this library steps aside (pthread/core/started.h); NULL: it does not. The line is
 * printed once, when the first thread is made.
 */
static _Atomic(const char *) aside;
static int is_decided;

/*
 * What can be known when this library is loaded is decided then. Later, the first thread
 * may hold a lock in our own layout, which libc's functions would not understand.
 */
static void decide(void)
{
	const char *why;

	if (is_decided)
		return;
	is_decided = 1;
	wefti_allocator_serve();
	why = wefti_settings_peek("WEFT_TLS") == WEFTI_TLS_SHARED ?
		      "WEFT_TLS=shared" : wefti_tls_refusal();
	(void)dlerror();	/* of what was not found; the program has asked for nothing */
	if (!why)
		return;
	store_relaxed(&aside, why);
	wefti_pt_set_aside();
}

/*
 * The kernel thread blocks SIGQUIT too from now on. The observer needed it unblocked when
 * the runtime started. Without this note, any moment would look like one in a handler
 * (sched/preempt.c).
 */
static void note_mask(void)
{
	struct wefti_thread *self = wefti_enter();

	self->vcpu->kthread->mask = wefti_os_signal_mask();
	wefti_leave(self);
}

/* libc may have raised the first thread's priority, for a mutex with a ceiling. */
static void begin_schedule(void)
{
	const int ceiling = wefti_schedule_begin();

	if (ceiling)
		wefti_ceiling_begin(ceiling);
}

/* weft_start() has told of the rest. */
static void tell_lack(const struct wefti_os_lack *lack, void *unused)
{
	(void)unused;
	if (lack->is_run && !lack->is_told_later)
		wefti_log(WEFTI_LOG_INFO, "weft: without %s, %s\n", lack->name,
			  lack->without);
}

static int start(void)
{
	int error;

	/*
	 * weft_start() does these as well. While the process has one kernel thread they
	 * take no time. Later each takes a grace period of the kernel: 10 ms.
	 */
	(void)wefti_os_membarrier_init();
	wefti_os_fd_make_room(WEFTI_OS_FDS);
	wefti_allocator_serve();
	if (wefti_tls_init() != 0)
		return give_up(wefti_tls_reason());
	wefti_allocator_tell();
	wefti_code_on_stack();
	wefti_cpu_clock_begin();
	wefti_altstack_begin();
	wefti_trapped_begin();
	if (wefti_settings_peek("WEFT_CRASH") != WEFTI_CRASH_DUMP)
		wefti_crash_level = WEFTI_LOG_INFO;	/* a crash says what it said before */
	error = wefti_signals_begin();
	if (!error)
		error = weft_start(NULL);
	if (error) {
		wefti_signals_end();
		wefti_trapped_end();
		wefti_altstack_end();
		return error;
	}
	if (!wefti_rt.own_tls) {
		(void)weft_stop();
		wefti_signals_end();
		wefti_trapped_end();
		wefti_altstack_end();
		return give_up("WEFT_TLS=shared");
	}
	wefti_signals_started();
	wefti_pt_layout_begin();
	wefti_lock_owners_begin();
	wefti_trace_begin();
	note_mask();
	wefti_tty_follow(load_relaxed(&wefti_pt.mask));
	begin_schedule();
	wefti_prctl_begin();
	store_seq_cst(&wefti_deadlock_helpers, 1);	/* the receiver of signals */
	(void)wefti_pt_id();	/* while the first kernel thread carries the thread */
	store_seq_cst(&wefti_preempt_hook, wefti_signals_hook);
	store_seq_cst(&wefti_preempt_keeps, wefti_real_time_keeps);
	store_seq_cst(&wefti_preempt_room, wefti_altstack_room);
	wefti_pt_set_started(getpid());
	wefti_cpu_clock_started();
	wefti_robust_adopt();
	wefti_log(WEFTI_LOG_INFO, "weft: process %d: threads are green from here on\n",
		  getpid());
	if (wefti_log_shows(WEFTI_LOG_INFO))
		wefti_os_lacks(tell_lack, NULL);
	return 0;
}

/*
 * The first thread of the process becomes green. A thread of libc's own (a timer's, say)
 * cannot start the runtime, so the thread that it makes is libc's too.
 */
static int start_once(void)
{
	const char *why, *refused;
	int error;

	decide();
	if (wefti_is_aside()) {
		why = xchg_seq_cst(&aside, NULL);
		if (why)
			tell(why);
		return -ENOTSUP;
	}
	refused = wefti_filter_refuses();
	if (refused) {
		wefti_pt_set_never();
		wefti_log(WEFTI_LOG_WARNING, "weft: threads stay kernel threads: a filter "
			  "refuses %s\n", refused);
		return -ENOTSUP;
	}
	if (wefti_os_gettid() != getpid())
		return -ENOTSUP;
	wefti_memory_lock_pause();
	error = start();
	wefti_memory_lock_resume();
	return error;
}

/* pthread_create() leaves errno as it is, whatever the start tried. */
int wefti_start(void)
{
	int saved = errno, error = start_once();

	errno = saved;
	return error;
}

void wefti_pt_child_of_fork(void)
{
	if (wefti_pt_is_started()) {
		wefti_schedule_after_fork();
		wefti_prctl_forget();
		wefti_cpu_clock_forget();
		wefti_altstack_end();
		wefti_trapped_end();
	}
	wefti_filter_process();
	wefti_create_forget();
	wefti_real_time_forget();
	wefti_lot_forget();
	wefti_watch_forget();
	wefti_guard_forget();
	wefti_trace_forget();
	wefti_signals_forget();
	wefti_thread_timers_forget();	/* libc's threads look for them, too */
	wefti_owners_forget();
	wefti_pt_set_forked();
}

/* Called when the process ends by exit(). */
static void print_stats(void)
{
	struct weft_stat s;

	if (!wefti_pt_is_started() || !wefti_rt.settings.stats ||
	    weft_stat(&s) != 0)
		return;
	wefti_print(STDERR, "weft: threads made %lu, at once %lu; kernel "
		    "threads %lu; switches %lu, steals %lu, preemptions %lu, "
		    "compensations %lu; blocked %lu ms\n", s.threads_made,
		    s.threads_peak, s.kernel_threads, s.switches, s.steals,
		    s.preemptions, s.compensations,
		    s.blocked_ns / NS_PER_MS);
}

__attribute__((destructor)) static void unload(void)
{
	print_stats();
}

__attribute__((constructor)) static void load(void)
{
	wefti_real_find();
	wefti_filter_process();
	wefti_bind_quiescent();
	decide();
}
