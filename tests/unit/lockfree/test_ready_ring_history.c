/* SPDX-License-Identifier: MIT */
/*
 * test_ready_ring_history.c - lockfree/ready_ring: what owner and thieves saw
 * is what a bounded deque does
 *
 * Each round starts with a ring that is empty or nearly full, runs a few calls
 * a thread, and ends with a drain, so that a lost thread cannot hide.
 */
#include "lockfree/ready_ring.h"

#include <pthread.h>
#include <string.h>

#include "history.h"
#include "support.h"

#define CREW		3		/* member 0 is the owner */
#define CALLS		7
#define STOLEN_MAX	WEFTI_RING_CAPACITY
#define LEFT		5		/* looked at in the drain, at most */
#define WINDOW		(CREW * CALLS + CALLS + LEFT + 1)

enum { OP_PUSH, OP_POP, OP_TAKE_BACK, OP_STEAL_ONE, OP_STEAL };

static const char *const names[] = {
	"push", "pop", "pop_tail_if", "steal_one", "steal",
};

/*
 * Items are numbers from 1 up in order of push, so what is queued is a rising
 * list. The `old` oldest are 1001, 1002, ... and there before the round.
 */
struct model {
	uint64_t old_first, old;
	uint64_t item[CALLS];		/* 0 behind the last */
	uint64_t len;
	int grows;
};

/* What a round begins with. */
struct setup {
	unsigned old;
	int grows;
	int has_grown;
};

static void model_begin(void *state, const void *setup)
{
	struct model *m = state;

	memset(m, 0, sizeof(*m));
	m->old_first = 1001;
	m->old = ((const struct setup *)setup)->old;
	m->grows = ((const struct setup *)setup)->grows;
}

/* Takes the oldest; 0 when there is none. */
static uint64_t model_take(struct model *m)
{
	uint64_t taken = m->item[0];

	if (m->old > 0) {
		m->old--;
		return m->old_first++;
	}
	if (m->len == 0)
		return 0;
	memmove(m->item, m->item + 1, sizeof(m->item) - sizeof(m->item[0]));
	m->item[--m->len] = 0;
	return taken;
}

static int model_push(struct model *m, const struct history_op *op)
{
	if (m->old + m->len == WEFTI_RING_CAPACITY && !m->grows)
		return op->result == 0;
	m->item[m->len++] = op->arg;
	return op->result == 1;
}

static int model_take_back(struct model *m, const struct history_op *op)
{
	if (m->len == 0 || m->item[m->len - 1] != op->arg)
		return op->result == 0;
	m->item[--m->len] = 0;
	return op->result == 1;
}

/* Half or less: a steal that met others becomes modest. Never nothing. */
static int model_steal(struct model *m, const struct history_op *op)
{
	uint64_t len = m->old + m->len;

	if (op->result > (len + 1) / 2 || (op->result == 0 && len > 0))
		return 0;
	for (uint64_t i = 0; i < op->result; i++)
		if (model_take(m) != op->more[i])
			return 0;
	return 1;
}

