/* SPDX-License-Identifier: MIT */
/*
 * sched/timer.c - deadlines of waits: one heap for each VCPU, and no lock to wait for
 *
 * Structure
 *   Each body has one timer, as a thread waits for one thing at a time. The timer's
 *   home is the VCPU on which it was first armed, for ever. The heap of the home, which
 *   has a wheel behind it (timer_wheel.h), may hold the timer. timers->word is BUSY | the
 *   top of a queue of timers whose deadline has changed. A kernel thread that sets BUSY
 *   works on the heap (it is the server). A kernel thread that finds BUSY set leaves its
 *   change in the queue; the server takes it up before it clears BUSY. So any kernel
 *   thread can serve a heap: its VCPU's, an idle VCPU's, the monitor.
 *
 *   A timer that is disarmed stays in the heap until its key comes up. It is then
 *   dropped; or, if it was armed again for later, put back. So waits that end before
 *   their deadline, which are nearly all, cost no heap operation.
 *
 * States of a timer
 *   OUT, IN (the key says which), each QUEUED or not (`queued` says which)
 *
 * Writers
 *   runtime.kept_until  wefti_timers_keep
 *   runtime.timekeeper  wefti_timers_resign; idle.c: sleep_on;
 *       init/start.c: reset
 *   timer.deadline  wefti_timer_arm, wefti_timer_disarm
 *   timer.key  heap_insert, heap_remove
 *   timer.queued  submit, take_changes
 *   timer.ticket  wefti_timer_arm
 *   timers.next  wefti_timers_drop, work
 *   timers.session  work
 *   timers.word  submit, take_busy, wefti_timers_drop, work
 *
 * Invariants
 *   I1  The heap and the links change only under BUSY of the home.
 *   I2  A timer is in the queue at most once: the thread that changes `queued` to 1
 *       pushes it.
 *   I3  An armed timer is IN with key <= deadline, or QUEUED, or in the hands of the
 *       server, which looks at its deadline again (P2).
 *   I4  session changes once in each turn of BUSY; the server changes it. What is
 *       concluded from it is a guess (sched/stuck.c) and may be wrong.
 *   I5  No VCPU waits awake for a server: a heap that is BUSY counts as one without
 *       deadlines (wefti_timers_earliest). What is due there is the server's. The server
 *       tells the keeper of what is left (P5).
 *
 * Linearization
 *   An expiry: at the resolve of the wait (thread/wait.h). Arming: at the store of the
 *   deadline.
 *
 * Order
 *   A server ends the waits that are due in its heap in the order of their
 *   deadlines, and the threads are ready in this order. There is no order between
 *   two homes, nor with a timer that was still in the queue. The monitor keeps no
 *   order either where it stands in for a server that has lost its CPU for longer than
 *   sched/stuck.c says: it goes by the slots of the threads.
 *
 * Progress
 *   Arm and disarm are lock-free. A kernel thread that is stopped while BUSY delays no
 *   caller. It delays the expiry of that home's timers for at most as long as
 *   sched/stuck.c says. It may hold up one thread for longer: the thread whose wait it
 *   has ended but which it has not made ready yet. Any unpark has this gap.
 *
 * ABA and reclamation
 *   Timers are pushed on the queue by CAS, and the queue is taken whole by xchg: no
 *   ABA. Timers are in cold parts, which are given back only when
 *   wefti_timer_is_free().
 *
 * Pairs
 *   P1  arm stores the ticket, behind the INT64_MAX of the disarm before it -> expiry
 *       loads the ticket, then the deadline: it is not older than the ticket. If it is
 *       of a later wait, the resolve ends nothing: the ticket's wait is over then
 *   P2  arm: ticket, deadline; fence; load key. The server: key = out; fence; load
 *       ticket, deadline. One of the two sees the other.
 *   P3  push on the queue -> taking it: the timer's fields
 *   P4  clearing BUSY -> setting it: the heap
 *   P5  server: timers->next, clear BUSY; fence; load timekeeper, kept_until.
 *       keeper: timekeeper, kept_until; fence; load every timers->next, then its BUSY.
 *       Either the keeper counts what is in the heap, or the server finds the keeper.
 *
 * Source
 *   M. Fredman and others, "The pairing heap", 1986. Delegation to the server is as
 *   in flat combining (Hendler and others, SPAA 2010), except that the delegating
 *   thread does not wait.
 *   Models: tests/model (timer).
 */
