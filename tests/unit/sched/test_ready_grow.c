/* SPDX-License-Identifier: MIT */
/* test_ready_grow.c - sched/ready_grow: the turns of threads in a ring that grows */
#include "gaps.h"

/*
 * More threads than the ring holds before it grows: nobody's turn comes much later. (When
 * the ring overflowed into the injection queue, the gaps were up to four times as wide.)
 */
static void threads_beyond_the_ring_get_their_turns(void)
{
	alone_begin("steal", -1);
	CU_ASSERT_TRUE(widest_gap(BEYOND, WEFT_LIGHT) <= 2 * BEYOND);
	CU_ASSERT_TRUE(widest_gap(FAR, WEFT_LIGHT) <= 4 * FAR);
	alone_end();
}

/* A ring that grows, again and again, stays first in first out. */
static void a_ring_that_has_grown_is_first_in_first_out(void)
{
	size_t farther = 2 * FAR + test_scaled(3000);

	alone_begin("steal", -1);
	CU_ASSERT_EQUAL(widest_gap(BEYOND, WEFT_LIGHT), BEYOND);
	CU_ASSERT_EQUAL(widest_gap(FAR, WEFT_LIGHT), FAR);
	CU_ASSERT_EQUAL(widest_gap(farther, WEFT_LIGHT), farther);
	CU_ASSERT_EQUAL(widest_gap(BEYOND, WEFT_LIGHT), BEYOND);
	alone_end();
}

static const struct test_case cases[] = {
	TEST(threads_beyond_the_ring_get_their_turns),
	TEST(a_ring_that_has_grown_is_first_in_first_out),
};

TEST_MAIN("sched/ready_grow", cases)
