/* SPDX-License-Identifier: MIT */
/*
 * init/fork.c - the child of a fork
 *
 * It has one kernel thread, which goes on where it was: on the stack and the
 * thread control block of the thread that forked. The runtime is off in it, and
 * can be started. What belonged to the other threads and to the VCPUs is in an
 * unknown state, as at any moment, and is left where it is; the lock-free
 * structures of the process are sound whoever was stopped in them, and are
 * emptied of what was the parent's.
 *
 * Before the fork the thread enters the runtime, so that it is not preempted
 * and keeps its VCPU until after it: the child has to know which kernel thread
 * carries it.
 */
#include "init/fork.h"

#include "init/start.h"
#include "io/table.h"
#include "life/pool.h"
#include "observe/observer.h"
#include "os/fork.h"
#include "os/kthread.h"
#include "sched/poller.h"
#include "sched/seat.h"
#include "thread/bare.h"

/* Belong to the thread that forks: libc runs these handlers under a lock. */
static struct wefti_thread *forking;
static uintptr_t carrier_tp;

static void before(void)
{
	forking = NULL;
	if (load_seq_cst(&wefti_rt.state) == WEFTI_RT_OFF)
		return;
	forking = wefti_enter();
	carrier_tp = forking->vcpu ? forking->vcpu->kthread->tp :
				     wefti_arch_tp_get();
}

static void parent(void)
{
	if (forking)
		wefti_leave(forking);
}

static void forget_queue(void)
{
	uint32_t node;

	/* Each goes with its thread, which is no more. */
	while (wefti_fifo_pop(&wefti_rt.inject, &node))
		;
}

/* Their ids name nobody in the child. */
static void forget_threads(void)
{
	uint32_t limit = wefti_slot_limit();

	for (uint32_t i = 1; i < limit; i++) {
		struct wefti_thread *t = wefti_slot_get(i);

		if (load_relaxed(&t->gen) % 2 != 0 &&
		    (t != forking || t->kind != WEFTI_KIND_FOREIGN))
			wefti_thread_turn(t);
	}
}

static void forget_vcpus(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		wefti_rt.vcpu[i] = NULL;
	wefti_rt.main = NULL;
	wefti_first = (struct wefti_first){ NULL, NULL, NULL, 0 };
}

static void child(void)
{
	uintptr_t tp = wefti_arch_tp_get();

	if (!forking)
		return;
	if (wefti_rt.own_tls)
		wefti_tls_after_fork(tp, carrier_tp);
	wefti_rt.fence_on_entry = wefti_os_membarrier_init() != 0;
	wefti_observer_forget();
	forget_queue();
	forget_threads();
	wefti_pool_drain_common();
	forget_vcpus();
	wefti_poller_stop();
	wefti_fd_forget_all();
	if (forking->kind == WEFTI_KIND_FOREIGN)
		wefti_leave(forking);
	else
		wefti_self_set(NULL);
	store_seq_cst(&wefti_rt.state, WEFTI_RT_OFF);
}

int wefti_fork_init(void)
{
	return wefti_os_at_fork(before, parent, child);
}