#include "sched/timer.h"

#include "os/call/clock.h"
#include "sched/poller.h"
#include "sched/ready.h"
#include "sched/timer_wheel.h"
#include "thread/wait.h"

#define BUSY	UINT64_C(1)

void wefti_timer_init(struct wefti_timer *tm)
{
	*tm = (struct wefti_timer){ .home = NULL };
	atomic_init(&tm->key, INT64_MAX);
	atomic_init(&tm->deadline, INT64_MAX);
}

void wefti_timers_init(struct wefti_timers *h)
{
	*h = (struct wefti_timers){ .wheel = { .next = WEFTI_WHEEL_NONE } };
	atomic_init(&h->next, INT64_MAX);
}

int wefti_timer_is_free(const struct wefti_timer *tm)
{
	return load_seq_cst(&tm->key) == INT64_MAX &&
	       !load_seq_cst(&tm->queued);
}

static void heap_insert(struct wefti_timers *h, struct wefti_timer *tm,
			int64_t key)
{
	store_seq_cst(&tm->key, key);
	wefti_timers_add(h, tm);
}

static void heap_remove(struct wefti_timers *h, struct wefti_timer *tm)
{
	wefti_timers_remove(h, tm);
	store_seq_cst(&tm->key, INT64_MAX);
	fence_seq_cst();	/* P2 */
}

/* OUT -> IN if the timer is armed for later. Otherwise ends its wait. */
static void expire(struct wefti_timers *h, struct wefti_timer *tm, int64_t now)
{
	uint64_t ticket = load_acquire(&tm->ticket);	/* P1 */
	int64_t deadline = load_relaxed(&tm->deadline);	/* P1 */
	struct wefti_thread *t;

	if (deadline == INT64_MAX)
		return;
	if (deadline > now) {
		heap_insert(h, tm, deadline);
		return;
	}
	t = wefti_ticket_thread(ticket);
	if (wefti_wait_resolve(t, ticket, WEFTI_CAUSE_TIMEDOUT) ==
	    WEFTI_WAS_PARKED)
		wefti_ready_in_order(t);
}

static void take_changes(struct wefti_timers *h, struct wefti_timer *tm)
{
	while (tm) {
		struct wefti_timer *next = tm->queued_next;

		if (load_relaxed(&tm->key) != INT64_MAX)
			heap_remove(h, tm);
		xchg_seq_cst(&tm->queued, 0);

		int64_t deadline = load_seq_cst(&tm->deadline);

		if (deadline != INT64_MAX)
			heap_insert(h, tm, deadline);
		tm = next;
	}
}

static struct wefti_timer *queue_of(uint64_t word)
{
	return (struct wefti_timer *)(uintptr_t)(word & ~BUSY);
}

/*
 * A keeper that sleeps until a later deadline than this must know. Called by the thread
 * that published the deadline. A thread that only left a change to the server might
 * tell the keeper too early.
 */
static void wake_keeper(int64_t deadline)
{
	fence_seq_cst();	/* P5 */

	uint32_t keeper = load_seq_cst(&wefti_rt.timekeeper);

	if (keeper && deadline < load_seq_cst(&wefti_rt.kept_until))
		wefti_poller_wake_vcpu(wefti_vcpu_at(keeper - 1));
}

/* The caller has set BUSY. Clears it when there is nothing left to do. */
static void work(struct wefti_timers *h)
{
	int64_t next;

	store_relaxed(&h->session, load_relaxed(&h->session) + 1);	/* I4 */
	for (;;) {
		uint64_t word = xchg_seq_cst(&h->word, BUSY);	/* P3 */
		int64_t now;

		take_changes(h, queue_of(word));
		now = h->root ? wefti_os_now_ns() : 0;
		while (h->root && load_relaxed(&h->root->key) <= now) {
			struct wefti_timer *tm = h->root;

			heap_remove(h, tm);
			expire(h, tm, now);
		}
		next = h->root ? load_relaxed(&h->root->key) : INT64_MAX;
		store_seq_cst(&h->next, next);
		word = BUSY;
		if (cas_seq_cst(&h->word, &word, 0))	/* P4 */
			break;
	}
	if (next != INT64_MAX)
		wake_keeper(next);
}