static int model_step(void *state, const struct history_op *op)
{
	struct model *m = state;

	switch (op->kind) {
	case OP_PUSH:
		return model_push(m, op);
	case OP_TAKE_BACK:
		return model_take_back(m, op);
	case OP_STEAL:
		return model_steal(m, op);
	default:
		return model_take(m) == op->result;
	}
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

struct member {
	struct history_recorder rec;
	struct history_op op[WINDOW];
	struct wefti_ring mine;
	uint64_t stolen[CALLS][STOLEN_MAX];
	uint64_t newest;
	uint64_t seed;
};

static struct crew {
	pthread_barrier_t begin, end;
	struct history_gate gate;
	struct wefti_ring ring;
	size_t rounds;
	struct setup setup;
	struct member member[CREW];
} crew;

static struct wefti_thread *item(uint64_t n)
{
	return (struct wefti_thread *)(uintptr_t)n;
}

static uint64_t number(struct wefti_thread *t)
{
	return (uintptr_t)t;
}

static void recorded_pop(struct history_recorder *rec)
{
	size_t i = history_call(rec, OP_POP, 0);

	history_return(rec, i, number(wefti_ring_pop(&crew.ring)));
}

static void grow(void)
{
	static struct {
		struct wefti_ring_array array;
		_Atomic(struct wefti_thread *) slot[4 * WEFTI_RING_CAPACITY];
	} more = { .array.mask = 4 * WEFTI_RING_CAPACITY - 1 };

	wefti_ring_grow(&crew.ring, &more.array);
}

static uint64_t push(struct wefti_thread *t)
{
	if (wefti_ring_push(&crew.ring, t) == 0)
		return 1;
	if (!crew.setup.grows)
		return 0;
	grow();
	return wefti_ring_push(&crew.ring, t) == 0;
}

static void owner_plays(struct member *m, uint64_t call)
{
	uint64_t what = test_random_below(&m->seed, 8);
	size_t i;

	if (what < 4 || m->newest == 0) {
		m->newest = call + 1;
		i = history_call(&m->rec, OP_PUSH, m->newest);
		history_return(&m->rec, i, push(item(m->newest)));
	} else if (what < 6 && wefti_ring_is_grown(&crew.ring)) {
		wefti_ring_shrink(&crew.ring);
	} else if (what < 6) {
		i = history_call(&m->rec, OP_TAKE_BACK, m->newest);
		history_return(&m->rec, i,
			       (uint64_t)wefti_ring_pop_tail_if(&crew.ring,
							item(m->newest)));
	} else {
		recorded_pop(&m->rec);
	}
}

static void thief_plays(struct member *m, uint64_t call)
{
	struct wefti_thread *t = NULL;
	unsigned n;
	size_t i;

	if (test_random_below(&m->seed, 2) == 0) {
		i = history_call(&m->rec, OP_STEAL_ONE, 0);
		history_return(&m->rec, i,
			       number(wefti_ring_steal_one(&crew.ring)));
		return;
	}
	i = history_call(&m->rec, OP_STEAL, 0);
	n = wefti_ring_steal(&crew.ring, &m->mine, &t);
	history_return(&m->rec, i, n);

	/* What it got beyond the first stands in its own ring. */
	for (unsigned k = 0; k < n; k++, t = wefti_ring_pop(&m->mine))
		m->stolen[call][k] = number(t);
	m->rec.op[i].more = m->stolen[call];
}

static void *member(void *arg)
{
	struct member *m = arg;

	for (size_t r = 0; r < crew.rounds; r++) {
		pthread_barrier_wait(&crew.begin);
		history_gate_pass(&crew.gate, CREW);
		for (uint64_t call = 0; call < CALLS; call++) {
			if (m->rec.who == 0)
				owner_plays(m, call);
			else
				thief_plays(m, call);
		}
		pthread_barrier_wait(&crew.end);
	}
	return NULL;
}

/* Some laps on, so that rounds begin all over the ring, 2^45 included. */
static void round_begin(uint64_t head)
{
	memset(&crew.ring, 0, sizeof(crew.ring));
	wefti_ring_init(&crew.ring);
	store_relaxed(&crew.ring.word, WEFTI_RING_WORD(head, 0));
	if (crew.setup.has_grown)
		grow();
	for (unsigned n = 0; n < crew.setup.old; n++)
		CU_ASSERT_EQUAL_FATAL(push(item(1001 + n)), 1);
	history_clock_reset();
	for (int i = 0; i < CREW; i++) {
		struct member *m = &crew.member[i];

		history_recorder_init(&m->rec, i, m->op, WINDOW);
		m->newest = 0;
	}
}

/* The owner drains; of a nearly full ring only some, to stay in the window. */
static enum history_verdict round_judge(void)
{
	struct history_recorder rec[CREW];
	struct history_op all[WINDOW];
	enum history_verdict verdict;
	size_t count;

	for (int left = 0; left < CALLS + LEFT; left++) {
		if (wefti_ring_len_hint(&crew.ring) == 0)
			break;
		recorded_pop(&crew.member[0].rec);
	}
	for (int i = 0; i < CREW; i++)
		rec[i] = crew.member[i].rec;
	count = history_merge(all, WINDOW, rec, CREW);
	verdict = history_check(&model, &crew.setup, all, count);
	if (verdict != HISTORY_LINEARIZABLE)
		history_print(&model, all, count);
	return verdict;
}

static void run_rounds(struct setup setup)
{
	pthread_t tid[CREW];

	crew.setup = setup;
	crew.rounds = test_scaled(2000);
	pthread_barrier_init(&crew.begin, NULL, CREW + 1);
	pthread_barrier_init(&crew.end, NULL, CREW + 1);
	for (int i = 0; i < CREW; i++) {
		crew.member[i].seed = test_seed((uint64_t)i);
		wefti_ring_init(&crew.member[i].mine);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, member,
						     &crew.member[i]), 0);
	}
	for (size_t r = 0; r < crew.rounds; r++) {
		round_begin(r * 61 - 20000);
		pthread_barrier_wait(&crew.begin);
		pthread_barrier_wait(&crew.end);
		CU_ASSERT_EQUAL(round_judge(), HISTORY_LINEARIZABLE);
	}
	for (int i = 0; i < CREW; i++)
		pthread_join(tid[i], NULL);
	pthread_barrier_destroy(&crew.begin);
	pthread_barrier_destroy(&crew.end);
}

