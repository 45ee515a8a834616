/* SPDX-License-Identifier: MIT */
/* test_spsc_history.c - what both ends of a ring saw is what a queue does */
#include "lockfree/spsc.h"

#include "rounds.h"

#define CAPACITY	4
#define CALLS		12
#define MANY		3

enum { OP_PUSH, OP_PUSH_MANY, OP_POP, OP_POP_MANY };

static const char *const names[] = { "push", "push_many", "pop", "pop_many" };

/*
 * Elements are numbers from 1 up, so the state is the last one popped and the
 * last one pushed. Results are how many were moved; `more` has what was popped.
 */
struct model {
	uint64_t popped, pushed;
};

static void model_begin(void *state, const void *setup)
{
	struct model *m = state;

	m->popped = 0;
	m->pushed = *(const uint64_t *)setup;
}

static int model_push(struct model *m, const struct history_op *op,
		      uint64_t most)
{
	uint64_t room = CAPACITY - (m->pushed - m->popped);

	if (op->result > room || op->result > most)
		return 0;
	if (op->result == 0)
		return room == 0;
	m->pushed += op->result;
	return op->arg == m->pushed - op->result + 1;
}

static int model_pop(struct model *m, const struct history_op *op,
		     uint64_t most)
{
	uint64_t ready = m->pushed - m->popped;

	if (op->result > ready || op->result > most)
		return 0;
	if (op->result == 0)
		return ready == 0;
	for (uint64_t i = 0; i < op->result; i++)
		if (op->more[i] != ++m->popped)
			return 0;
	return 1;
}

static int model_step(void *state, const struct history_op *op)
{
	switch (op->kind) {
	case OP_PUSH:
		return model_push(state, op, 1);
	case OP_PUSH_MANY:
		return model_push(state, op, MANY);
	case OP_POP:
		return model_pop(state, op, 1);
	default:
		return model_pop(state, op, MANY);
	}
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

static alignas(WEFT_SPSC_ALIGN) unsigned char
	memory[sizeof(struct weft_spsc) + CAPACITY * sizeof(uint64_t)];
static struct weft_spsc *ring;
static uint64_t prefilled, pushed;
static uint64_t popped[CALLS + CAPACITY + 1][MANY];
static size_t pops;

/* Rounds begin all over the ring, and before positions wrap. */
static void begin(size_t round)
{
	uint64_t first = round % 2 ? round : UINT64_MAX - round % 7;

	CU_ASSERT_EQUAL_FATAL(weft_spsc_init(&ring, memory, sizeof(memory),
				CAPACITY, sizeof(uint64_t)), 0);
	store_relaxed(&ring->head, first);
	store_relaxed(&ring->tail, first);
	ring->head_seen = ring->tail_seen = first;
	pops = 0;
	for (pushed = 0; pushed < prefilled; pushed++) {
		uint64_t next = pushed + 1;

		CU_ASSERT_EQUAL_FATAL(weft_spsc_push(ring, &next), 0);
	}
}

static void producer_plays(struct rounds_member *m)
{
	const uint64_t next[MANY] = { pushed + 1, pushed + 2, pushed + 3 };
	uint64_t n;
	size_t i;

	if (test_random_below(&m->seed, 2) == 0) {
		i = history_call(&m->rec, OP_PUSH, next[0]);
		n = weft_spsc_push(ring, next) == 0;
	} else {
		i = history_call(&m->rec, OP_PUSH_MANY, next[0]);
		n = weft_spsc_push_many(ring, next, MANY);
	}
	history_return(&m->rec, i, n);
	pushed += n;
}

static uint64_t recorded_pop(struct history_recorder *rec, int many)
{
	uint64_t *out = popped[pops++];
	uint64_t n;
	size_t i;

	if (many) {
		i = history_call(rec, OP_POP_MANY, 0);
		n = weft_spsc_pop_many(ring, out, MANY);
	} else {
		i = history_call(rec, OP_POP, 0);
		n = weft_spsc_pop(ring, out) == 0;
	}
	history_return(rec, i, n);
	rec->op[i].more = out;
	return n;
}

static void play(struct rounds_member *m)
{
	for (int call = 0; call < CALLS; call++) {
		if (m->rec.who == 0)
			producer_plays(m);
		else
			recorded_pop(&m->rec,
				     (int)test_random_below(&m->seed, 2));
	}
}

static void drain(struct history_recorder *rec)
{
	while (recorded_pop(rec, 0) > 0)
		;
}

static void spsc_histories_linearize_from_empty_and_from_full(void)
{
	static const struct rounds_plan plan = {
		.model = &model, .setup = &prefilled, .crew = 2,
		.count = 1500, .begin = begin, .play = play, .drain = drain,
	};

	rounds_run_empty_and_full(&plan, &prefilled, CAPACITY);
}

#define JUDGE(...) \
	HISTORY_JUDGE(&model, &(const uint64_t){ 0 }, __VA_ARGS__)

static void checker_rejects_what_no_queue_does(void)
{
	const uint64_t one[] = { 1 }, two[] = { 2 };

	/* Out of order; lost; empty behind a push; full with room. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 2, NULL, OP_PUSH_MANY, 0 },
			      { 2, 3, 0, 1, two, OP_POP, 1 }), HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 0, 0, NULL, OP_POP, 1 }), HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 0, NULL, OP_PUSH, 0 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 0, 1, one, OP_POP, 1 }),
			HISTORY_LINEARIZABLE);
}

static const struct test_case cases[] = {
	TEST(checker_rejects_what_no_queue_does),
	TEST(spsc_histories_linearize_from_empty_and_from_full),
};

TEST_MAIN("lockfree/spsc_history", cases)
