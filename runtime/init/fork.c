/* SPDX-License-Identifier: MIT */
/*
 * init/fork.c - the child of a fork
 *
 * The child has one kernel thread, which goes on where it was: on the stack and the
 * thread control block of the thread that forked. In it the runtime is off, and can be
 * started. What belonged to the other threads and to the VCPUs is in an unknown state,
 * as at any moment, and is left as it is. The process's lock-free structures are sound,
 * whichever threads were stopped in them, and are emptied of what was the parent's.
 * Bodies of ended threads are taken apart only when the runtime is started again:
 * malloc's locks may not have been released yet.
 *
 * Nothing is acquired before the fork. The fork waits for libc's locks, and the owner
 * of one of these may need what the thread would hold (its VCPU, a lock) to go on. The
 * thread is only marked: it must not be stopped while it has malloc's locks
 * (sched/preempt.c).
 *
 * Writers
 *   runtime.main_waits  forget_vcpus; life/exit.c: park_main, wait_all,
 *       wefti_exit_awaits_all
 *   runtime.fence_on_entry  become_child; init/start.c: init_process;
 *       seat.c: wefti_membarrier_forgo
 */
#include "init/fork.h"

#include <string.h>

#include "init/start.h"
#include "io/disk.h"
#include "io/table.h"
#include "life/few.h"
#include "observe/observer.h"
#include "observe/trace.h"
#include "os/call/fork.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/kthread/quiescent.h"
#include "os/signal/errand.h"
#include "os/signal/signal.h"
#include "sched/explore.h"
#include "sched/poller.h"
#include "sched/seat.h"
#include "sched/summons.h"
#include "sync/mutex_line.h"
#include "sync/waitlist.h"
#include "thread/bare.h"
#include "thread/wait.h"

static void forget_queue(void)
{
	uint32_t node;
	void *item;

	/* Each belonged to a thread that does not exist here. */
	while ((item = wefti_fifo_pop(&wefti_rt.inject, &node)))
		if (wefti_summons_is(item))
			wefti_summons_drop(item, node);
}

/*
 * The threads' ids are invalid in the child, and their waits are over. So neither the
 * monitor, which looks for late waits, nor a thread that unlocks what they wait for
 * makes them ready here.
 */
static void forget_threads(const struct wefti_thread *self)
{
	uint32_t limit = wefti_slot_limit();

	for (uint32_t i = 1; i < limit; i++) {
		struct wefti_thread *t = wefti_not_null(wefti_slot_get(i));

		if (t == self && t->kind == WEFTI_KIND_FOREIGN)
			continue;
		if (load_relaxed(&t->gen) % 2 != 0)
			wefti_thread_turn(t);
		wefti_wait_forget(t);
		/* The monitor that may have marked it does not exist here. */
		store_relaxed(&t->attention, WEFTI_SEAT_HELD);
	}
}

/*
 * Ends the work that other threads did for an object at the fork: no other thread would
 * end it. Their bodies still exist, and so does the object.
 */
static void end_what_others_did(void)
{
	uint32_t limit = wefti_slot_limit();

	for (uint32_t i = 1; i < limit; i++) {
		struct wefti_cold *body = wefti_slot_get(i)->cold;

		if (body && body->serves)
			wefti_waitlist_after_fork(body->serves);
		if (body && body->sweeps)
			wefti_line_after_fork(body->sweeps);
		if (body)
			body->serves = NULL, body->sweeps = NULL;
	}
}

static void forget_vcpus(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		wefti_rt.vcpu[i] = NULL;
	wefti_rt.main = NULL;
	store_relaxed(&wefti_rt.main_waits, 0);
	wefti_first = (struct wefti_first){ NULL, NULL, NULL, 0 };
}

/* One of the parent's kernel threads, perhaps this one. */
static void forget_kthread(const struct wefti_kthread *k)
{
	if (k->reader)
		wefti_os_quiescent_forget(k->reader);
	if (wefti_rt.own_tls && k->tp)
		wefti_tls_take_rseq(k->tp);
}

