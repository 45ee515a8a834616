/* SPDX-License-Identifier: MIT */
/*
 * test_waiters.c - sync/waiters: order, waits that are passed over, memory that
 * comes back, no memory, and a new life
 *
 * Threads are bare structs with waits that begin and end by hand. Waiters that
 * come while others are stopped are in chan/test_waiters_stall.c.
 */
#include "sync/waiters.h"

#include <errno.h>
#include <string.h>

#include "no_memory.h"
#include "support.h"
#include "sync/segment.h"
#include "thread/bare.h"

#define MANY	(3 * WEFTI_SEG_CELLS + 2)

struct waiter {
	struct wefti_thread *t;
	uint64_t ticket, place[2];
};

static struct waiter w[MANY];
static struct wefti_thread *self;
static struct wefti_waiters q;

static struct wefti_thread *make(void)
{
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_GREEN, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	return t;
}

static void begin(void)
{
	memset(&q, 0, sizeof(q));
	if (self)
		return;
	self = make();
	for (unsigned i = 0; i < MANY; i++)
		w[i].t = make();
}

static int add(unsigned i)
{
	w[i].ticket = wefti_ticket(w[i].t, wefti_wait_begin(w[i].t,
							WEFTI_WAIT_TIMED));
	return wefti_waiters_add(&q, w[i].ticket, w[i].t, w[i].place);
}

static void add_all(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL_FATAL(add(i), 0);
}

static void end_wait(unsigned i, enum wefti_cause cause)
{
	CU_ASSERT_EQUAL(wefti_wait_resolve(w[i].t, w[i].ticket, cause),
			WEFTI_WAS_ARMED);
}

static void time_out(unsigned i)
{
	end_wait(i, WEFTI_CAUSE_TIMEDOUT);
	wefti_waiters_take_out(&q, w[i].ticket, w[i].t, w[i].place);
}

static void claim(unsigned i)
{
	CU_ASSERT_PTR_EQUAL(wefti_waiters_claim(&q, self), w[i].t);
	wefti_wait_finish(w[i].t, WEFTI_CAUSE_WOKEN);
}

static void is_empty(void)
{
	CU_ASSERT_PTR_NULL(wefti_waiters_claim(&q, self));
	CU_ASSERT_EQUAL(wefti_waiters_find(&q, self, self->slot), 0);
	CU_ASSERT_EQUAL(wefti_waiters_behind(&q), 0);
}

static void a_lone_waiter_needs_no_segment(void)
{
	uint64_t lone;

	begin();
	is_empty();
	CU_ASSERT_TRUE(wefti_waiters_is_empty(&q));
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(add(i), 0);
		CU_ASSERT_EQUAL(w[i].place[0], 0);
		CU_ASSERT_EQUAL(wefti_waiters_lone(&q), w[i].ticket);
		CU_ASSERT_FALSE(wefti_waiters_takes_lone(&q, &lone));
		if (i == 1)
			time_out(i);
		else
			claim(i);	/* the dead one is replaced */
	}
	CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 0);
	is_empty();
	CU_ASSERT_TRUE(wefti_waiters_is_empty(&q));
	/* Behind one in a segment nobody gets in front again. */
	add_all(2);
	claim(0);
	CU_ASSERT_FALSE(wefti_waiters_takes_lone(&q, &lone));
	CU_ASSERT_EQUAL(add(2), 0);
	CU_ASSERT_NOT_EQUAL(w[2].place[0], 0);
	claim(1);
	claim(2);
	CU_ASSERT_TRUE(wefti_waiters_takes_lone(&q, &lone));
	wefti_waiters_end(&q, self);
}

static void they_are_claimed_in_order_over_many_segments(void)
{
	begin();
	add_all(MANY);
	CU_ASSERT_EQUAL(wefti_waiters_behind(&q), MANY - 1);
	CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 4);
	for (unsigned i = 0; i < MANY; i++)
		claim(i);
	is_empty();
	CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 1);	/* the open one */
	wefti_waiters_end(&q, self);
	CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 0);
}

static void a_look_finds_neither_its_own_wait_nor_one_that_is_over(void)
{
	begin();
	add_all(4);
	CU_ASSERT_EQUAL(wefti_waiters_find(&q, self, w[0].t->slot),
			w[1].ticket);
	CU_ASSERT_PTR_EQUAL(wefti_waiters_claim(&q, w[0].t), w[1].t);
	CU_ASSERT_EQUAL(wefti_waiters_find(&q, self, self->slot), w[0].ticket);
	time_out(0);
	CU_ASSERT_EQUAL(wefti_waiters_find(&q, self, w[2].t->slot),
			w[3].ticket);
	end_wait(2, WEFTI_CAUSE_TIMEDOUT);	/* and has not said so */
	claim(3);
	wefti_waiters_retire(&q, w[2].t, w[2].place);
	wefti_wait_finish(w[1].t, WEFTI_CAUSE_WOKEN);
	is_empty();
	wefti_waiters_end(&q, self);
}