/* Returns 1 if the caller is the heap's server now. */
static int take_busy(struct wefti_timers *h)
{
	uint64_t word = load_relaxed(&h->word);

	while (!(word & BUSY))
		if (cas_weak_seq_cst(&h->word, &word, word | BUSY)) /* P4 */
			return 1;
	return 0;
}

/* Makes the heap look at tm's deadline: now, or by its server. */
static void submit(struct wefti_timer *tm)
{
	struct wefti_timers *h = &tm->home->timers;
	uint64_t word;

	if (xchg_seq_cst(&tm->queued, 1))
		return;		/* I2; its taker sees the deadline */
	word = load_relaxed(&h->word);
	do {
		tm->queued_next = queue_of(word);
	} while (!cas_weak_seq_cst(&h->word, &word,	/* P3 */
				   (uint64_t)(uintptr_t)tm | BUSY));
	if (!(word & BUSY))
		work(h);
}

void wefti_timer_arm(struct wefti_thread *self, uint64_t seq, int64_t deadline)
{
	struct wefti_timer *tm = &self->cold->timer;

	if (!tm->home)
		tm->home = self->vcpu;
	store_release(&tm->ticket, wefti_ticket(self, seq));	/* P1 */
	store_relaxed(&tm->deadline, deadline);
	fence_seq_cst();	/* P2 */
	if (load_seq_cst(&tm->key) > deadline)
		submit(tm);
}

void wefti_timer_disarm(struct wefti_thread *self)
{
	store_relaxed(&self->cold->timer.deadline, INT64_MAX);	/* P1 */
}

void wefti_timers_run(struct wefti_vcpu *v)
{
	struct wefti_timers *h = &v->timers;
	int64_t next = load_relaxed(&h->next);

	if (next != INT64_MAX && next <= wefti_os_now_ns() && take_busy(h))
		work(h);
}

void wefti_timers_drop(struct wefti_vcpu *v)
{
	struct wefti_timers *h = &v->timers;

	take_changes(h, queue_of(xchg_seq_cst(&h->word, 0)));
	while (h->root)
		heap_remove(h, h->root);
	store_seq_cst(&h->next, INT64_MAX);
}

void wefti_timers_run_all(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		wefti_timers_run(wefti_vcpu_at(i));
}

int64_t wefti_timers_earliest(void)
{
	int64_t earliest = INT64_MAX;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_timers *h = &wefti_vcpu_at(i)->timers;
		int64_t next = load_seq_cst(&h->next);

		if (next < earliest && !(load_seq_cst(&h->word) & BUSY)) /* P5, I5 */
			earliest = next;
	}
	return earliest;
}

int wefti_timers_any(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		if (load_seq_cst(&wefti_vcpu_at(i)->timers.next) != INT64_MAX)
			return 1;
	return 0;
}

int wefti_timers_due(void)
{
	int64_t earliest = wefti_timers_earliest();

	return earliest != INT64_MAX && earliest <= wefti_os_now_ns();
}

/* The caller has claimed rt.timekeeper. Returns the time until which it must sleep. */
int64_t wefti_timers_keep(void)
{
	int64_t earliest = INT64_MAX;

	for (;;) {
		store_seq_cst(&wefti_rt.kept_until, earliest);
		fence_seq_cst();	/* P5 */

		int64_t now = wefti_timers_earliest();

		if (now >= earliest)
			return earliest;
		earliest = now;
	}
}

void wefti_timers_resign(void)
{
	store_seq_cst(&wefti_rt.timekeeper, 0);
}

uint64_t wefti_timers_session(struct wefti_vcpu *v)
{
	struct wefti_timers *h = &v->timers;

	if (!(load_seq_cst(&h->word) & BUSY))
		return 0;
	return load_seq_cst(&h->session) + 1;
}
