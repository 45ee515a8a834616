/* SPDX-License-Identifier: MIT */
/*
 * test_stuck.c - sched/stuck: when a home is stuck, and which waits the walk ends
 *
 * Without the runtime: the test is the monitor. The server is a word that says
 * that there is one, the threads are bare structs, the time is the test's, but
 * for the rest between two walks, which begins by the clock. With real threads,
 * and a server that is stopped, tests/stall/test_stall_timer.c.
 */
#include "sched/stuck.h"

#include <stdlib.h>
#include <string.h>

#include "bare_vcpus.h"
#include "os/call/clock.h"
#include "sched/seat.h"
#include "sched/timer.h"
#include "thread/bare.h"
#include "thread/wait.h"
#include "threads.h"

#define BUSY		UINT64_C(1)	/* in a home's word */
#define STUCK_NS	10000000	/* so long in one session */
#define HOMES		2

static struct wefti_vcpu *home[HOMES];
static int64_t now;	/* grows from case to case */

static void begin(void)
{
	bare_vcpus(home, HOMES);
	if (wefti_os_now_ns() > now)
		now = wefti_os_now_ns();
	now += 1000 * (int64_t)STUCK_NS;	/* no rest lasts so long */
}

static void serve(int i, uint64_t session)
{
	store_relaxed(&home[i]->timers.session, session);
	store_relaxed(&home[i]->timers.word, BUSY);
}

static void leave(int i)
{
	store_relaxed(&home[i]->timers.word, UINT64_C(0));
}

/* The first look, then one when it has been long enough. */
static unsigned look_twice(void)
{
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 0);
	return wefti_stuck_find(now += STUCK_NS);
}

static void a_home_is_stuck_after_so_long_in_one_session(void)
{
	begin();
	serve(1, 7);
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 0);
	CU_ASSERT_EQUAL(wefti_stuck_find(now + STUCK_NS - 1), 0);
	CU_ASSERT_EQUAL(wefti_stuck_find(now + STUCK_NS), 1);
	CU_ASSERT_EQUAL(wefti_stuck_find(now + STUCK_NS), 1);
	/* Both; then each as its server goes on, to another session or away. */
	now += STUCK_NS;
	serve(0, 1);
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 1);
	CU_ASSERT_EQUAL(wefti_stuck_find(now += STUCK_NS), 2);
	serve(1, 8);
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 1);
	leave(0);
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 0);
	/* The new session has its own time. */
	CU_ASSERT_EQUAL(wefti_stuck_find(now + STUCK_NS - 1), 0);
	CU_ASSERT_EQUAL(wefti_stuck_find(now += STUCK_NS), 1);
	leave(1);
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 0);
}

static void a_server_that_goes_on_is_never_stuck(void)
{
	begin();
	for (uint64_t session = 1; session < 50; session++) {
		serve(0, session);
		now += STUCK_NS;
		CU_ASSERT_EQUAL(wefti_stuck_find(now), 0);
		CU_ASSERT_EQUAL(wefti_stuck_find(now + STUCK_NS - 1), 0);
	}
	leave(0);
}

/* What is due there is the server's, and keeps no VCPU awake. */
static void a_heap_with_a_server_counts_as_none(void)
{
	begin();
	store_relaxed(&home[0]->timers.next, INT64_C(1));
	CU_ASSERT_TRUE(wefti_timers_due());
	serve(0, 1);
	CU_ASSERT_FALSE(wefti_timers_due());
	CU_ASSERT_TRUE(wefti_timers_any());
	store_relaxed(&home[1]->timers.next, INT64_C(2));
	CU_ASSERT_EQUAL(wefti_timers_earliest(), 2);
	leave(0);
	CU_ASSERT_EQUAL(wefti_timers_earliest(), 1);
	store_relaxed(&home[0]->timers.next, INT64_MAX);
	store_relaxed(&home[1]->timers.next, INT64_MAX);
}

/* A thread that waits. */
struct waiter {
	struct wefti_thread *t;
	struct wefti_cold cold;
	uint64_t seq;
};

static void park(struct waiter *w, enum wefti_kind kind, uint64_t flags,
		 int64_t deadline)
{
	memset(&w->cold, 0, sizeof(w->cold));
	wefti_timer_init(&w->cold.timer);
	store_relaxed(&w->cold.timer.deadline, deadline);
	w->t = wefti_thread_bare(kind, &w->cold);
	must(w->t != NULL);
	w->seq = wefti_wait_begin(w->t, flags);
	must(wefti_wait_commit(w->t));
}

