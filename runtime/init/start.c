/* SPDX-License-Identifier: MIT */
/*
 * init/start.c - starts the runtime: settings, VCPUs, their kernel threads
 *
 * Writers
 *   runtime.state  weft_start; init/fork.c: become_child; stop.c: go_home, weft_stop
 */
#include "init/fork.h"
#include "init/start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "init/chosen.h"
#include "life/pool.h"
#include "os/call/cpus.h"
#include "os/call/descriptor.h"
#include "os/call/tid.h"
#include "observe/layout.h"
#include "observe/observer.h"
#include "observe/trace.h"
#include "os/kthread/quiescent.h"
#include "os/signal/signal.h"
#include "os/tls/tls_malloc.h"
#include "os/tls/tp.h"
#include "sched/explore.h"
#include "sched/loop.h"
#include "sched/monitor.h"
#include "sched/preempt.h"
#include "sched/ready.h"
#include "sched/ready_grow.h"
#include "sched/record.h"
#include "sched/seat.h"
#include "sched/spare.h"
#include "sched/timer.h"
#include "sync/mutex_age.h"
#include "weft/runtime.h"

static int options_are_valid(const struct weft_options *options)
{
	uint64_t reserved = 0;

	for (size_t i = 0; i < sizeof(options->reserved) / sizeof(uint64_t);
	     i++)
		reserved |= options->reserved[i];
	return options->vcpus <= WEFTI_VCPUS_MAX && options->slice_ns >= -1 &&
	       reserved == 0;
}

/*
 * vcpu_count: what is asked for, or 0. One VCPU is never one of several on a CPU, and the
 * files that tell the quota take 40 us to read.
 */
static void count_cpus(void)
{
	const unsigned cpus = wefti_rt.vcpu_count == 1 ? 1 : wefti_os_cpus_allowed("");

	if (!wefti_rt.vcpu_count)
		wefti_rt.vcpu_count = cpus;
	if (wefti_rt.vcpu_count > WEFTI_VCPUS_MAX)
		wefti_rt.vcpu_count = WEFTI_VCPUS_MAX;
	wefti_rt.crowding = (wefti_rt.vcpu_count - 1) / cpus;
}

static int load_settings(const struct weft_options *options)
{
	struct wefti_settings *s = &wefti_rt.settings;
	int class;

	wefti_log_begin();
	wefti_settings_load(s);
	wefti_rt.slice_ns = s->slice_ns;
	wefti_rt.vcpu_count = options && options->vcpus ? options->vcpus :
			      (unsigned)s->vcpus;
	if (options && options->slice_ns)
		wefti_rt.slice_ns = options->slice_ns < 0 ? 0 :
							    options->slice_ns;
	if (s->sched == WEFTI_SCHED_EXPLORE) {
		wefti_rt.vcpu_count = 1;
		wefti_rt.slice_ns = 0;
		wefti_explore_begin();
		store_relaxed(&wefti_age_hook, wefti_explore_any);
	} else {
		wefti_explore_end();
		store_relaxed(&wefti_age_hook, NULL);
	}
	count_cpus();
	class = wefti_stack_class((size_t)s->stack);
	if (class < 0)
		return class;
	wefti_rt.stack_class = (unsigned)class;
	return 0;
}

/* Done once in a process. */
static int init_process(void)
{
	static int done, queue_made;

	if (done)
		return 0;

	int error = wefti_check_sanitizer();

	if (error)
		return error;
	wefti_arch_init();
	wefti_tp_watch(NULL);
	wefti_os_fd_make_room(WEFTI_OS_FDS);
	store_relaxed(&wefti_rt.fence_on_entry, wefti_os_membarrier_init() != 0 ?
		      WEFTI_FENCE : 0);
	if (wefti_rt.settings.tls != WEFTI_TLS_SHARED) {
		/* First: the threads that try TLS out allocate too. */
		wefti_tls_malloc_arenas(2 * wefti_rt.vcpu_count);
		wefti_rt.own_tls = wefti_tls_init() == 0;
	}
	wefti_layout_begin();
	if (!queue_made) {
		error = wefti_fifo_reserve(0);
		if (error)
			return error;
		wefti_fifo_init(&wefti_rt.inject, 0);
		queue_made = 1;
	}
	wefti_preempt_init();
	error = wefti_fork_init();
	if (error)
		return error;
	done = 1;
	return 0;
}

void wefti_vcpus_free(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		if (wefti_rt.vcpu[i])
			wefti_ready_grow_end(wefti_rt.vcpu[i]);
		free(wefti_rt.vcpu[i]);
		wefti_rt.vcpu[i] = NULL;
	}
}

static int make_vcpus(void)
{
	const int64_t sched = wefti_rt.settings.sched;
	const uint32_t shared = sched == WEFTI_SCHED_EXPLORE ? WEFTI_SHARED_EXPLORED :
				sched == WEFTI_SCHED_SHARED ? WEFTI_SHARED : 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = aligned_alloc(CACHE_LINE, sizeof(*v));

		if (!v) {
			wefti_vcpus_free();
			return -ENOMEM;
		}
		memset(v, 0, sizeof(*v));
		v->index = i;
		v->random = 0x9e3779b9u * (i + 1);
		wefti_ready_begin(v, shared);
		atomic_init(&v->ticks, 1);
		wefti_timers_init(&v->timers);
		wefti_rt.vcpu[i] = v;
	}
	return 0;
}

