/* SPDX-License-Identifier: MIT */
/*
 * test_fifo_history.c - lockfree/fifo: what threads saw is what a queue does
 *
 * Each round starts at a barrier with an empty queue, runs a few calls a
 * thread, and ends with a drain, so that a lost item cannot hide.
 */
#include "lockfree/fifo.h"

#include <pthread.h>
#include <string.h>

#include "history.h"
#include "support.h"

#define CREW		3
#define CALLS		6
#define WINDOW		(CREW * CALLS + CREW * CALLS + 1)

enum { OP_PUSH, OP_POP, OP_IS_EMPTY };

static const char *const names[] = { "push", "pop", "is_empty" };

/* pop's result is 0 when the queue was empty; items begin at 1. */
struct model {
	uint64_t item[WINDOW];		/* item[0] is the oldest; 0 behind */
	size_t len;
};

static void model_begin(void *state, const void *setup)
{
	(void)setup;
	memset(state, 0, sizeof(struct model));
}

static int model_step(void *state, const struct history_op *op)
{
	struct model *m = state;

	if (op->kind == OP_PUSH) {
		m->item[m->len++] = op->arg;
		return 1;
	}
	if (op->kind == OP_IS_EMPTY)
		return op->result == (m->len == 0);
	if (m->len == 0)
		return op->result == 0;
	if (op->result != m->item[0])
		return 0;
	memmove(m->item, m->item + 1, sizeof(m->item) - sizeof(m->item[0]));
	m->item[--m->len] = 0;
	return 1;
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

static struct crew {
	pthread_barrier_t begin, end;
	struct history_gate gate;
	struct wefti_fifo q;
	size_t rounds;
} crew;

struct member {
	struct history_recorder rec;
	struct history_op op[CALLS];
	uint64_t item[CALLS];
	uint32_t node[2 * CALLS];	/* its own: dealt, or won by a pop */
	int nodes;
	uint64_t seed;
};

static void recorded_push(struct member *m, int call)
{
	size_t i;

	m->item[call] = (uint64_t)(m->rec.who * CALLS + call + 1);
	i = history_call(&m->rec, OP_PUSH, m->item[call]);
	wefti_fifo_push(&crew.q, m->node[--m->nodes],
			(void *)(uintptr_t)m->item[call]);
	history_return(&m->rec, i, 0);
}

static uint64_t recorded_pop(struct history_recorder *rec, uint32_t *spare)
{
	size_t i = history_call(rec, OP_POP, 0);
	uint64_t item = (uintptr_t)wefti_fifo_pop(&crew.q, spare);

	history_return(rec, i, item);
	return item;
}

static void play(struct member *m, int call)
{
	uint64_t what = test_random_below(&m->seed, 8);
	size_t i;

	if (what < 4 && m->nodes > 0) {
		recorded_push(m, call);
	} else if (what < 7) {
		/* The popped item is dropped; its node is this one's now. */
		if (recorded_pop(&m->rec, &m->node[m->nodes]) != 0)
			m->nodes++;
	} else {
		i = history_call(&m->rec, OP_IS_EMPTY, 0);
		history_return(&m->rec, i,
			       (uint64_t)wefti_fifo_is_empty(&crew.q));
	}
}

static void *member(void *arg)
{
	struct member *m = arg;

	for (size_t r = 0; r < crew.rounds; r++) {
		pthread_barrier_wait(&crew.begin);
		history_gate_pass(&crew.gate, CREW);
		for (int call = 0; call < CALLS; call++)
			play(m, call);
		pthread_barrier_wait(&crew.end);
	}
	return NULL;
}

/*
 * The nodes are dealt out anew: how many each has depends on how many it
 * popped.
 */
static void deal(struct member *m)
{
	uint32_t dummy = wefti_fifo_fini(&crew.q), node = 0;

	history_clock_reset();
	for (int i = 0; i < CREW; i++) {
		history_recorder_init(&m[i].rec, i, m[i].op, CALLS);
		m[i].nodes = CALLS / 2;
		for (int n = 0; n < CALLS / 2; n++) {
			if (node == dummy)
				node++;
			m[i].node[n] = node++;
		}
	}
	wefti_fifo_init(&crew.q, dummy);
}

static enum history_verdict judge(const struct member *m)
{
	struct history_op drain[WINDOW], all[WINDOW];
	struct history_recorder rec[CREW + 1];
	enum history_verdict verdict;
	uint32_t spare;
	size_t count;

	history_recorder_init(&rec[CREW], CREW, drain, WINDOW);
	while (recorded_pop(&rec[CREW], &spare) != 0)
		continue;
	for (int i = 0; i < CREW; i++)
		rec[i] = m[i].rec;
	count = history_merge(all, WINDOW, rec, CREW + 1);
	verdict = history_check(&model, NULL, all, count);
	if (verdict != HISTORY_LINEARIZABLE)
		history_print(&model, all, count);
	return verdict;
}

static void fifo_histories_of_three_threads_linearize(void)
{
	static struct member m[CREW];
	pthread_t tid[CREW];

	crew.rounds = test_scaled(2000);
	pthread_barrier_init(&crew.begin, NULL, CREW + 1);
	pthread_barrier_init(&crew.end, NULL, CREW + 1);
	CU_ASSERT_EQUAL_FATAL(wefti_fifo_reserve(CREW * CALLS), 0);
	wefti_fifo_init(&crew.q, 0);
	for (int i = 0; i < CREW; i++) {
		m[i].seed = test_seed((uint64_t)i);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, member,
						     &m[i]), 0);
	}
	for (size_t r = 0; r < crew.rounds; r++) {
		deal(m);
		pthread_barrier_wait(&crew.begin);
		pthread_barrier_wait(&crew.end);
		CU_ASSERT_EQUAL(judge(m), HISTORY_LINEARIZABLE);
	}
	for (int i = 0; i < CREW; i++)
		pthread_join(tid[i], NULL);
	pthread_barrier_destroy(&crew.begin);
	pthread_barrier_destroy(&crew.end);
}

