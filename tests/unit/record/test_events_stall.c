/* SPDX-License-Identifier: MIT */
/*
 * test_events_stall.c - a writer of the common ring stops at each step; others write laps
 *
 * A reader that stops changes nothing, so only writers are stopped. The control is the
 * same ring behind a spin lock.
 */
#include <stdio.h>
#include <string.h>

#include "each_step.h"
#include "record/events.h"
#include "steps.h"
#include "support.h"

#define EVENTS		4u
#define LAPS		3u
#define STEPS_MOST	10	/* number, look, claim, four words, or the loss */

static struct wefti_event events[EVENTS];
static struct wefti_record_ring ring;
static struct wefti_record_writer writer = { events, &ring, EVENTS - 1 };
static _Atomic uint32_t spin_lock;

struct scene {
	int is_locked;
	unsigned hindered;	/* calls that wrote nothing though no slot was taken */
	struct each_step_most most;
};

static void put(uint64_t x)
{
	wefti_record_put_common(&writer, wefti_record_what(WEFTI_EVENT_MARK,
							   (uint32_t)x), x, x, x, NULL);
}

/* Returns 0 if the lock's owner is the stopped thread. */
static int put_as(const struct scene *s, uint64_t x)
{
	if (s->is_locked && !each_step_spin(&spin_lock))
		return 0;
	put(x);
	if (s->is_locked)
		store_release(&spin_lock, 0u);
	return 1;
}

static void prepare(void *arg)
{
	(void)arg;
	memset(events, 0, sizeof(events));
	memset(&ring, 0, sizeof(ring));
	store_relaxed(&spin_lock, 0u);
	for (uint64_t x = 100; x < 102; x++)
		put(x);
}

static void call(void *arg)
{
	put_as(arg, 1);
}

/* How many whole events the ring has; each is one writer's. */
static unsigned whole(void)
{
	uint64_t count = load_relaxed(&ring.count);
	struct wefti_record_event e;
	unsigned sum = 0;

	for (unsigned i = 1; i <= EVENTS && i <= count; i++) {
		if (!wefti_record_get(&writer, count - i, &e))
			continue;
		CU_ASSERT_TRUE(e.time == e.thread && e.time == e.arg &&
			       e.time == e.detail);
		sum++;
	}
	return sum;
}

static void others(void *arg)
{
	struct scene *s = arg;

	for (uint64_t x = 0; x < LAPS * EVENTS; x++) {
		size_t before = steps_own();

		s->hindered += !put_as(s, 200 + x);
		each_step_took(&s->most, before);
	}
	/* The stopped writer has one slot at most. */
	s->hindered += whole() < EVENTS - 1;
}

static void after(void *arg)
{
	(void)arg;
	for (uint64_t x = 0; x < 2 * EVENTS; x++)
		put(300 + x);
	CU_ASSERT_EQUAL(whole(), EVENTS);
}

static const struct each_step writer_stops = {
	.prepare = prepare, .call = call, .others = others, .after = after,
};

static struct scene run(int is_locked)
{
	struct scene s = { .is_locked = is_locked };
	size_t stops = each_step(&writer_stops, &s);

	printf("    stopped %zu times, others hindered %u times, %zu steps a call at "
	       "most\n", stops, s.hindered, s.most.steps);
	CU_ASSERT_TRUE(stops >= 6);
	return s;
}

static void a_stopped_writer_hinders_no_other(void)
{
	struct scene s = run(0);

	CU_ASSERT_EQUAL(s.hindered, 0);
	CU_ASSERT_TRUE(s.most.steps <= STEPS_MOST);
}

static void a_ring_behind_a_spin_lock_fails_the_same_test(void)
{
	CU_ASSERT_TRUE(run(1).hindered > 0);
}

static const struct test_case cases[] = {
	TEST(a_stopped_writer_hinders_no_other),
	TEST(a_ring_behind_a_spin_lock_fails_the_same_test),
};

TEST_MAIN("record/events_stall", cases)
