/* SPDX-License-Identifier: MIT */
/*
 * idle.c - scenarios: a VCPU goes idle while others make work
 *
 * The last of the VCPUs looks for work and idles; each of the others pushes one
 * thread on its own ring and announces it. The kernel, the timers and the monitor
 * are the functions here. With the poller, the VCPU sleeps in epoll, and work
 * may come from there.
 */
#include "model.h"

#include "os/call/clock.h"
#include "os/call/futex.h"
#include "sched/idle.h"
#include "sched/monitor.h"
#include "sched/poller.h"
#include "sched/timer.h"

#define VCPUS	3

struct wefti_runtime wefti_rt;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_vcpu vcpu[VCPUS];
static struct wefti_fifo_node dummy;
static int work;			/* threads for the idle VCPU to run */
static char time_kept;			/* by one at a time */
static int has_timer;			/* it is due when a VCPU begins to keep the time */
static _Atomic uint32_t is_due;
static int opened;			/* descriptors */

/* What an epoll instance has: the eventfd is not 0; a descriptor's edge. */
#define FUTEX_EPOLL	1
#define EVENTFD		1u
#define EDGE		2u

static _Atomic uint32_t epoll;
static _Atomic uint32_t ended;	/* a call of the kernel's, not taken yet */

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

void wefti_os_nap(void)
{
}

int wefti_os_epoll_open(void)
{
	opened++;
	return 1;
}

int wefti_os_eventfd_open(int ep, uint64_t data)
{
	(void)ep;
	(void)data;
	opened++;
	return 2;
}

int wefti_os_fd_close(int fd)
{
	(void)fd;
	opened--;
	return 0;
}

static void kernel_post(uint32_t what)
{
	fetch_or_seq_cst(&epoll, what);
	m_futex_wake(FUTEX_EPOLL);
}

void wefti_os_eventfd_post(int wake)
{
	m_check(wake == 2);
	kernel_post(EVENTFD);
}

void wefti_os_eventfd_take(int wake)
{
	m_check(wake == 2);
	fetch_and_seq_cst(&epoll, ~EVENTFD);
}

int wefti_os_epoll_wait(int ep, struct wefti_os_event *events, int64_t deadline)
{
	uint32_t was;
	int n = 0;

	m_check(ep == 1);
	if (deadline != 0)
		m_futex_wait(FUTEX_EPOLL, &epoll, 0);
	was = fetch_and_seq_cst(&epoll, ~EDGE);
	if (was & EVENTFD)
		events[n++].data = WEFTI_POLLER_OWN;
	if (was & EDGE)
		events[n++] = (struct wefti_os_event){ 7, WEFTI_OS_READABLE };
	return n;
}

int64_t wefti_timers_earliest(void)
{
	return INT64_MAX;
}

int wefti_timers_due(void)
{
	return (int)load_relaxed(&is_due);
}

int64_t wefti_timers_keep(void)
{
	m_data_write(&time_kept);
	fence_seq_cst();	/* as there */
	if (!has_timer)
		return INT64_MAX;
	store_relaxed(&is_due, 1);
	return 0;
}

void wefti_timers_run_all(void)
{
	store_relaxed(&is_due, 0);
}

int wefti_timers_any(void)
{
	return (int)load_relaxed(&is_due);
}

