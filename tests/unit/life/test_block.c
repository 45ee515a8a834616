/* SPDX-License-Identifier: MIT */
/*
 * test_block.c - life/block: where a region begins and ends, for the monitor,
 * and which regions it announces
 *
 * That a VCPU is given away: sched/test_seat.c.
 */
#include "threads.h"

#include <pthread.h>

#include "cpu.h"
#include "life/few.h"
#include "os/kthread/kthread.h"
#include "sched/seat.h"

/* The caller's. */
static uint32_t region(void)
{
	return load_relaxed(&wefti_self()->cold->block_region);
}

static uint32_t depth(void)
{
	return wefti_self()->cold->block_depth;
}

static void *nest(void *unused)
{
	uint32_t before = region();

	must(before % 2 == 0 && depth() == 0);
	weft_block_begin();
	must(region() == before + 1);
	weft_block_begin();
	weft_block_begin();
	must(region() == before + 1 && depth() == 3);
	weft_block_end();
	weft_block_end();
	must(region() == before + 1);
	weft_block_end();
	must(region() == before + 2 && depth() == 0);

	/* The next one is another. */
	weft_block_begin();
	must(region() == before + 3);
	weft_block_end();
	must(region() == before + 4);
	return unused;
}

static void a_region_lasts_from_the_first_begin_to_the_last_end(void)
{
	runtime_begin();
	nest(NULL);
	join(spawn(nest, NULL));
	join(spawn_with(WEFT_LIGHT, nest, NULL));
	runtime_end();
}

static void *end_without_begin(void *unused)
{
	uint32_t before = region();

	weft_block_end();
	weft_block_end();
	must(region() == before && depth() == 0);
	nest(NULL);		/* and it counts from there */
	return unused;
}

static void an_end_without_a_begin_does_nothing(void)
{
	runtime_begin();
	end_without_begin(NULL);
	join(spawn(end_without_begin, NULL));
	runtime_end();
}

static void *end_inside(void *unused)
{
	weft_block_begin();
	weft_block_begin();
	return unused;
}

static void *expect_none(void *unused)
{
	must(depth() == 0 && region() % 2 == 0);
	return unused;
}

/* Bodies are used again at once. */
static void an_end_inside_leaves_no_region_to_the_next(void)
{
	runtime_begin();
	for (unsigned i = 0; i < 20; i++) {
		join(spawn_with(i & WEFT_LIGHT, end_inside, NULL));
		join(spawn_with(i & WEFT_LIGHT, expect_none, NULL));
	}
	runtime_end();
}

/* It has no VCPU that could be taken: it may say so, and nothing comes of it. */
static void *nest_outside(void *unused)
{
	weft_block_begin();
	must(region() == 0 && depth() == 1);
	weft_block_begin();
	weft_block_end();
	must(depth() == 1);
	weft_block_end();
	weft_block_end();
	must(region() == 0 && depth() == 0);
	return unused;
}

static void a_foreign_threads_region_is_not_announced(void)
{
	pthread_t thread;

	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, nest_outside,
					     NULL), 0);
	pthread_join(thread, NULL);
	runtime_end();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, nest_outside,
					     NULL), 0);
	pthread_join(thread, NULL);
}

/* --- few at a time ------------------------------------------------- */

static _Atomic uint32_t are_in, may_leave;

static uint32_t few(void)
{
	return load_relaxed(&wefti_rt.few_blocked);
}

static void *stay_in(void *unused)
{
	must(wefti_block_begin_few());
	fetch_add_relaxed(&are_in, 1);
	while (!load_relaxed(&may_leave))
		wefti_os_yield();
	weft_block_end();
	return unused;
}

static void *find_no_place(void *unused)
{
	must(few() == WEFTI_FEW);
	must(!wefti_block_begin_few());
	must(depth() == 0 && region() % 2 == 0);
	nest(NULL);		/* others are not counted */

	/* A thread that is in a region already stays in it. */
	weft_block_begin();
	must(wefti_block_begin_few() && depth() == 2);
	weft_block_end();
	weft_block_end();
	must(depth() == 0 && few() == WEFTI_FEW);
	return unused;
}

static void no_more_than_few_are_in_at_a_time(void)
{
	uint64_t id[WEFTI_FEW];

	runtime_begin();
	store_relaxed(&are_in, 0);
	store_relaxed(&may_leave, 0);
	for (int i = 0; i < WEFTI_FEW; i++)
		id[i] = spawn(stay_in, NULL);
	while (load_relaxed(&are_in) < WEFTI_FEW)
		rest();
	join(spawn(find_no_place, NULL));
	join(spawn_with(WEFT_LIGHT, find_no_place, NULL));
	store_relaxed(&may_leave, 1);
	for (int i = 0; i < WEFTI_FEW; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(few(), 0);
	runtime_end();
}

static void *nest_few(void *unused)
{
	must(wefti_block_begin_few() && few() == 1);
	must(wefti_block_begin_few() && few() == 1);
	weft_block_begin();
	weft_block_end();
	weft_block_end();
	must(few() == 1);
	weft_block_end();
	must(few() == 0 && depth() == 0 && region() % 2 == 0);
	weft_block_end();
	must(few() == 0 && depth() == 0);
	return unused;
}

static void *end_inside_few(void *unused)
{
	must(wefti_block_begin_few() && few() == 1);
	weft_block_begin();
	return unused;
}

static void one_of_few_that_ends_is_counted_no_more(void)
{
	runtime_begin();
	for (unsigned i = 0; i < 20; i++) {
		join(spawn_with(i & WEFT_LIGHT, nest_few, NULL));
		join(spawn_with(i & WEFT_LIGHT, end_inside_few, NULL));
		CU_ASSERT_EQUAL(few(), 0);
	}
	runtime_end();
}

/* --- a VCPU is taken ----------------------------------------------- */

static uint64_t compensations(void)
{
	return load_relaxed(&wefti_rt.compensations);
}

static int has_its_vcpu(void)
{
	struct wefti_thread *self = wefti_enter();
	int has = self->vcpu && load_seq_cst(&self->vcpu->current) == self &&
		  load_seq_cst(&self->attention) == WEFTI_SEAT_HELD;

	wefti_leave(self);
	return has;
}

/*
 * The monitor takes the VCPU of a thread that stays in a region, also of one
 * that computes there. Each end is an entry that notices, and the region goes
 * on.
 */
static void *lose_twice(void *unused)
{
	weft_block_begin();
	weft_block_begin();
	for (int i = 0; i < 2; i++) {
		uint64_t before = compensations();
		uint32_t in = region();

		while (compensations() == before)
			wefti_arch_pause();
		weft_block_end();
		must(has_its_vcpu());
		must(i || (region() == in && depth() == 1));
	}
	must(region() % 2 == 0 && depth() == 0);
	return unused;
}

static void an_end_returns_with_a_vcpu(void)
{
	/* Without slices: that it computes is no reason to take its VCPU. */
	struct weft_options options = { .slice_ns = -1 };

	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	join(spawn(lose_twice, NULL));
	join(spawn_with(WEFT_LIGHT, lose_twice, NULL));
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_region_lasts_from_the_first_begin_to_the_last_end),
	TEST(an_end_without_a_begin_does_nothing),
	TEST(an_end_inside_leaves_no_region_to_the_next),
	TEST(a_foreign_threads_region_is_not_announced),
	TEST(no_more_than_few_are_in_at_a_time),
	TEST(one_of_few_that_ends_is_counted_no_more),
	TEST(an_end_returns_with_a_vcpu),
};

TEST_MAIN("life/block", cases)
