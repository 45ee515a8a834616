/* SPDX-License-Identifier: MIT */
/* test_pointer_stack_history.c - what threads saw is what a stack does */
#include "lockfree/public_stacks.h"

#include <string.h>

#include "rounds.h"

#define CREW		3
#define CALLS		6
#define ELEMENTS	6	/* fewer than calls: they come back */
#define PREFILLED	2

enum { OP_PUSH, OP_POP };

static const char *const names[] = { "push", "pop" };

/* What is in the stack, 0 above the top. */
struct model {
	uint8_t element[ELEMENTS];
};

static void model_begin(void *state, const void *setup)
{
	struct model *m = state;

	memset(m, 0, sizeof(*m));
	for (uint8_t i = 0; i < *(const uint8_t *)setup; i++)
		m->element[i] = (uint8_t)(i + 1);
}

/* pop: the element, or 0 for "empty". */
static int model_step(void *state, const struct history_op *op)
{
	struct model *m = state;
	size_t n = 0;

	while (n < ELEMENTS && m->element[n] != 0)
		n++;
	if (op->kind == OP_PUSH) {
		if (n == ELEMENTS)
			return 0;
		m->element[n] = (uint8_t)op->arg;
		return 1;
	}
	if (n == 0)
		return op->result == 0;
	if (op->result != m->element[n - 1])
		return 0;
	m->element[n - 1] = 0;
	return 1;
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

static struct weft_stack_node node[ELEMENTS + 1];
static uint32_t links[ELEMENTS + 1];
static struct weft_stack stack;
static struct weft_index_stack indexes;
static int with_indexes;
static const uint8_t prefilled = PREFILLED;

static void push(uint64_t e)
{
	if (with_indexes)
		weft_index_stack_push(&indexes, links, sizeof(links[0]),
				      (uint32_t)e);
	else
		weft_stack_push(&stack, &node[e]);
}

static uint64_t pop(void)
{
	struct weft_stack_node *n;

	if (with_indexes) {
		uint32_t i = weft_index_stack_pop(&indexes, links,
						  sizeof(links[0]));

		return i == WEFT_INDEX_NONE ? 0 : i;
	}
	n = weft_stack_pop(&stack);
	return n ? (uint64_t)(n - node) : 0;
}

static void begin(size_t round)
{
	memset(&stack, 0, sizeof(stack));
	memset(&indexes, 0, sizeof(indexes));
	/* With back-off calls overlap less. */
	CU_ASSERT_EQUAL(weft_stack_set_back_off(&stack, round % 2), 0);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&indexes, round % 2), 0);
	for (uint64_t i = 1; i <= PREFILLED; i++)
		push(i);
}

static uint64_t recorded_pop(struct history_recorder *rec)
{
	size_t i = history_call(rec, OP_POP, 0);
	uint64_t e = pop();

	history_return(rec, i, e);
	return e;
}

static void recorded_push(struct history_recorder *rec, uint64_t e)
{
	size_t i = history_call(rec, OP_PUSH, e);

	push(e);
	history_return(rec, i, 1);
}

/* Each has one of its own at first, and gives back what it took. */
static void play(struct rounds_member *m)
{
	uint64_t held[ELEMENTS];
	size_t n = 0;

	held[n++] = (uint64_t)(PREFILLED + 1 + m->rec.who);
	for (int call = 0; call < CALLS; call++) {
		if (n > 0 && test_random_below(&m->seed, 2) == 0) {
			recorded_push(&m->rec, held[--n]);
			continue;
		}

		uint64_t e = recorded_pop(&m->rec);

		if (e != 0)
			held[n++] = e;
	}
	while (n > 0)
		recorded_push(&m->rec, held[--n]);
}

static void drain(struct history_recorder *rec)
{
	while (recorded_pop(rec) != 0)
		;
}

static void run(int indexed)
{
	static const struct rounds_plan plan = {
		.model = &model, .setup = &prefilled, .crew = CREW,
		.count = 1500, .begin = begin, .play = play, .drain = drain,
	};

	with_indexes = indexed;
	rounds_run(&plan);
}

static void stack_histories_linearize(void)
{
	run(0);
}

static void index_stack_histories_linearize(void)
{
	run(1);
}

#define JUDGE(...) \
	HISTORY_JUDGE(&model, &(const uint8_t){ 2 }, __VA_ARGS__)

/* 2 is on top of 1 at first. */
static void checker_rejects_what_no_stack_does(void)
{
	/*
	 * What ABA does: a thread that saw 1 below 2 makes it the top, when it
	 * is out.
	 */
	CU_ASSERT_EQUAL(JUDGE({ 0, 9, 0, 2, NULL, OP_POP, 0 },
			      { 1, 2, 0, 2, NULL, OP_POP, 1 },
			      { 3, 4, 0, 1, NULL, OP_POP, 1 },
			      { 5, 6, 2, 1, NULL, OP_PUSH, 1 },
			      { 10, 11, 0, 1, NULL, OP_POP, 2 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 9, 0, 2, NULL, OP_POP, 0 },
			      { 1, 2, 0, 2, NULL, OP_POP, 1 },
			      { 3, 4, 0, 1, NULL, OP_POP, 1 },
			      { 5, 6, 2, 1, NULL, OP_PUSH, 1 },
			      { 10, 11, 0, 0, NULL, OP_POP, 2 }),
			HISTORY_LINEARIZABLE);
	/* The first first; empty with one in it. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 1, NULL, OP_POP, 0 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 0, 2, NULL, OP_POP, 0 },
			      { 1, 2, 0, 0, NULL, OP_POP, 1 }),
			HISTORY_BROKEN);
}

/* The control: a stack whose head has no tag, step by step. */
static void histories_of_a_stack_without_tags_do_not_linearize(void)
{
	static struct history_op op[HISTORY_MAX];
	struct history_recorder slow, fast;
	struct history_op all[HISTORY_MAX];
	uint32_t top = 2, below[] = { 0, 0, 1 }, seen, next;
	size_t i, j;

	history_clock_reset();
	history_recorder_init(&slow, 0, op, 8);
	history_recorder_init(&fast, 1, op + 8, 8);
	i = history_call(&slow, OP_POP, 0);
	seen = top;
	next = below[seen];		/* and is stopped */
	for (int n = 0; n < 2; n++) {
		j = history_call(&fast, OP_POP, 0);
		history_return(&fast, j, top);
		top = below[top];
	}
	j = history_call(&fast, OP_PUSH, 2);
	below[2] = top;
	top = 2;
	history_return(&fast, j, 1);
	CU_ASSERT_EQUAL_FATAL(top, seen);	/* its CAS succeeds */
	top = next;
	history_return(&slow, i, seen);
	j = history_call(&fast, OP_POP, 0);
	history_return(&fast, j, top);
	CU_ASSERT_EQUAL(history_check(&model, &prefilled, all,
			history_merge(all, HISTORY_MAX,
				      (struct history_recorder[]){ slow, fast },
				      2)), HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(checker_rejects_what_no_stack_does),
	TEST(histories_of_a_stack_without_tags_do_not_linearize),
	TEST(stack_histories_linearize),
	TEST(index_stack_histories_linearize),
};

TEST_MAIN("lockfree/pointer_stack_history", cases)
