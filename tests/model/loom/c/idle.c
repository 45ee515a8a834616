/* SPDX-License-Identifier: MIT */
/*
 * idle.c - scenarios: a VCPU goes idle while others make work
 *
 * The last of the VCPUs looks for work and idles; each of the others pushes one
 * thread on its own ring and notifies. The kernel, the timers and the monitor
 * are the functions here.
 */
#include "model.h"

#include "os/clock.h"
#include "os/futex.h"
#include "sched/idle.h"
#include "sched/monitor.h"
#include "sched/timer.h"

#define VCPUS	3

struct wefti_runtime wefti_rt;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_vcpu vcpu[VCPUS];
static struct wefti_fifo_node dummy;
static int work;			/* threads for the idle VCPU to run */

int64_t wefti_os_now_ns(void)
{
	return 0;
}

int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	(void)deadline;
	m_futex_wait(0, w, value);
	return 0;
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	(void)w;
	(void)count;
	m_futex_wake(0);
	return 1;
}

int wefti_timers_due(void)
{
	return 0;
}

int64_t wefti_timers_keep(void)
{
	return INT64_MAX;
}

void wefti_timers_resign(void)
{
	store_seq_cst(&wefti_rt.timekeeper, 0);
}

void wefti_monitor_wake(void)
{
}

static void init(void)
{
	store_relaxed(&wefti_fifo_chunk[0], &dummy);
	store_relaxed(&dummy.next, (uint64_t)0);
	store_relaxed(&dummy.item, NULL);
	wefti_fifo_init(&wefti_rt.inject, 0);
	store_relaxed(&wefti_rt.state, WEFTI_RT_ON);
	store_relaxed(&wefti_rt.idle_count, 0);
	store_relaxed(&wefti_rt.searching, 0);
	store_relaxed(&wefti_rt.timekeeper, 0);
	store_relaxed(&wefti_rt.monitor_asleep, 0);
	for (int i = 0; i < WEFTI_IDLE_WORDS; i++)
		store_relaxed(&wefti_rt.idle[i], 0);
	wefti_rt.vcpu_count = VCPUS;
	for (unsigned i = 0; i < VCPUS; i++) {
		struct wefti_vcpu *v = &vcpu[i];

		wefti_rt.vcpu[i] = v;
		v->index = i;
		store_relaxed(&v->wake, 0);
		store_relaxed(&v->stat_wakes, 0);
		store_relaxed(&v->next, NULL);
		store_relaxed(&v->ring.word, (uint64_t)0);
		store_relaxed(&v->ring.slot[0], NULL);
	}
}

static void init_one(void)
{
	init();
	work = 1;
}

static void init_two(void)
{
	init();
	work = 2;
}

static void make_work(unsigned i)
{
	struct wefti_thread *t = (struct wefti_thread *)(uintptr_t)(i + 1);

	m_check(wefti_ring_push(&vcpu[i].ring, t) == 0);
	wefti_idle_notify();
}

static void make_0(void)
{
	make_work(0);
}

static void make_1(void)
{
	make_work(1);
}

/* As sched/loop.c, until all that will ever be made has been run. */
static void look_and_idle(void)
{
	struct wefti_vcpu *v = &vcpu[VCPUS - 1];
	int searching = 0, done = 0;

	while (done < work) {
		struct wefti_thread *t = NULL;

		if (!searching)
			searching = wefti_idle_try_search();
		for (unsigned i = 0; searching && !t && i < VCPUS - 1; i++)
			t = wefti_ring_steal_one(&vcpu[i].ring);
		if (t) {
			if (searching)
				wefti_idle_found();
			searching = 0;
			done++;
		} else {
			searching = wefti_idle_wait(v, searching);
			/* Work waits, and a notifier has the role. */
			if (!searching)
				m_yield();
		}
	}
}

static void check(void)
{
	m_check(load_relaxed(&wefti_rt.idle_count) == 0);
	m_check(load_relaxed(&wefti_rt.idle[0]) == 0);
}

SCENARIO(idle_one_producer) = { init_one, { look_and_idle, make_0 }, check };
SCENARIO(idle_two_producers) = {
	init_two, { look_and_idle, make_0, make_1 }, check,
};