static void end(struct waiter *w)
{
	(void)wefti_wait_resolve(w->t, w->seq, WEFTI_CAUSE_WOKEN);
	wefti_thread_bare_free(w->t);
}

static struct wefti_thread *made_ready(void)
{
	uint32_t node;
	struct wefti_thread *t = wefti_fifo_pop(&wefti_rt.inject, &node);

	if (t)
		t->fifo_node = node;
	return t;
}

static enum wefti_cause cause(const struct waiter *w)
{
	return wefti_wait_cause(w->t);
}

static void the_walk_ends_the_waits_that_are_late_and_no_others(void)
{
	static struct waiter late, other, in_time, untimed, claimed, foreign,
			     armed;
	struct wefti_thread *first, *second;

	begin();
	park(&late, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, now);
	park(&other, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, 1);
	park(&in_time, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, now + STUCK_NS + 1);
	park(&untimed, WEFTI_KIND_GREEN, 0, 1);
	park(&claimed, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, 1);
	must(wefti_wait_claim(claimed.t, claimed.seq));
	park(&foreign, WEFTI_KIND_FOREIGN, WEFTI_WAIT_TIMED, 1);
	park(&armed, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, 1);
	end(&armed);
	armed.t = wefti_thread_bare(WEFTI_KIND_GREEN, &armed.cold);
	armed.seq = wefti_wait_begin(armed.t, WEFTI_WAIT_TIMED);

	serve(0, 1);
	CU_ASSERT_EQUAL(look_twice(), 1);
	CU_ASSERT_EQUAL(cause(&late), WEFTI_CAUSE_TIMEDOUT);
	CU_ASSERT_EQUAL(cause(&other), WEFTI_CAUSE_TIMEDOUT);
	CU_ASSERT_EQUAL(cause(&in_time), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(cause(&untimed), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(cause(&claimed), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(cause(&foreign), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(cause(&armed), WEFTI_CAUSE_NONE);
	/* Each of the two was made ready, once. */
	first = made_ready();
	second = made_ready();
	CU_ASSERT_TRUE((first == late.t && second == other.t) ||
		       (first == other.t && second == late.t));
	CU_ASSERT_PTR_NULL(made_ready());

	leave(0);
	end(&late);
	end(&other);
	end(&in_time);
	end(&untimed);
	wefti_wait_finish(claimed.t, WEFTI_CAUSE_WOKEN);
	end(&claimed);
	end(&foreign);
	end(&armed);
}

static void where_none_is_stuck_nobody_is_looked_for(void)
{
	static struct waiter late;

	begin();
	park(&late, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, 1);
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 0);
	CU_ASSERT_EQUAL(look_twice(), 0);
	CU_ASSERT_EQUAL(cause(&late), WEFTI_CAUSE_NONE);
	CU_ASSERT_PTR_NULL(made_ready());
	end(&late);
}

/* By what the clock says a walk took that began a second ago: four seconds. */
static void behind_a_walk_it_rests_for_longer_than_that_took(void)
{
	static struct waiter late;
	int64_t began;

	begin();
	serve(0, 1);
	began = wefti_os_now_ns() - INT64_C(1000000000);
	home[0]->seen_session = 2;	/* it has been there for long */
	home[0]->seen_session_since = 0;
	store_relaxed(&home[0]->timers.session, UINT64_C(1));
	CU_ASSERT_EQUAL(wefti_stuck_find(now), 1);	/* ends the rest */
	CU_ASSERT_EQUAL(wefti_stuck_find(began), 1);
	park(&late, WEFTI_KIND_GREEN, WEFTI_WAIT_TIMED, 1);
	CU_ASSERT_EQUAL(wefti_stuck_find(began + INT64_C(4900000000)), 1);
	CU_ASSERT_EQUAL(cause(&late), WEFTI_CAUSE_NONE);
	/* Nobody has stopped this test for hours. */
	CU_ASSERT_EQUAL(wefti_stuck_find(began + INT64_C(100000000000000)), 1);
	CU_ASSERT_EQUAL(cause(&late), WEFTI_CAUSE_TIMEDOUT);
	CU_ASSERT_PTR_EQUAL(made_ready(), late.t);
	leave(0);
	end(&late);
}

static const struct test_case cases[] = {
	TEST(a_home_is_stuck_after_so_long_in_one_session),
	TEST(a_server_that_goes_on_is_never_stuck),
	TEST(a_heap_with_a_server_counts_as_none),
	TEST(the_walk_ends_the_waits_that_are_late_and_no_others),
	TEST(where_none_is_stuck_nobody_is_looked_for),
	TEST(behind_a_walk_it_rests_for_longer_than_that_took),
};

TEST_MAIN("sched/stuck", cases)