/* In the middle of others that wait: a segment leaves when all in it have. */
static void segments_of_those_who_timed_out_are_given_back(void)
{
	begin();
	add_all(MANY);
	/* The segments hold 1 .. 26, 27 .. 52, 53 .. 78; the last one 79. */
	for (unsigned i = WEFTI_SEG_CELLS + 1; i <= 2 * WEFTI_SEG_CELLS; i++) {
		CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 4);
		time_out(i);
	}
	CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 3);
	CU_ASSERT_EQUAL(wefti_waiters_behind(&q), MANY - 1 - WEFTI_SEG_CELLS);
	for (unsigned i = 0; i < MANY; i++)
		if (i <= WEFTI_SEG_CELLS || i > 2 * WEFTI_SEG_CELLS)
			claim(i);
	is_empty();
	wefti_waiters_end(&q, self);
}

static void without_memory_who_comes_is_refused_and_the_rest_stays(void)
{
	static uint64_t taken[1 << 15];
	unsigned n = 0;

	begin();
	wefti_seg_free(self, wefti_seg_get(self));	/* there are some */
	CU_ASSERT_EQUAL(add(0), 0);
	no_memory = 1;
	while (n < sizeof(taken) / sizeof(taken[0]) &&
	       (taken[n] = wefti_seg_get(self)))
		n++;
	CU_ASSERT_EQUAL(add(1), -ENOMEM);
	CU_ASSERT_EQUAL(w[1].place[0], 0);
	CU_ASSERT_EQUAL(wefti_waiters_behind(&q), 0);
	CU_ASSERT_EQUAL(wefti_seg_count(&q.first), 0);
	end_wait(1, WEFTI_CAUSE_TIMEDOUT);
	/* With one segment: as many as it has cells, and no more. */
	wefti_seg_free(self, taken[--n]);
	for (unsigned i = 1; i <= WEFTI_SEG_CELLS; i++)
		CU_ASSERT_EQUAL(add(i), 0);
	CU_ASSERT_EQUAL(add(WEFTI_SEG_CELLS + 1), -ENOMEM);
	CU_ASSERT_EQUAL(wefti_waiters_behind(&q), WEFTI_SEG_CELLS);
	end_wait(WEFTI_SEG_CELLS + 1, WEFTI_CAUSE_TIMEDOUT);
	for (unsigned i = 0; i <= WEFTI_SEG_CELLS; i++)
		claim(i);
	is_empty();
	no_memory = 0;
	while (n > 0)
		wefti_seg_free(self, taken[--n]);
	wefti_waiters_end(&q, self);
}

static void a_place_of_the_life_before_changes_nothing_in_this(void)
{
	struct wefti_seg *seg;

	begin();
	add_all(3);
	for (unsigned i = 0; i < 3; i++)
		end_wait(i, WEFTI_CAUSE_TIMEDOUT);
	wefti_waiters_end(&q, self);	/* nobody has retired */
	CU_ASSERT_TRUE(wefti_waiters_is_empty(&q));
	CU_ASSERT_EQUAL(wefti_waiters_lone(&q), 0);
	for (unsigned i = 3; i < 6; i++)
		CU_ASSERT_EQUAL(add(i), 0);
	for (unsigned i = 1; i < 3; i++)
		wefti_waiters_retire(&q, w[i].t, w[i].place);
	CU_ASSERT_EQUAL(wefti_waiters_behind(&q), 2);
	/* Nor do they count in the segment, which is the same again. */
	seg = wefti_seg_of(w[4].place[0]);
	CU_ASSERT_PTR_EQUAL(seg, wefti_seg_of(w[1].place[0]));
	CU_ASSERT_EQUAL((uint32_t)load_relaxed(&seg->retired), 0);
	for (unsigned i = 3; i < 6; i++)
		claim(i);
	is_empty();
	wefti_waiters_end(&q, self);
}

static const struct test_case cases[] = {
	TEST(a_lone_waiter_needs_no_segment),
	TEST(they_are_claimed_in_order_over_many_segments),
	TEST(a_look_finds_neither_its_own_wait_nor_one_that_is_over),
	TEST(segments_of_those_who_timed_out_are_given_back),
	TEST(without_memory_who_comes_is_refused_and_the_rest_stays),
	TEST(a_place_of_the_life_before_changes_nothing_in_this),
};

TEST_MAIN("sync/waiters", cases)