#define JUDGE(...)	HISTORY_JUDGE(&model, NULL, __VA_ARGS__)

static void checker_accepts_every_order_that_overlapping_calls_allow(void)
{
	/* Both pushes overlap, so either may be first. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 1, 0, NULL, OP_PUSH, 0 },
			      { 1, 2, 2, 0, NULL, OP_PUSH, 1 },
			      { 4, 5, 0, 2, NULL, OP_POP, 0 },
			      { 6, 7, 0, 1, NULL, OP_POP, 0 }),
			HISTORY_LINEARIZABLE);
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 1, 0, NULL, OP_PUSH, 0 },
			      { 1, 2, 2, 0, NULL, OP_PUSH, 1 },
			      { 4, 5, 0, 1, NULL, OP_POP, 0 },
			      { 6, 7, 0, 2, NULL, OP_POP, 0 }),
			HISTORY_LINEARIZABLE);
	/* A pop may find what is pushed while it runs, or nothing. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 0, 1, NULL, OP_POP, 0 },
			      { 1, 2, 1, 0, NULL, OP_PUSH, 1 }),
			HISTORY_LINEARIZABLE);
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 0, 0, NULL, OP_POP, 0 },
			      { 1, 2, 1, 0, NULL, OP_PUSH, 1 }),
			HISTORY_LINEARIZABLE);
}

static void checker_rejects_what_no_queue_does(void)
{
	/* Out of order. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 0, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 0, NULL, OP_PUSH, 1 },
			      { 4, 5, 0, 2, NULL, OP_POP, 0 }),
			HISTORY_BROKEN);
	/* The same item twice. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 0, NULL, OP_PUSH, 0 },
			      { 2, 5, 0, 1, NULL, OP_POP, 0 },
			      { 3, 4, 0, 1, NULL, OP_POP, 1 }),
			HISTORY_BROKEN);
	/* Empty, with a push that returned long before. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 0, NULL, OP_PUSH, 0 },
			      { 2, 5, 0, 0, NULL, OP_POP, 1 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 0, NULL, OP_PUSH, 0 },
			      { 2, 5, 0, 1, NULL, OP_IS_EMPTY, 1 }),
			HISTORY_BROKEN);
	/* Popped before it was pushed. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 1, NULL, OP_POP, 0 },
			      { 2, 3, 1, 0, NULL, OP_PUSH, 1 }),
			HISTORY_BROKEN);
	/* Each pop is possible alone; both overlap, the order is not. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 0, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 0, NULL, OP_PUSH, 0 },
			      { 4, 7, 0, 2, NULL, OP_POP, 1 },
			      { 5, 6, 0, 0, NULL, OP_POP, 2 }),
			HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(checker_accepts_every_order_that_overlapping_calls_allow),
	TEST(checker_rejects_what_no_queue_does),
	TEST(fifo_histories_of_three_threads_linearize),
};

TEST_MAIN("lockfree/fifo_history", cases)
