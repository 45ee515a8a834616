/* SPDX-License-Identifier: MIT */
/*
 * test_spsc_stall.c - one end of a ring stops at each step; the other end goes
 * on until it is empty, or full, in a bounded number of steps a call
 *
 * The control is the same ring behind a spin lock.
 */
#include <stdio.h>
#include <string.h>

#include "each_step.h"
#include "lockfree/spsc.h"
#include "steps.h"
#include "support.h"

#define CAPACITY	4
#define MANY		3
#define WORDS_MOST	3	/* in an element */
#define STEPS_MOST	4	/* one position twice, the other, to spare */

/* Elements are numbers from 1 up, in each of their words. */
struct queue {
	size_t (*push)(const uint64_t *words, size_t count);
	size_t (*pop)(uint64_t *words, size_t count);
};

static alignas(WEFT_SPSC_ALIGN) unsigned char
	memory[sizeof(struct weft_spsc) + CAPACITY * WORDS_MOST * 8];
static struct weft_spsc *ring;
static size_t words;

static size_t ring_push(const uint64_t *element, size_t count)
{
	return count > 1 ? weft_spsc_push_many(ring, element, count) :
			   weft_spsc_push(ring, element) == 0;
}

static size_t ring_pop(uint64_t *element, size_t count)
{
	return count > 1 ? weft_spsc_pop_many(ring, element, count) :
			   weft_spsc_pop(ring, element) == 0;
}

static const struct queue wait_free = { ring_push, ring_pop };

/* Around both ends. */
static _Atomic uint32_t spin_lock;

static size_t locked_push(const uint64_t *element, size_t count)
{
	size_t n;

	if (!each_step_spin(&spin_lock))
		return 0;
	n = ring_push(element, count);
	store_release(&spin_lock, 0u);
	return n;
}

static size_t locked_pop(uint64_t *element, size_t count)
{
	size_t n;

	if (!each_step_spin(&spin_lock))
		return 0;
	n = ring_pop(element, count);
	store_release(&spin_lock, 0u);
	return n;
}

static const struct queue spinning = { locked_push, locked_pop };

struct scene {
	const struct queue *queue;
	size_t prefilled, count;	/* of the victim's call */
	uint64_t first;			/* position */
	uint64_t pushed, popped;	/* the last numbers, of this thread */
	uint64_t element[MANY * WORDS_MOST];	/* the victim's */
	size_t moved;				/* by the victim */
	unsigned hindered;
	struct each_step_most most;
};

static void number(uint64_t *element, uint64_t from, size_t count)
{
	for (size_t i = 0; i < count * words; i++)
		element[i] = from + i / words;
}

static int is_number(const uint64_t *element, uint64_t want)
{
	for (size_t i = 0; i < words; i++)
		if (element[i] != want)
			return 0;
	return 1;
}

static void prepare(void *arg)
{
	struct scene *s = arg;

	CU_ASSERT_EQUAL_FATAL(weft_spsc_init(&ring, memory, sizeof(memory),
					     CAPACITY, 8 * words), 0);
	store_relaxed(&ring->head, s->first);
	store_relaxed(&ring->tail, s->first);
	ring->head_seen = ring->tail_seen = s->first;
	s->pushed = s->popped = 0;
	s->moved = 0;
	memset(s->element, 0, sizeof(s->element));
	for (size_t i = 0; i < s->prefilled; i++) {
		uint64_t element[WORDS_MOST];

		number(element, ++s->pushed, 1);
		CU_ASSERT_EQUAL_FATAL(ring_push(element, 1), 1);
	}
	number(s->element, s->pushed + 1, s->count);
}

/* Returns how many came out; the numbers go on where they were. */
static size_t pop_until_empty(struct scene *s)
{
	uint64_t element[MANY * WORDS_MOST];
	size_t sum = 0, n, many = MANY;

	do {
		size_t before = steps_own();

		many = MANY + 1 - many;		/* 1 and 3 by turns */
		n = s->queue->pop(element, many);
		each_step_took(&s->most, before);
		for (size_t i = 0; i < n; i++)
			CU_ASSERT_TRUE(is_number(element + i * words,
						 ++s->popped));
		sum += n;
	} while (n > 0);
	return sum;
}

