/* SPDX-License-Identifier: MIT */
/* test_ring_history.c - what producers and consumers saw is what a queue does */
#include "lockfree/ring.h"

#include <string.h>

#include "rounds.h"

#define CAPACITY	2
#define CREW		3
#define CALLS		7

enum { OP_PUSH, OP_POP };

static const char *const names[] = { "push", "pop" };

/* What is in the queue, the oldest first, 0 behind the last. */
struct model {
	uint64_t element[CAPACITY];
};

static void model_begin(void *state, const void *setup)
{
	struct model *m = state;

	memset(m, 0, sizeof(*m));
	for (uint64_t i = 0; i < *(const uint64_t *)setup; i++)
		m->element[i] = 1000 + i;
}

static size_t model_count(const struct model *m)
{
	size_t n = 0;

	while (n < CAPACITY && m->element[n] != 0)
		n++;
	return n;
}

/* push: result is 1, or 0 for "full". pop: the element, or 0 for "empty". */
static int model_step(void *state, const struct history_op *op)
{
	struct model *m = state;
	size_t n = model_count(m);

	if (op->kind == OP_PUSH) {
		if (n == CAPACITY)
			return op->result == 0;
		m->element[n] = op->arg;
		return op->result == 1;
	}
	if (op->result != m->element[0])
		return 0;
	memmove(m->element, m->element + 1,
		sizeof(m->element) - sizeof(m->element[0]));
	m->element[CAPACITY - 1] = 0;
	return 1;
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

static alignas(WEFT_RING_ALIGN) unsigned char memory[1024];
static struct weft_ring *ring;
static uint64_t prefilled;

static void begin(size_t round)
{
	(void)round;
	CU_ASSERT_EQUAL_FATAL(weft_ring_init(&ring, memory, sizeof(memory),
					     CAPACITY), 0);
	for (uint64_t i = 0; i < prefilled; i++)
		CU_ASSERT_EQUAL_FATAL(weft_ring_push(ring, 1000 + i), 0);
}

static uint64_t recorded_pop(struct history_recorder *rec)
{
	size_t i = history_call(rec, OP_POP, 0);
	uint64_t e = 0;

	(void)!weft_ring_pop(ring, &e);
	history_return(rec, i, e);
	return e;
}

static void play(struct rounds_member *m)
{
	for (uint64_t call = 1; call <= CALLS; call++) {
		uint64_t e = (uint64_t)(m->rec.who + 1) * 100 + call;
		size_t i;

		if (test_random_below(&m->seed, 2) == 0) {
			recorded_pop(&m->rec);
			continue;
		}
		i = history_call(&m->rec, OP_PUSH, e);
		history_return(&m->rec, i, weft_ring_push(ring, e) == 0);
	}
}

static void drain(struct history_recorder *rec)
{
	while (recorded_pop(rec) != 0)
		;
}

static void ring_histories_linearize_from_empty_and_from_full(void)
{
	static const struct rounds_plan plan = {
		.model = &model, .setup = &prefilled, .crew = CREW,
		.count = 1500, .begin = begin, .play = play, .drain = drain,
	};

	rounds_run_empty_and_full(&plan, &prefilled, CAPACITY);
}

#define JUDGE(...) \
	HISTORY_JUDGE(&model, &(const uint64_t){ 0 }, __VA_ARGS__)

static void checker_rejects_what_no_queue_does(void)
{
	/* What the ticket ring does: empty behind a push that has returned. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 9, 1, 1, NULL, OP_PUSH, 0 },
			      { 1, 2, 2, 1, NULL, OP_PUSH, 1 },
			      { 3, 4, 0, 0, NULL, OP_POP, 2 }), HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 9, 1, 1, NULL, OP_PUSH, 0 },
			      { 1, 2, 2, 1, NULL, OP_PUSH, 1 },
			      { 3, 4, 0, 2, NULL, OP_POP, 2 }),
			HISTORY_LINEARIZABLE);
	/* Full with one in it; twice the same. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 0, NULL, OP_PUSH, 1 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 5, 0, 1, NULL, OP_POP, 1 },
			      { 3, 4, 0, 1, NULL, OP_POP, 2 }), HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(checker_rejects_what_no_queue_does),
	TEST(ring_histories_linearize_from_empty_and_from_full),
};

TEST_MAIN("lockfree/ring_history", cases)
