/* SPDX-License-Identifier: MIT */
/*
 * test_slab_history.c - what threads get from a slab set is what a set of free
 * objects gives: one that is not out, and after a free it can be had again
 *
 * Threads hand objects to each other, so that a third of the frees come from
 * elsewhere than the magazine that the object is of.
 */
#include <string.h>
#include <weft/slab.h>

#include "lockfree/atomic.h"
#include "rounds.h"

#define CREW		3
#define CALLS		10
#define SHELVES		2
#define NUMBERS		3072u		/* objects of the one slab */
#define OBJECT_BYTES	64u

enum { OP_ALLOC, OP_FREE };

static const char *const names[] = { "alloc", "free" };

/* A bit is set where the object is out. */
struct model {
	uint64_t out[NUMBERS / 64];
};

static void model_begin(void *state, const void *setup)
{
	(void)setup;
	memset(state, 0, sizeof(struct model));
}

/* alloc: result is the object. free: arg is. */
static int model_step(void *state, const struct history_op *op)
{
	uint64_t number = op->kind == OP_ALLOC ? op->result : op->arg;
	uint64_t *word = &((struct model *)state)->out[number / 64];
	uint64_t bit = UINT64_C(1) << number % 64;

	if (((*word & bit) != 0) == (op->kind == OP_ALLOC))
		return 0;
	*word ^= bit;
	return 1;
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

static struct weft_slab *set;
static _Atomic(void *) shelf[SHELVES];

/* References are places, and the objects of a slab lie side by side. */
static uint64_t number_of(const void *object)
{
	uint64_t ref = weft_slab_ref(set, object);

	CU_ASSERT_NOT_EQUAL_FATAL(ref, 0);
	return ref / OBJECT_BYTES % NUMBERS;
}

static void *recorded_alloc(struct history_recorder *rec)
{
	size_t i = history_call(rec, OP_ALLOC, 0);
	void *object = weft_slab_alloc(set, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	history_return(rec, i, number_of(object));
	return object;
}

static void recorded_free(struct history_recorder *rec, void *object)
{
	size_t i = history_call(rec, OP_FREE, number_of(object));

	CU_ASSERT_EQUAL(weft_slab_free(set, object), 0);
	history_return(rec, i, 0);
}

static void play(struct rounds_member *m)
{
	void *held = NULL;

	for (int call = 0; call < CALLS; call++) {
		if (test_random_below(&m->seed, 3) == 0) {
			uint64_t at = test_random_below(&m->seed, SHELVES);

			held = xchg_acq_rel(&shelf[at], held);
		} else if (held) {
			recorded_free(&m->rec, held);
			held = NULL;
		} else {
			held = recorded_alloc(&m->rec);
		}
	}
	if (held)
		recorded_free(&m->rec, held);
}

static void begin(size_t round)
{
	(void)round;
}

static void drain(struct history_recorder *rec)
{
	for (int i = 0; i < SHELVES; i++) {
		void *object = xchg_acq_rel(&shelf[i], NULL);

		if (object)
			recorded_free(rec, object);
	}
}

static void slab_histories_linearize(void)
{
	static const struct weft_slab_attr attr = { 100, OBJECT_BYTES, 4 };
	static const struct rounds_plan plan = {
		.model = &model, .crew = CREW, .count = 1000, .begin = begin,
		.play = play, .drain = drain,
	};
	struct weft_slab_info info;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
	rounds_run(&plan);
	weft_slab_info(set, &info);
	CU_ASSERT_EQUAL(info.live, 0);
	weft_slab_close(set);
}

#define JUDGE(...)	HISTORY_JUDGE(&model, NULL, __VA_ARGS__)

static void checker_rejects_what_no_allocator_does(void)
{
	/* The same object to two. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 0, 5, NULL, OP_ALLOC, 0 },
			      { 1, 2, 0, 5, NULL, OP_ALLOC, 1 }),
			HISTORY_BROKEN);
	/* Free in between, or at least perhaps; and too late. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 5, NULL, OP_ALLOC, 0 },
			      { 2, 5, 5, 0, NULL, OP_FREE, 0 },
			      { 3, 4, 0, 5, NULL, OP_ALLOC, 1 }),
			HISTORY_LINEARIZABLE);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 5, NULL, OP_ALLOC, 0 },
			      { 4, 5, 5, 0, NULL, OP_FREE, 0 },
			      { 2, 3, 0, 5, NULL, OP_ALLOC, 1 }),
			HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(checker_rejects_what_no_allocator_does),
	TEST(slab_histories_linearize),
};

TEST_MAIN("lockfree/slab_history", cases)