static void ring_histories_that_begin_empty_linearize(void)
{
	run_rounds((struct setup){ .old = 0 });
}

static void ring_histories_that_begin_nearly_full_linearize(void)
{
	run_rounds((struct setup){ .old = WEFTI_RING_CAPACITY - 2 });
}

/* The same, but it grows when it is full. */
static void ring_histories_in_which_it_grows_linearize(void)
{
	run_rounds((struct setup){ .old = WEFTI_RING_CAPACITY - 2, .grows = 1 });
}

/* It has grown, and the owner shrinks it. */
static void ring_histories_in_which_it_shrinks_linearize(void)
{
	run_rounds((struct setup){ .old = WEFTI_RING_CAPACITY / 2 + 1, .grows = 1,
				     .has_grown = 1 });
}

#define JUDGE(...) \
	HISTORY_JUDGE(&model, &(const struct setup){ 0 }, __VA_ARGS__)

static void checker_rejects_what_no_deque_does(void)
{
	const uint64_t one[] = { 1 }, two[] = { 1, 2 };

	/* The ABA of ready_ring.h: taken back, and stolen too. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 9, 0, 1, NULL, OP_STEAL_ONE, 1 },
			      { 3, 4, 1, 1, NULL, OP_TAKE_BACK, 0 },
			      { 5, 6, 2, 1, NULL, OP_PUSH, 0 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 9, 0, 2, NULL, OP_STEAL_ONE, 1 },
			      { 3, 4, 1, 1, NULL, OP_TAKE_BACK, 0 },
			      { 5, 6, 2, 1, NULL, OP_PUSH, 0 }),
			HISTORY_LINEARIZABLE);
	/* More than half; and half. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 1, NULL, OP_PUSH, 0 },
			      { 4, 5, 0, 2, two, OP_STEAL, 1 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 1, NULL, OP_PUSH, 0 },
			      { 4, 5, 0, 1, one, OP_STEAL, 1 }),
			HISTORY_LINEARIZABLE);
	/* Two thieves with the same one; a thief that missed what was there. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 5, 0, 1, one, OP_STEAL, 1 },
			      { 3, 4, 0, 1, NULL, OP_STEAL_ONE, 2 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 0, 0, NULL, OP_STEAL_ONE, 1 }),
			HISTORY_BROKEN);
	/* Full with room for 255 more. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 1, 1, NULL, OP_PUSH, 0 },
			      { 2, 3, 2, 0, NULL, OP_PUSH, 0 }),
			HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(checker_rejects_what_no_deque_does),
	TEST(ring_histories_that_begin_empty_linearize),
	TEST(ring_histories_that_begin_nearly_full_linearize),
	TEST(ring_histories_in_which_it_grows_linearize),
	TEST(ring_histories_in_which_it_shrinks_linearize),
};

TEST_MAIN("lockfree/ready_ring_history", cases)
