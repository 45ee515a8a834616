/* SPDX-License-Identifier: MIT */
/*
 * init/stop.c - stops the runtime: main returns to its kernel thread, all is freed
 *
 * Writers
 *   kthread.adopt  post_home
 */
#include <errno.h>

#include "init/start.h"
#include "io/disk.h"
#include "io/table.h"
#include "life/life.h"
#include "life/pool.h"
#include "observe/observer.h"
#include "observe/trace.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/quiescent.h"
#include "sched/loop.h"
#include "sched/monitor.h"
#include "sched/poller.h"
#include "sched/record.h"
#include "sched/seat.h"
#include "sched/switch.h"
#include "sched/timer.h"
#include "weft/runtime.h"

static void wake_all(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		wefti_poller_wake_vcpu(wefti_vcpu_at(i));
	for (struct wefti_kthread *k = load_seq_cst(&wefti_rt.all); k;
	     k = load_seq_cst(&k->all_next)) {
		fetch_add_seq_cst(&k->wake, 1);
		wefti_os_futex_wake(&k->wake, 1);
	}
}

/* Runs off main's stack: kernel thread 0, wherever it is, takes main back. */
static void post_home(struct wefti_thread *main)
{
	struct wefti_kthread *k = wefti_first.k;

	wake_all();
	/* From here on main may run, and free all but k and our kernel thread. */
	store_seq_cst(&k->adopt, main);
	fetch_add_seq_cst(&k->wake, 1);
	wefti_os_futex_wake(&k->wake, 1);
}

static void go_home(struct wefti_thread *main)
{
	struct wefti_vcpu *v = main->vcpu;

	store_seq_cst(&wefti_rt.state, WEFTI_RT_STOPPING);
	main->post = post_home;
	wefti_switch(v, main, v->kthread->sched);
}

static void join_kthreads(void)
{
	struct wefti_kthread *k;

	/* The list is always sound, for the child of a foreign thread's fork. */
	while ((k = load_seq_cst(&wefti_rt.all))) {
		wefti_os_kthread_join(&k->handle);
		store_seq_cst(&wefti_rt.all, load_seq_cst(&k->all_next));
		wefti_kthread_free(k);
	}
}

int weft_stop(void)
{
	struct wefti_thread *self;

	/* A child of _Fork() has the parent's state, and none of its kernel threads. */
	if (load_seq_cst(&wefti_rt.state) != WEFTI_RT_ON ||
	    wefti_rt.process != wefti_os_pid())
		return -ESRCH;
	self = wefti_enter();
	if (self != wefti_rt.main || wefti_threads_alive() > 0) {
		int error = self != wefti_rt.main ? -EPERM : -EBUSY;

		wefti_leave(self);
		return error;
	}
	wefti_observer_stop();
	wefti_recorder_end();
	wefti_monitor_stop();
	go_home(self);
	if (wefti_rt.settings.perf_names)
		wefti_record_hide_names();
	join_kthreads();
	wefti_fd_post_all();	/* foreign threads poll by themselves then */
	wefti_disk_stop();
	wefti_poller_stop();
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		wefti_timers_drop(wefti_vcpu_at(i));
		wefti_pool_drain(wefti_vcpu_at(i));
	}
	wefti_pool_drain_common();
	wefti_first_undo();
	wefti_vcpus_free();
	store_seq_cst(&wefti_rt.state, WEFTI_RT_OFF);
	return 0;
}
