/* SPDX-License-Identifier: MIT */
/*
 * test_mutex_history.c - sync/mutex: what threads of a running runtime saw is
 * what a mutex does
 *
 * Green threads, a light one and a foreign one lock, try, wait with a deadline
 * and unlock, also what they do not own. Each round begins and ends with a free
 * mutex, so that a lost unlock cannot hide. The control is a mutex that looks
 * first and takes later.
 */
#include "crowd.h"
#include "history.h"
#include "sync/mutex.h"

#define CREW		4		/* of crowd.h: 1 light, 3 foreign */
#define CALLS		11
#define WINDOW		(CREW * (CALLS + 1))

_Static_assert(WINDOW <= HISTORY_MAX, "the checker takes it");

enum { OP_LOCK, OP_TRY, OP_LOCK_UNTIL, OP_UNLOCK };

static const char *const names[] = { "lock", "try", "lock_until", "unlock" };

/* The state: the owner, from 1 up; 0: it is free. Results are 0 or -errno. */
static void model_begin(void *state, const void *setup)
{
	(void)setup;
	*(uint64_t *)state = 0;
}

static int model_step(void *state, const struct history_op *op)
{
	uint64_t *owner = state, self = (uint64_t)op->who + 1;

	switch ((int64_t)op->result) {
	case 0:
		if (*owner != (op->kind == OP_UNLOCK ? self : 0))
			return 0;
		*owner = op->kind == OP_UNLOCK ? 0 : self;
		return 1;
	case -EPERM:
		return op->kind == OP_UNLOCK && *owner != self;
	case -EDEADLK:
		return *owner == self &&
		       (op->kind == OP_LOCK || op->kind == OP_LOCK_UNTIL);
	case -EBUSY:
		return op->kind == OP_TRY && *owner != 0;
	case -ETIMEDOUT:
		return op->kind == OP_LOCK_UNTIL && *owner != 0 &&
		       *owner != self;
	default:
		return 0;
	}
}

static const struct history_model model = {
	sizeof(uint64_t), model_begin, model_step, names,
};

/* What is looked at: ours, or the control. */
struct subject {
	int (*lock_until)(unsigned who, int64_t deadline);
	int (*try_lock)(unsigned who);
	int (*unlock)(unsigned who);
};

static struct weft_mutex mutex;

static int ours_lock_until(unsigned who, int64_t deadline)
{
	(void)who;
	return deadline == WEFT_FOREVER ? weft_mutex_lock(&mutex) :
					  weft_mutex_lock_until(&mutex, deadline);
}

static int ours_try(unsigned who)
{
	(void)who;
	return weft_mutex_try_lock(&mutex);
}

static int ours_unlock(unsigned who)
{
	(void)who;
	return weft_mutex_unlock(&mutex);
}

static const struct subject ours = { ours_lock_until, ours_try, ours_unlock };

/* The control: between its look and its taking, others run. */
static _Atomic unsigned careless_owner;

static int careless_try(unsigned who)
{
	if (load_seq_cst(&careless_owner))
		return -EBUSY;
	rest();
	store_seq_cst(&careless_owner, who + 1);
	return 0;
}

static int careless_lock_until(unsigned who, int64_t deadline)
{
	if (load_seq_cst(&careless_owner) == who + 1)
		return -EDEADLK;
	while (careless_try(who)) {
		if (weft_clock() >= deadline)
			return -ETIMEDOUT;
		rest();
	}
	return 0;
}

static int careless_unlock(unsigned who)
{
	unsigned self = who + 1;

	return cas_seq_cst(&careless_owner, &self, 0) ? 0 : -EPERM;
}

static const struct subject careless = {
	careless_lock_until, careless_try, careless_unlock,
};

static struct {
	const struct subject *subject;
	struct weft_barrier barrier;
	_Atomic unsigned arrived;
	size_t rounds, broken;
	size_t plays;		/* each has other players */
	struct history_recorder rec[CREW];
	struct history_op op[CREW][CALLS + 1];
} crew;

/*
 * Threads that can run at the same moment begin a round at the same moment; the
 * others come when they can.
 */
static void meet(size_t round)
{
	unsigned all = CREW * ((unsigned)round + 1);

	fetch_add_seq_cst(&crew.arrived, 1u);
	for (int spins = 0; spins < 300; spins++)
		if (load_seq_cst(&crew.arrived) >= all)
			return;
}

static int64_t recorded(unsigned me, int kind, uint64_t *seed)
{
	struct history_recorder *rec = &crew.rec[me];
	int64_t deadline = kind == OP_LOCK ? WEFT_FOREVER : soon(seed);
	size_t i = history_call(rec, kind, 0);
	int64_t result;

	if (kind == OP_UNLOCK)
		result = crew.subject->unlock(me);
	else if (kind == OP_TRY)
		result = crew.subject->try_lock(me);
	else
		result = crew.subject->lock_until(me, deadline);
	history_return(rec, i, (uint64_t)result);
	return result;
}

/* Most calls make sense; the others have to be refused. */
static int pick_call(int has_it, uint64_t *seed)
{
	switch (test_random_below(seed, 8)) {
	case 0:
		return has_it ? OP_TRY : OP_UNLOCK;
	case 1:
		return OP_LOCK;
	case 2:
	case 3:
		return has_it ? OP_UNLOCK : OP_LOCK_UNTIL;
	case 4:
		return has_it ? OP_UNLOCK : OP_TRY;
	default:
		return has_it ? OP_UNLOCK : OP_LOCK;
	}
}