static size_t push_until_full(struct scene *s)
{
	uint64_t element[MANY * WORDS_MOST];
	size_t sum = 0, n, many = MANY;

	do {
		size_t before = steps_own();

		many = MANY + 1 - many;
		number(element, s->pushed + 1, many);
		n = s->queue->push(element, many);
		each_step_took(&s->most, before);
		s->pushed += n;
		sum += n;
	} while (n > 0);
	return sum;
}

/* --- the producer stops */

static void push(void *arg)
{
	struct scene *s = arg;

	s->moved = s->queue->push(s->element, s->count);
}

static void consumer_goes_on(void *arg)
{
	struct scene *s = arg;
	size_t n = pop_until_empty(s);

	s->hindered += n < s->prefilled;
	CU_ASSERT_TRUE(n <= s->prefilled + s->count);
}

static void consumer_gets_the_rest(void *arg)
{
	struct scene *s = arg;

	s->pushed += s->moved;
	pop_until_empty(s);
	CU_ASSERT_EQUAL(s->popped, s->pushed);
	CU_ASSERT_EQUAL(push_until_full(s), CAPACITY);
	CU_ASSERT_EQUAL(pop_until_empty(s), CAPACITY);
}

static const struct each_step producer_stops = {
	.prepare = prepare, .call = push, .others = consumer_goes_on,
	.after = consumer_gets_the_rest,
};

/* --- the consumer stops */

static void pop(void *arg)
{
	struct scene *s = arg;

	s->moved = s->queue->pop(s->element, s->count);
}

static void producer_goes_on(void *arg)
{
	struct scene *s = arg;
	size_t n = push_until_full(s);

	s->hindered += n < CAPACITY - s->prefilled;
	CU_ASSERT_TRUE(n <= CAPACITY - s->prefilled + s->count);
}

static void all_have_come_out(void *arg)
{
	struct scene *s = arg;

	for (size_t i = 0; i < s->moved; i++)
		CU_ASSERT_TRUE(is_number(s->element + i * words, i + 1));
	s->popped = s->moved;
	pop_until_empty(s);
	CU_ASSERT_EQUAL(s->popped, s->pushed);
}

static const struct each_step consumer_stops = {
	.prepare = prepare, .call = pop, .others = producer_goes_on,
	.after = all_have_come_out,
};

/* Returns how often the other end could not do what there was to do. */
static unsigned run(const struct each_step *what, const struct queue *queue,
		    size_t steps_most)
{
	struct scene s = { .queue = queue };
	size_t stops = 0;

	store_relaxed(&spin_lock, 0u);
	for (words = 1; words <= WORDS_MOST; words += WORDS_MOST - 1) {
		for (s.prefilled = 0; s.prefilled <= CAPACITY; s.prefilled++) {
			for (s.count = 1; s.count <= MANY; s.count++) {
				s.first = s.count % 2 ? 2 : UINT64_MAX - 1;
				stops += each_step(what, &s);
			}
		}
	}
	printf("    stopped %zu times, the other end hindered %u times, "
	       "%zu steps a call at most\n", stops, s.hindered, s.most.steps);
	CU_ASSERT_TRUE(stops >= 2 * 2 * (CAPACITY + 1) * MANY);
	CU_ASSERT_TRUE(s.most.steps <= steps_most);
	return s.hindered;
}

static void a_stopped_producer_hinders_no_consumer(void)
{
	CU_ASSERT_EQUAL(run(&producer_stops, &wait_free, STEPS_MOST), 0);
}

static void a_stopped_consumer_hinders_no_producer(void)
{
	CU_ASSERT_EQUAL(run(&consumer_stops, &wait_free, STEPS_MOST), 0);
}

static void a_ring_behind_a_spin_lock_fails_the_same_test(void)
{
	CU_ASSERT_TRUE(run(&producer_stops, &spinning, SIZE_MAX) > 0);
	CU_ASSERT_TRUE(run(&consumer_stops, &spinning, SIZE_MAX) > 0);
}

static const struct test_case cases[] = {
	TEST(a_stopped_producer_hinders_no_consumer),
	TEST(a_stopped_consumer_hinders_no_producer),
	TEST(a_ring_behind_a_spin_lock_fails_the_same_test),
};

TEST_MAIN("lockfree/spsc_stall", cases)
