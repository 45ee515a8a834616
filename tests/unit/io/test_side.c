/* SPDX-License-Identifier: MIT */
/*
 * test_side.c - io/side: which waiters an edge wakes, on which side, in which
 * mode, and an edge that came too early
 */
#include "io/side.h"

#include <errno.h>

#include "sched/park.h"
#include "support.h"
#include "sync/segment.h"
#include "thread/bare.h"

enum { READ = WEFTI_READ_SIDE, WRITE = WEFTI_WRITE_SIDE };
enum { ALL = WEFTI_SIDE_ALL, ONE = WEFTI_SIDE_ONE };

#define CROWD	6

/* Threads of no runtime: their waits begin, and none of them parks. */
static struct waiter {
	struct wefti_thread *t;
	struct wefti_place place[WEFTI_SIDES];
	uint64_t seq;
} w[CROWD];

static struct wefti_sides sides;

/* The linker puts this in the place of wefti_waiters_add(). */
static int refuses;

int __real_wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			     struct wefti_thread *self, uint64_t place[2]);
int __wrap_wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			     struct wefti_thread *self, uint64_t place[2]);

int __wrap_wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			     struct wefti_thread *self, uint64_t place[2])
{
	return refuses ? -ENOMEM :
	       __real_wefti_waiters_add(q, ticket, self, place);
}

static void begin(int i)
{
	if (!w[i].t)
		w[i].t = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w[i].t);
	w[i].place[READ].list = w[i].place[WRITE].list = NULL;
	w[i].seq = wefti_wait_begin(w[i].t, WEFTI_WAIT_TIMED);
}

static int join(int i, int side, uint32_t edges, int mode)
{
	return wefti_side_join(&sides, side, &w[i].place[side], w[i].t,
			       w[i].seq, edges, (enum wefti_side_mode)mode);
}

/* Its call has just said EAGAIN. */
static void wait(int i, int side, int mode)
{
	begin(i);
	CU_ASSERT_EQUAL_FATAL(join(i, side, wefti_side_edges(&sides, side),
				   mode), 0);
}

static int is_woken(int i)
{
	enum wefti_cause cause = wefti_wait_cause(w[i].t);

	CU_ASSERT_TRUE(cause == WEFTI_CAUSE_WOKEN || cause == WEFTI_CAUSE_NONE);
	return cause == WEFTI_CAUSE_WOKEN;
}

static void part(int i)
{
	wefti_wait_resolve(w[i].t, w[i].seq, WEFTI_CAUSE_TIMEDOUT);
	for (int side = 0; side < WEFTI_SIDES; side++)
		wefti_side_part(&w[i].place[side], w[i].t);
}

static void part_all(void)
{
	for (int i = 0; i < CROWD; i++)
		if (w[i].t)
			part(i);
	CU_ASSERT_FALSE(wefti_side_any_waits(&sides));
}

static void an_edge_wakes_its_own_side(void)
{
	for (int side = 0; side < WEFTI_SIDES; side++) {
		uint32_t edges[] = { wefti_side_edges(&sides, READ),
				     wefti_side_edges(&sides, WRITE) };

		for (int i = 0; i < 4; i++)
			wait(i, i % 2, ALL);
		CU_ASSERT_TRUE(wefti_side_any_waits(&sides));
		CU_ASSERT_FALSE(wefti_side_next_waits(&sides));
		wefti_side_post(&sides, side);
		for (int i = 0; i < 4; i++)
			CU_ASSERT_EQUAL(is_woken(i), i % 2 == side);
		CU_ASSERT_EQUAL(wefti_side_edges(&sides, side),
				edges[side] + 1);
		CU_ASSERT_EQUAL(wefti_side_edges(&sides, !side), edges[!side]);
		part_all();
	}
}

static void an_edge_wakes_all_of_mode_all_and_the_first_of_mode_one(void)
{
	for (int i = 0; i < CROWD; i++)
		wait(i, READ, i % 2 ? ALL : ONE);
	CU_ASSERT_TRUE(wefti_side_next_waits(&sides));
	wefti_side_post(&sides, WRITE);
	for (int i = 0; i < CROWD; i++)
		CU_ASSERT_FALSE(is_woken(i));
	wefti_side_post(&sides, READ);
	for (int i = 0; i < CROWD; i++)
		CU_ASSERT_EQUAL(is_woken(i), i % 2 || i == 0);
	/* Each wakes the next; no edge is counted for that. */
	for (int woken = 2; woken < CROWD; woken += 2) {
		uint32_t edges = wefti_side_edges(&sides, READ);

		wefti_side_wake_next(&sides);
		for (int i = 0; i < CROWD; i += 2)
			CU_ASSERT_EQUAL(is_woken(i), i <= woken);
		CU_ASSERT_EQUAL(wefti_side_edges(&sides, READ), edges);
	}
	wefti_side_wake_next(&sides);	/* nobody */
	part_all();
}

