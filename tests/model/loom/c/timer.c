/* SPDX-License-Identifier: MIT */
/*
 * timer.c - scenarios: deadlines are set and taken back while their heap is served
 *
 * sched/timer.c is the runtime's. It is always NOW; all timers are at home on
 * one VCPU. A thread of the scenario is a thread of weft with its own timer, or
 * one that serves the heap. loom.sh marks the heap, which belongs to the thread
 * that has set BUSY.
 */
#include "model.h"

#include "os/call/clock.h"
#include "sched/poller.h"
#include "sched/ready.h"
#include "sched/timer.h"
#include "thread/wait.h"

#define NOW	100
#define PAST	50		/* deadlines */
#define SOON	500
#define LATER	1000

#define THREADS	2
#define KEEPER	1		/* a semaphore, and the thread that has it */

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_thread thread[THREADS + 1];	/* slot 0 is nobody's */
static struct wefti_cold body[THREADS + 1];
static struct wefti_vcpu vcpu;
static int64_t now;
static _Atomic unsigned readied;

struct wefti_thread *model_self(void)
{
	return &thread[m_self() + 1];
}

int64_t wefti_os_now_ns(void)
{
	return now;
}

void wefti_ready_in_order(struct wefti_thread *t)
{
	m_check(wefti_wait_cause(t) == WEFTI_CAUSE_TIMEDOUT);
	fetch_add_relaxed(&readied, 1u);
}

void wefti_poller_wake_vcpu(struct wefti_vcpu *v)
{
	m_check(v == &vcpu);
	m_unblock(KEEPER);
}

/* IDLE -> ARMED, with its deadline. Returns the wait's seq. */
static uint64_t begin(struct wefti_thread *t, int64_t deadline)
{
	uint64_t seq = wefti_wait_begin(t, WEFTI_WAIT_TIMED);

	wefti_timer_arm(t, seq, deadline);
	return seq;
}

static void init_thread(unsigned i)
{
	struct wefti_thread *t = &thread[i];
	struct wefti_timer *tm = &body[i].timer;

	*t = (struct wefti_thread){ .slot = i };
	t->cold = &body[i];
	t->vcpu = &vcpu;
	store_relaxed(&t->wait, (uint64_t)0);
	wefti_timer_init(tm);
	store_relaxed(&tm->key, INT64_MAX);
	store_relaxed(&tm->deadline, INT64_MAX);
	store_relaxed(&tm->ticket, (uint64_t)0);
	store_relaxed(&tm->queued, 0);
	m_data_write(tm);
}

static void init(void)
{
	struct wefti_timers *h = &vcpu.timers;

	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	wefti_rt.vcpu_count = 1;
	wefti_rt.vcpu[0] = &vcpu;
	store_relaxed(&wefti_rt.timekeeper, 0);
	store_relaxed(&wefti_rt.kept_until, INT64_MAX);
	wefti_timers_init(h);
	m_data_write(&h->root);
	store_relaxed(&h->word, (uint64_t)0);
	store_relaxed(&h->next, INT64_MAX);
	store_relaxed(&h->session, (uint64_t)0);
	store_relaxed(&readied, 0u);
	for (unsigned i = 1; i <= THREADS; i++)
		init_thread(i);
	now = NOW;
}

/* The first thread waits, and its deadline comes up. */
static void init_due(void)
{
	init();
	now = 0;
	(void)begin(&thread[1], PAST);
	now = NOW;
}

static int is_timed_out(struct wefti_thread *t, uint64_t seq)
{
	uint64_t w = load_relaxed(&t->wait);

	return (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE &&
	       w >> WEFTI_WAIT_SEQ_SHIFT == seq &&
	       (w >> WEFTI_WAIT_CAUSE_SHIFT & 15) == WEFTI_CAUSE_TIMEDOUT;
}

static int waits(struct wefti_thread *t)
{
	return (load_relaxed(&t->wait) & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE;
}

static void serve(void)
{
	wefti_timers_run(&vcpu);
}

/* Its wait is over, one way or the other, and the next one begins. */
static void wait_again(void)
{
	struct wefti_thread *self = &thread[1];

	(void)wefti_wait_resolve(self, 1, WEFTI_CAUSE_WOKEN);
	wefti_timer_disarm(self);
	m_check(begin(self, LATER) == 2);
}

/* The new wait goes on, and its deadline is not forgotten. */
static void check_again(void)
{
	m_check(waits(&thread[1]));
	m_check(load_relaxed(&vcpu.timers.next) <= LATER);
	m_check(load_relaxed(&vcpu.timers.word) == 0);
}

SCENARIO(timer_again) = { init_due, { wait_again, serve }, check_again };

/* The same, but the next deadline is over when it comes. */
static void wait_again_late(void)
{
	struct wefti_thread *self = &thread[1];

	(void)wefti_wait_resolve(self, 1, WEFTI_CAUSE_WOKEN);
	wefti_timer_disarm(self);
	m_check(begin(self, PAST + 1) == 2);
}

static void check_again_late(void)
{
	m_check(is_timed_out(&thread[1], 2));
	m_check(load_relaxed(&vcpu.timers.next) == INT64_MAX);
	m_check(wefti_timer_is_free(&body[1].timer));
}

SCENARIO(timer_again_late) = {
	init_due, { wait_again_late, serve }, check_again_late,
};

/* Two would serve at once. */
static void check_served(void)
{
	m_check(is_timed_out(&thread[1], 1));
	m_check(load_relaxed(&readied) == 0);	/* it had not parked */
	m_check(load_relaxed(&vcpu.timers.next) == INT64_MAX);
	m_check(load_relaxed(&vcpu.timers.word) == 0);
}

SCENARIO(timer_served) = { init_due, { serve, serve }, check_served };

/* Two set a deadline at once: one serves both. */
static void wait_later(void)
{
	(void)begin(&thread[1], LATER);
}

static void wait_soon(void)
{
	(void)begin(&thread[2], SOON);
}

static void check_two(void)
{
	m_check(waits(&thread[1]) && waits(&thread[2]));
	m_check(load_relaxed(&body[1].timer.key) == LATER);
	m_check(load_relaxed(&body[2].timer.key) == SOON);
	m_check(load_relaxed(&vcpu.timers.next) == SOON);
	m_check(load_relaxed(&vcpu.timers.word) == 0);
}

SCENARIO(timer_two) = { init, { wait_later, wait_soon }, check_two };

/* One sleeps until the earliest deadline, and an earlier one is set. */
static void keep(void)
{
	store_seq_cst(&wefti_rt.timekeeper, 1);	/* nobody else keeps it */
	if (wefti_timers_keep() > LATER)
		m_block(KEEPER);
	wefti_timers_resign();
}

static void check_kept(void)
{
	m_check(load_relaxed(&vcpu.timers.next) == LATER);
}

SCENARIO(timer_kept) = { init, { wait_later, keep }, check_kept };

/*
 * The keeper leaves a heap out that has a server. Another deadline is due in it, and the
 * server tells the keeper of the one behind that.
 */
static void init_left_out(void)
{
	init();
	now = 0;
	(void)begin(&thread[1], PAST);
	(void)begin(&thread[2], LATER);
	now = NOW;
}

SCENARIO(timer_left_out) = { init_left_out, { serve, keep }, check_kept };