static void play_round(unsigned me, uint64_t *seed)
{
	int has_it = 0;

	for (int call = 0; call < CALLS; call++) {
		int kind = pick_call(has_it, seed);
		int64_t result = recorded(me, kind, seed);

		if (result == 0)
			has_it = kind != OP_UNLOCK;
		dither(seed);
	}
	if (has_it)
		recorded(me, OP_UNLOCK, seed);
}

static void judge(void)
{
	struct history_op all[WINDOW];
	size_t count = history_merge(all, WINDOW, crew.rec, CREW);

	if (history_check(&model, NULL, all, count) == HISTORY_LINEARIZABLE)
		return;
	if (crew.broken++ == 0 && crew.subject == &ours)
		history_print(&model, all, count);
}

static void play(unsigned me, void *arg)
{
	uint64_t seed = test_seed(crew.plays * CREW + me);

	(void)arg;
	for (size_t round = 0; round < crew.rounds; round++) {
		history_recorder_init(&crew.rec[me], (int)me, crew.op[me],
				      CALLS + 1);
		weft_barrier_wait(&crew.barrier);
		meet(round);
		play_round(me, &seed);
		if (weft_barrier_wait(&crew.barrier) == WEFT_BARRIER_SERIAL) {
			judge();
			history_clock_reset();
		}
		weft_barrier_wait(&crew.barrier);
	}
}

/* Returns how many rounds were not what a mutex does. */
static size_t broken_rounds(const struct subject *subject, size_t rounds)
{
	crew.subject = subject;
	crew.rounds = rounds;
	crew.broken = 0;
	crew.plays++;
	store_seq_cst(&crew.arrived, 0);
	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(weft_barrier_init(&crew.barrier, CREW), 0);
	history_clock_reset();
	crowd_run(CREW, play, NULL);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&crew.barrier), 0);
	runtime_end();
	return crew.broken;
}

static void strict_histories_linearize(void)
{
	CU_ASSERT_EQUAL(weft_mutex_init(&mutex, WEFT_MUTEX_STRICT), 0);
	CU_ASSERT_EQUAL(broken_rounds(&ours, test_scaled(500)), 0);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&mutex), 0);
}

static void adaptive_histories_linearize(void)
{
	CU_ASSERT_EQUAL(weft_mutex_init(&mutex, WEFT_MUTEX_ADAPTIVE), 0);
	CU_ASSERT_EQUAL(broken_rounds(&ours, test_scaled(500)), 0);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&mutex), 0);
}

static void histories_of_a_careless_mutex_are_refused(void)
{
	/* Until one is: a checker that refuses none is ended by the watchdog. */
	while (broken_rounds(&careless, 20) == 0)
		;
}

#define JUDGE(...)	HISTORY_JUDGE(&model, NULL, __VA_ARGS__)
#define R(error)	((uint64_t)(int64_t)(error))

static void checker_accepts_what_a_mutex_does(void)
{
	/* The second is handed it while the first one's unlock still runs. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 6, 0, 0, NULL, OP_LOCK, 1 },
			      { 3, 9, 0, 0, NULL, OP_UNLOCK, 0 },
			      { 4, 5, 0, R(-EBUSY), NULL, OP_TRY, 2 },
			      { 7, 8, 0, 0, NULL, OP_UNLOCK, 1 }),
			HISTORY_LINEARIZABLE);
	/* It was taken when the wait began. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 5, 0, R(-ETIMEDOUT), NULL, OP_LOCK_UNTIL, 1 },
			      { 3, 4, 0, 0, NULL, OP_UNLOCK, 0 }),
			HISTORY_LINEARIZABLE);
}

static void checker_rejects_what_no_mutex_does(void)
{
	/* Two have it. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 3, 0, 0, NULL, OP_TRY, 1 }),
			HISTORY_BROKEN);
	/* Taken with nobody who could have it. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 3, 0, 0, NULL, OP_UNLOCK, 0 },
			      { 4, 5, 0, R(-EBUSY), NULL, OP_TRY, 1 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, R(-ETIMEDOUT), NULL, OP_LOCK_UNTIL, 0 }),
			HISTORY_BROKEN);
	/* Another's is given up, one's own is refused. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 3, 0, 0, NULL, OP_UNLOCK, 1 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 3, 0, R(-EPERM), NULL, OP_UNLOCK, 0 }),
			HISTORY_BROKEN);
	/* Two waited through one unlock, and both have it. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 8, 0, 0, NULL, OP_LOCK, 1 },
			      { 3, 9, 0, 0, NULL, OP_LOCK, 2 },
			      { 4, 5, 0, 0, NULL, OP_UNLOCK, 0 }),
			HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(checker_accepts_what_a_mutex_does),
	TEST(checker_rejects_what_no_mutex_does),
	TEST(histories_of_a_careless_mutex_are_refused),
	TEST(strict_histories_linearize),
	TEST(adaptive_histories_linearize),
};

TEST_MAIN("sync/mutex_history", cases)