void wefti_timers_resign(void)
{
	m_data_write(&time_kept);
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
	store_relaxed(&epoll, 0);
	store_relaxed(&wefti_poller.word, (uint64_t)0);
	store_relaxed(&wefti_poller.handler, NULL);
	store_relaxed(&wefti_poller.instances, 0);
	store_relaxed(&wefti_poller.sleeper, 0);
	store_relaxed(&wefti_poller.kernel_calls, 0);
	store_relaxed(&wefti_poller.starters, 0);
	store_relaxed(&ended, 0);
	store_relaxed(&is_due, 0);
	has_timer = opened = 0;
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
		wefti_ring_init(&v->ring);
		wefti_ring_init(&v->parents);
		store_relaxed(&v->ring.slot[0], NULL);
		store_relaxed(&v->parents.word, (uint64_t)0);	/* no spawns */
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

/* What the VCPU that takes the edge does: a thread for its own ring. */
static void on_edge(uint64_t data, uint32_t ready)
{
	m_check(data == 7 && ready == WEFTI_OS_READABLE);
	m_check(wefti_ring_push(&vcpu[VCPUS - 1].ring,
		(struct wefti_thread *)(uintptr_t)1) == 0);
}

/* The poller is on: instance 1, and descriptors as the functions above say. */
static void init_polling(void)
{
	init_two();
	store_relaxed(&wefti_poller.word,
		      (uint64_t)1 << 48 | (uint64_t)1 << 24 | 2);
	store_relaxed(&wefti_poller.handler, on_edge);
}

/* A descriptor that is ready is the first to be watched. */
static void first_watch(void)
{
	m_check(wefti_poller_start(on_edge) == 0);
	kernel_post(EDGE);
}

/* A call that the kernel does on its own; its thread is for that VCPU's ring. */
static void on_end(uint64_t data, uint32_t ready)
{
	(void)ready;
	m_check(data == WEFTI_POLLER_OWN);
	if (xchg_seq_cst(&ended, 0) == 0)
		return;		/* the eventfd is for something else */
	fetch_sub_seq_cst(&wefti_poller.kernel_calls, 1);
	m_check(wefti_ring_push(&vcpu[VCPUS - 1].ring,
		(struct wefti_thread *)(uintptr_t)1) == 0);
}

static void init_call(void)
{
	init_polling();
	store_relaxed(&wefti_poller.handler, on_end);
	store_relaxed(&wefti_poller.kernel_calls, 1);
}

static void end_call(void)
{
	(void)xchg_seq_cst(&ended, 1);	/* as under the kernel's lock */
	kernel_post(EVENTFD);
}

static void edge(void)
{
	kernel_post(EDGE);
}

static void make_work(unsigned i)
{
	struct wefti_thread *t = (struct wefti_thread *)(uintptr_t)(i + 1);

	m_check(wefti_ring_push(&vcpu[i].ring, t) == 0);
	wefti_idle_announce();
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
		struct wefti_thread *t = wefti_ring_pop(&v->ring);

		if (!t && wefti_poller_poll())
			t = wefti_ring_pop(&v->ring);
		if (!t && !searching)
			searching = wefti_idle_take_search();
		for (unsigned i = 0; searching && !t && i < VCPUS - 1; i++)
			t = wefti_ring_steal_one(&vcpu[i].ring);
		if (t) {
			if (searching)
				wefti_idle_found();
			searching = 0;
			done++;
		} else {
			searching = wefti_idle_wait(v, searching);
		}
	}
}

static void check(void)
{
	m_check(load_relaxed(&wefti_rt.idle_count) == 0);
	m_check(load_relaxed(&wefti_rt.idle[0]) == 0);
}

/*
 * One VCPU has searched and found. Just then another idles, and there is work
 * for it.
 */
static void init_found(void)
{
	init();
	store_relaxed(&wefti_rt.idle[0], UINT64_C(1) << (VCPUS - 1));
	store_relaxed(&wefti_rt.idle_count, 1);
	store_relaxed(&wefti_rt.searching, 1);
}

static void found(void)
{
	wefti_idle_found();
}

static void check_woken(void)
{
	m_check(load_relaxed(&vcpu[VCPUS - 1].wake) == 1);
	check();
}

/* Two VCPUs idle. One keeps the time, and wakes the other when it has run its timer. */
static void init_timer(void)
{
	init();
	has_timer = 1;
}

static void idle_once(unsigned i)
{
	if (wefti_idle_wait(&vcpu[i], 0))
		wefti_idle_found();
	wefti_idle_announce();
}

static void idle_1(void)
{
	idle_once(1);
}

static void idle_2(void)
{
	idle_once(2);
}

/* Two start the poller, and have one. */
static void start(void)
{
	m_check(wefti_poller_start(on_edge) == 0);
}

static void check_started(void)
{
	uint64_t word = load_relaxed(&wefti_poller.word);

	m_check(opened == 2);
	m_check(wefti_poller_epoll(word) == 1 && wefti_poller_eventfd(word) == 2);
}

SCENARIO(idle_started) = { init, { start, start }, check_started };
SCENARIO(idle_keepers) = { init_timer, { idle_1, idle_2 }, check };
SCENARIO(idle_found) = { init_found, { found, make_0 }, check_woken };
SCENARIO(idle_one_producer) = { init_one, { look_and_idle, make_0 }, check };
SCENARIO(idle_in_the_poller) = {
	init_polling, { look_and_idle, make_0, edge }, check,
};
SCENARIO(idle_kernel_call) = {
	init_call, { look_and_idle, make_0, end_call }, check,
};
SCENARIO(idle_first_watch) = {
	init_one, { look_and_idle, first_watch }, check,
};
SCENARIO(idle_two_producers) = {
	init_two, { look_and_idle, make_0, make_1 }, check,
};
