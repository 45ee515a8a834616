/* SPDX-License-Identifier: MIT */
/*
 * test_pointer_stack_stall.c - a push or pop stops at each step; others see a stack
 * that has the one element more or less, or not yet, and change it as they like
 *
 * What they do meanwhile: all comes out, and what was on top goes in again,
 * with nothing below it. The controls are a stack behind a spin lock, which hinders
 * them, and one without a tag, which then brings back what they have.
 */
#include <stdio.h>
#include <string.h>

#include "each_step.h"
#include "lockfree/public_stacks.h"
#include "steps.h"
#include "support.h"

#define PREFILLED	3u		/* elements 1, 2 and 3, the top */
#define ELEMENTS	4u		/* the last is the stopped pusher's */
#define STEPS_MOST	64		/* a weak CAS may fail for no reason */

struct lifo {
	int (*push)(uint32_t e);	/* 0: hindered */
	uint32_t (*pop)(void);		/* 0: none, or hindered */
};

static struct weft_stack pointers;
static struct weft_stack_node node[ELEMENTS + 1];

static int pointer_push(uint32_t e)
{
	weft_stack_push(&pointers, &node[e]);
	return 1;
}

static uint32_t pointer_pop(void)
{
	struct weft_stack_node *n = weft_stack_pop(&pointers);

	return n ? (uint32_t)(n - node) : 0;
}

static const struct lifo of_pointers = { pointer_push, pointer_pop };

static struct weft_index_stack indexes;
static uint32_t link[ELEMENTS + 1];

static int index_push(uint32_t e)
{
	weft_index_stack_push(&indexes, link, sizeof(link[0]), e);
	return 1;
}

static uint32_t index_pop(void)
{
	uint32_t i = weft_index_stack_pop(&indexes, link, sizeof(link[0]));

	return i == WEFT_INDEX_NONE ? 0 : i;
}

static const struct lifo of_indexes = { index_push, index_pop };

/* The controls: a top and links. */
static _Atomic uint32_t top, below[ELEMENTS + 1], spin_lock;

static int untagged_push(uint32_t e)
{
	uint32_t t = load_acquire(&top);

	do
		store_relaxed(&below[e], t);
	while (!cas_weak_acq_rel(&top, &t, e));
	return 1;
}

static uint32_t untagged_pop(void)
{
	uint32_t t = load_acquire(&top), next;

	do
		next = load_relaxed(&below[t]);
	while (t && !cas_acq_rel(&top, &t, next));
	return t;
}

static const struct lifo untagged = { untagged_push, untagged_pop };

static int locked_push(uint32_t e)
{
	if (!each_step_spin(&spin_lock))
		return 0;
	untagged_push(e);
	store_release(&spin_lock, 0u);
	return 1;
}

static uint32_t locked_pop(void)
{
	uint32_t e;

	if (!each_step_spin(&spin_lock))
		return 0;
	e = untagged_pop();
	store_release(&spin_lock, 0u);
	return e;
}

static const struct lifo spinning = { locked_push, locked_pop };

struct scene {
	const struct lifo *lifo;
	int pushes;			/* the victim */
	uint32_t got;			/* by the victim's pop */
	uint32_t held[ELEMENTS + 1];	/* how often this thread has each */
	unsigned wrong;
	struct each_step_most most;
};

static uint32_t pop_one(struct scene *s)
{
	size_t before = steps_own();
	uint32_t e = s->lifo->pop();

	each_step_took(&s->most, before);
	if (e)
		s->held[e]++;
	return e;
}

static void push_one(struct scene *s, uint32_t e)
{
	size_t before = steps_own();
	int done = s->lifo->push(e);

	each_step_took(&s->most, before);
	s->held[e] -= (uint32_t)done;
	s->wrong += !done;
}

static void prepare(void *arg)
{
	struct scene *s = arg;

	memset(&pointers, 0, sizeof(pointers));
	memset(&indexes, 0, sizeof(indexes));
	memset(s->held, 0, sizeof(s->held));
	store_relaxed(&top, 0u);
	store_relaxed(&spin_lock, 0u);
	s->got = 0;
	for (uint32_t e = 1; e <= PREFILLED; e++)
		s->lifo->push(e);
}

static void call(void *arg)
{
	struct scene *s = arg;

	if (s->pushes)
		s->lifo->push(ELEMENTS);
	else
		s->got = s->lifo->pop();
}

/* From the top down, with the one element more or less, or not. */
static void others(void *arg)
{
	struct scene *s = arg;
	uint32_t e = pop_one(s), first = e;

	if (s->pushes && e == ELEMENTS)
		e = pop_one(s);
	if (!s->pushes && e == PREFILLED - 1)
		e = PREFILLED;		/* is the victim's already */
	else if (e == PREFILLED)
		s->wrong += pop_one(s) != PREFILLED - 1;
	s->wrong += e != PREFILLED;
	for (e = PREFILLED - 2; e > 0; e--)
		s->wrong += pop_one(s) != e;
	s->wrong += pop_one(s) != 0;
	if (first)
		push_one(s, first);
}

/* Each element is in one place. */
static void after(void *arg)
{
	struct scene *s = arg;

	for (uint32_t i = 0; i <= ELEMENTS && pop_one(s); i++)
		;
	if (s->got)
		s->held[s->got]++;
	for (uint32_t e = 1; e <= ELEMENTS; e++)
		s->wrong += s->held[e] != (s->pushes || e <= PREFILLED);
}

static const struct each_step stops = {
	.prepare = prepare, .call = call, .others = others, .after = after,
};

/* Returns how often the stack was not what it must be. */
static unsigned run(const struct lifo *lifo, int pushes, size_t steps_most)
{
	struct scene s = { .lifo = lifo, .pushes = pushes };
	size_t steps = each_step(&stops, &s);

	printf("    %s stopped at %zu steps, %u times wrong, %zu steps a call "
	       "at most\n", pushes ? "push" : "pop", steps, s.wrong,
	       s.most.steps);
	CU_ASSERT_TRUE(steps > 2);
	CU_ASSERT_TRUE(s.most.steps <= steps_most);
	return s.wrong;
}

static void a_stopped_push_or_pop_hinders_nobody(void)
{
	CU_ASSERT_EQUAL(run(&of_pointers, 1, STEPS_MOST), 0);
	CU_ASSERT_EQUAL(run(&of_pointers, 0, STEPS_MOST), 0);
}

static void a_stopped_push_or_pop_of_an_index_hinders_nobody(void)
{
	CU_ASSERT_EQUAL(run(&of_indexes, 1, STEPS_MOST), 0);
	CU_ASSERT_EQUAL(run(&of_indexes, 0, STEPS_MOST), 0);
}

static void a_stack_behind_a_spin_lock_fails_the_same_test(void)
{
	CU_ASSERT_TRUE(run(&spinning, 1, SIZE_MAX) > 0);
	CU_ASSERT_TRUE(run(&spinning, 0, SIZE_MAX) > 0);
}

static void a_stack_without_a_tag_fails_the_same_test(void)
{
	CU_ASSERT_TRUE(run(&untagged, 0, SIZE_MAX) > 0);
}

static const struct test_case cases[] = {
	TEST(a_stopped_push_or_pop_hinders_nobody),
	TEST(a_stopped_push_or_pop_of_an_index_hinders_nobody),
	TEST(a_stack_behind_a_spin_lock_fails_the_same_test),
	TEST(a_stack_without_a_tag_fails_the_same_test),
};

TEST_MAIN("lockfree/pointer_stack_stall", cases)