static void forget_kthreads(void)
{
	wefti_os_quiescent_after_fork();
	if (wefti_first.k)
		forget_kthread(wefti_first.k);
	for (struct wefti_kthread *k = load_seq_cst(&wefti_rt.all); k;
	     k = load_seq_cst(&k->all_next))
		forget_kthread(k);
}

/*
 * The child's only kernel thread has the name of the one that forked, which is the child's
 * name by that. If weft gave it, others would know the child as "weft-1".
 */
static void take_name(const struct wefti_thread *self)
{
	char name[WEFTI_OS_KTHREAD_NAME];
	int is_ours = wefti_rt.settings.perf_names && self &&
		      self->kind != WEFTI_KIND_FOREIGN;

	wefti_os_kthread_name(name);
	for (struct wefti_kthread *k = load_seq_cst(&wefti_rt.all); k && !is_ours;
	     k = load_seq_cst(&k->all_next))
		is_ours = strcmp(name, k->handle.name) == 0;
	if (is_ours)
		wefti_os_kthread_rename(wefti_rt.process_name);
}

/*
 * The TLS block on which the thread runs, if it is one of ours: the thread's own or,
 * for a light thread, that of kernel thread 0. The blocks of the other kernel threads
 * are libc's, as main's is.
 */
static uintptr_t built_block(const struct wefti_thread *self)
{
	uintptr_t tp = wefti_arch_tp_get();

	if (self && self->kind == WEFTI_KIND_GREEN && self->tp == tp)
		return tp;
	return wefti_first.k && wefti_first.k->tp == tp ? tp : 0;
}

static void mark(uint32_t forks)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->cold)
		self->cold->forks = forks;
}

/* is_seen: libc has made the child by fork(). */
static void become_child(int is_seen)
{
	struct wefti_thread *self = wefti_self();

	wefti_explore_end();	/* first: a point here would run a thread of the parent */
	wefti_observer_forget();	/* part of it outlives a stop */
	wefti_os_errand_forget();
	wefti_recorder_forget();
	if (!load_relaxed(&wefti_rt.fence_on_entry) &&
	    wefti_os_membarrier_init() != 0)
		store_relaxed(&wefti_rt.fence_on_entry, WEFTI_FENCE);
	if (load_seq_cst(&wefti_rt.state) == WEFTI_RT_OFF)
		return;
	if (wefti_rt.own_tls)
		wefti_tls_after_fork(built_block(self), is_seen);
	forget_kthreads();
	take_name(self);
	forget_queue();
	forget_threads(self);
	end_what_others_did();
	wefti_block_forget(self);
	forget_vcpus();
	wefti_poller_forget();
	wefti_fd_forget_all();
	wefti_disk_forget();
	mark(0);
	wefti_os_signal_preempt_end();
	if (self && self->kind != WEFTI_KIND_FOREIGN)
		wefti_self_set(NULL);
	store_seq_cst(&wefti_rt.state, WEFTI_RT_OFF);
}

static void child(void)
{
	become_child(1);
}

static void before(void)
{
	mark(1);
}

static void after(void)
{
	mark(0);
}

int wefti_fork_unseen_begin(void)
{
	mark(1);
	return wefti_os_pid();
}

/* libc's block was laid out at the first start; before that there is nothing to change. */
void wefti_fork_unseen_end(int parent, int is_child)
{
	if (is_child && wefti_rt.own_tls)
		wefti_tls_unseen_child(parent);
	if (is_child)
		become_child(0);
	mark(0);
}

int wefti_fork_watch(void)
{
	static int done;
	int error = done ? 0 : wefti_os_at_fork(child);

	done |= error == 0;
	return error;
}

int wefti_fork_init(void)
{
	int error = wefti_fork_watch();

	return error ? error : wefti_os_around_fork(before, after);
}