static void reset(void)
{
	store_relaxed(&wefti_rt.idle_count, 0);
	store_relaxed(&wefti_rt.searching, 0);
	store_relaxed(&wefti_rt.announcer, 0);
	store_relaxed(&wefti_rt.timekeeper, 0);
	for (int i = 0; i < WEFTI_IDLE_WORDS; i++)
		store_relaxed(&wefti_rt.idle[i], 0);
	wefti_spares_reset();
	store_relaxed(&wefti_rt.compensations, 0);
	store_relaxed(&wefti_rt.served, 0);
	store_relaxed(&wefti_rt.blocked_ns, 0);
	store_relaxed(&wefti_rt.foreign_made, 0);
	store_relaxed(&wefti_rt.foreign_released, 0);
	store_relaxed(&wefti_rt.threads_peak, 0);
	store_relaxed(&wefti_rt.monitor_asleep, 0);
	store_relaxed(&wefti_rt.monitor, NULL);
	store_relaxed(&wefti_rt.all, NULL);
	store_relaxed(&wefti_rt.kthreads_made, 1);
}

static void seat_main(void)
{
	struct wefti_vcpu *v = wefti_rt.vcpu[0];
	struct wefti_kthread *k = wefti_first.k;

	v->kthread = k;
	k->vcpu = v;
	k->sched->vcpu = v;
	wefti_rt.main->vcpu = v;
	store_relaxed(&v->current, wefti_rt.main);
}

/*
 * The monitor first: libc omits atomics in its locks while a process has only one
 * kernel thread.
 */
static NOINLINE int start_kthreads(void)
{
	int error;

	/* The block is new, and light threads run on it. */
	if (wefti_rt.own_tls)
		wefti_tls_thread_begin();
	error = wefti_monitor_start();
	if (wefti_rt.own_tls && !error)
		wefti_tls_wrap_setxid();
	for (unsigned i = 1; i < wefti_rt.vcpu_count && !error; i++)
		error = wefti_kthread_start(wefti_rt.vcpu[i], NULL);
	if (!error)
		wefti_observer_start();
	return error;
}

/*
 * For a new kernel thread, libc copies something (rseq) from the creator's block that
 * main's block does not have any more. So kernel threads are created on kernel thread
 * 0's block.
 */
static NOINLINE int start_kthreads_at_home(void)
{
	struct wefti_kthread *k = wefti_first.k;
	int error;

	if (wefti_rt.own_tls)
		wefti_arch_tp_set(k->tp);
	error = start_kthreads();
	if (wefti_rt.own_tls)
		wefti_arch_tp_set(wefti_rt.main->tp);
	return error;
}

/*
 * WEFT_TRACE=flight: the runtime also runs if nothing can be recorded. WEFT_TRACE_PID
 * names the process that weft trace reads: programs that it starts inherit the settings.
 */
static void begin_trace(void)
{
	const int64_t trace = wefti_rt.settings.trace, pid = wefti_rt.settings.trace_pid;
	int error = trace == WEFTI_TRACE_OFF || (pid && pid != wefti_os_pid()) ? 0 :
		    wefti_recorder_begin(trace == WEFTI_TRACE_FLIGHT ? 0 : (uint64_t)trace);

	if (error)
		wefti_log(WEFTI_LOG_WARNING, "weft: WEFT_TRACE: nothing is recorded "
			  "(error %d)\n", -error);
}

int weft_start(const struct weft_options *options)
{
	uint32_t off = WEFTI_RT_OFF;
	int error;

	if (options && !options_are_valid(options))
		return -EINVAL;
	if (!cas_seq_cst(&wefti_rt.state, &off, WEFTI_RT_STOPPING))
		return -EALREADY;
	reset();
	wefti_rt.process = wefti_os_pid();
	wefti_rt.program_mask = wefti_os_signal_mask();
	wefti_os_kthread_name(wefti_rt.process_name);
	wefti_os_quiescent_bind(NULL, 0);
	error = load_settings(options);
	if (!error)
		error = init_process();
	wefti_pool_drain_common();	/* the parent's, in the child of a fork */
	if (!error)
		error = make_vcpus();
	if (error)
		goto off;
	wefti_preempt_start();
	error = wefti_first_make();
	if (error)
		goto vcpus;
	seat_main();
	store_seq_cst(&wefti_rt.state, WEFTI_RT_ON);
	if (wefti_rt.settings.perf_names)
		wefti_record_show_names(wefti_rt.vcpu_count);
	begin_trace();
	error = start_kthreads_at_home();
	wefti_leave(wefti_rt.main);
	if (error) {
		(void)weft_stop();
		return error;
	}
	wefti_tell_start(options);
	return 0;
vcpus:
	wefti_vcpus_free();
off:
	store_seq_cst(&wefti_rt.state, WEFTI_RT_OFF);
	return error;
}

unsigned weft_vcpus(void)
{
	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON ?
	       wefti_rt.vcpu_count : 0;
}