/* An edge is not lost on a waiter that has gone. */
static void a_wait_that_is_over_is_passed_over(void)
{
	for (int i = 0; i < CROWD; i++)
		wait(i, READ, ONE);
	for (int i = 0; i < 3; i++)
		wefti_wait_resolve(w[i].t, w[i].seq, WEFTI_CAUSE_TIMEDOUT);
	wefti_side_post(&sides, READ);
	for (int i = 3; i < CROWD; i++)
		CU_ASSERT_EQUAL(is_woken(i), i == 3);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(wefti_wait_cause(w[i].t),
				WEFTI_CAUSE_TIMEDOUT);
	part(4);
	wefti_side_wake_next(&sides);
	CU_ASSERT_TRUE(is_woken(5));
	part_all();
}

static void a_thread_that_tried_before_an_edge_does_not_wait(void)
{
	for (int side = 0; side < WEFTI_SIDES; side++)
		for (int mode = 0; mode <= (side == READ ? ONE : ALL); mode++) {
			uint32_t edges = wefti_side_edges(&sides, side);

			wefti_side_post(&sides, side);
			begin(0);
			CU_ASSERT_EQUAL(join(0, side, edges, mode), 0);
			CU_ASSERT_TRUE(is_woken(0));
			part(0);
			/* The other side's edges are not its. */
			edges = wefti_side_edges(&sides, side);
			wefti_side_post(&sides, !side);
			begin(0);
			CU_ASSERT_EQUAL(join(0, side, edges, mode), 0);
			CU_ASSERT_FALSE(is_woken(0));
			part(0);
		}
	part_all();
}

static void edges_wrap(void)
{
	uint32_t edges;

	store_seq_cst(&sides.side[READ].edges, UINT32_MAX);
	edges = wefti_side_edges(&sides, READ);
	wait(0, READ, ALL);
	wefti_side_post(&sides, READ);
	CU_ASSERT_TRUE(is_woken(0));
	CU_ASSERT_EQUAL(wefti_side_edges(&sides, READ), 0);
	part(0);
	begin(0);
	CU_ASSERT_EQUAL(join(0, READ, edges, ALL), 0);
	CU_ASSERT_TRUE(is_woken(0));
	part_all();
}

/* One wait on both sides, and in both lists of the read side. */
static void one_ticket_may_stand_on_both_sides(void)
{
	for (int side = 0; side < WEFTI_SIDES; side++) {
		begin(0);
		for (int i = 0; i < WEFTI_SIDES; i++)
			CU_ASSERT_EQUAL(join(0, i, wefti_side_edges(&sides, i),
					     ALL), 0);
		wait(1, !side, ALL);
		wefti_side_post(&sides, side);
		CU_ASSERT_TRUE(is_woken(0));
		CU_ASSERT_FALSE(is_woken(1));
		wefti_side_post(&sides, !side);
		CU_ASSERT_TRUE(is_woken(1));
		part_all();
	}
}

static void without_memory_it_has_not_joined_and_waits_on(void)
{
	for (int mode = 0; mode <= ONE; mode++) {
		uint32_t edges = wefti_side_edges(&sides, READ);

		begin(0);
		wefti_side_post(&sides, READ);
		w[0].place[READ].list = &sides.one;	/* is written */
		refuses = 1;
		CU_ASSERT_EQUAL(join(0, READ, edges, mode), -ENOMEM);
		refuses = 0;
		CU_ASSERT_FALSE(is_woken(0));
		CU_ASSERT_PTR_NULL(w[0].place[READ].list);
		CU_ASSERT_FALSE(wefti_side_any_waits(&sides));
		part_all();			/* of nothing */
	}
}

/* After a fork nobody is there; and it is as new. */
static void a_forgotten_waiter_is_not_there(void)
{
	for (int i = 0; i < CROWD; i++)
		wait(i, i % 3 == 2 ? WRITE : READ, i % 3 ? ALL : ONE);
	for (int i = 0; i < CROWD; i++) {
		wefti_wait_forget(w[i].t);
		w[i].place[READ].list = w[i].place[WRITE].list = NULL;
	}
	wefti_side_forget(&sides);
	CU_ASSERT_FALSE(wefti_side_any_waits(&sides));
	CU_ASSERT_EQUAL(wefti_seg_count(&sides.one.first), 0);
	for (int side = 0; side < WEFTI_SIDES; side++)
		CU_ASSERT_EQUAL(wefti_seg_count(&sides.side[side].all.first),
				0);
	wait(0, READ, ONE);
	wait(1, READ, ONE);
	wefti_side_post(&sides, READ);
	CU_ASSERT_TRUE(is_woken(0) && !is_woken(1));
	part_all();
}

static const struct test_case cases[] = {
	TEST(an_edge_wakes_its_own_side),
	TEST(an_edge_wakes_all_of_mode_all_and_the_first_of_mode_one),
	TEST(a_wait_that_is_over_is_passed_over),
	TEST(a_thread_that_tried_before_an_edge_does_not_wait),
	TEST(edges_wrap),
	TEST(one_ticket_may_stand_on_both_sides),
	TEST(without_memory_it_has_not_joined_and_waits_on),
	TEST(a_forgotten_waiter_is_not_there),
};

TEST_MAIN("io/side", cases)
