/* SPDX-License-Identifier: MIT */
/*
 * test_lock_history.c - what the threads of a process, or several processes,
 * saw of a lock in one word is what a lock does
 *
 * No order of arrival is asked for. A try may fail for no reason while another
 * call runs, and the look below finds those that had none: they must have found
 * the lock taken. Owners hold on now and then until somebody is about to sleep.
 * The control is a lock that looks first and takes later.
 */
#include "lockfree/lock.h"

#include <errno.h>
#include <sched.h>
#include <weft/lock.h>

#include "rounds.h"

#define CREW	3
#define CALLS	12
#define LOOKS	200		/* of an owner, for a waiter */

enum { OP_LOCK, OP_TRY, OP_TRY_ALONE, OP_UNLOCK };

static const char *const names[] = { "lock", "try", "try alone", "unlock" };

/* The state: the owner, from 1 up; 0: nobody. Results are 0 or -EBUSY. */
static void model_begin(void *state, const void *setup)
{
	(void)setup;
	*(uint64_t *)state = 0;
}

static int model_step(void *state, const struct history_op *op)
{
	uint64_t *owner = state, self = (uint64_t)op->who + 1;

	if (op->result != 0)
		return op->kind == OP_TRY ||
		       (op->kind == OP_TRY_ALONE && *owner != 0);
	if (*owner != (op->kind == OP_UNLOCK ? self : 0))
		return 0;
	*owner = op->kind == OP_UNLOCK ? 0 : self;
	return 1;
}

static const struct history_model model = {
	sizeof(uint64_t), model_begin, model_step, names,
};

static int overlap(const struct history_op *a, const struct history_op *b)
{
	return a->called < b->returned && b->called < a->returned;
}

static void look(struct history_op *op, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int others = 0;

		for (size_t j = 0; j < count; j++)
			others += j != i && overlap(&op[i], &op[j]);
		if (op[i].kind == OP_TRY && !others)
			op[i].kind = OP_TRY_ALONE;
	}
}

/* What is looked at. */
struct subject {
	void (*lock)(void);
	int (*try_lock)(void);
	void (*unlock)(void);
};

/* Shared by processes; both locks are a word. */
static struct place {
	struct weft_lock lock;
	struct weft_plock plock;
	_Atomic uint32_t careless, seen_free;
} *place;

static void lock_lock(void)
{
	weft_lock_lock(&place->lock);
}

static int lock_try_lock(void)
{
	return weft_lock_try_lock(&place->lock);
}

static void lock_unlock(void)
{
	weft_lock_unlock(&place->lock);
}

static const struct subject lock = { lock_lock, lock_try_lock, lock_unlock };

static void plock_lock(void)
{
	weft_plock_lock(&place->plock);
}

static int plock_try_lock(void)
{
	return weft_plock_try_lock(&place->plock);
}

static void plock_unlock(void)
{
	weft_plock_unlock(&place->plock);
}

static const struct subject plock = {
	plock_lock, plock_try_lock, plock_unlock,
};

/* Between its look and its taking another one looks, if there is one. */
static int careless_try_lock(void)
{
	if (load_seq_cst(&place->careless))
		return -EBUSY;
	fetch_add_seq_cst(&place->seen_free, 1u);
	for (int i = 0; i < LOOKS && load_seq_cst(&place->seen_free) < 2; i++)
		sched_yield();
	store_seq_cst(&place->careless, 1u);
	return 0;
}

static void careless_lock(void)
{
	while (careless_try_lock() != 0)
		sched_yield();
}

static void careless_unlock(void)
{
	store_seq_cst(&place->careless, 0u);
}

static const struct subject careless = {
	careless_lock, careless_try_lock, careless_unlock,
};

static const struct subject *subject;

/* How many are inside; the control's members look at a lock that is free. */
static uint32_t inside(void)
{
	_Atomic uint32_t *word = subject == &plock ? (void *)&place->plock :
						     (void *)&place->lock;

	return load_relaxed(word) & ~(WEFTI_LOCK_BIT | WEFTI_LOCK_WOKEN);
}

static int recorded(struct history_recorder *rec, int kind)
{
	size_t i = history_call(rec, kind, 0);
	int result = 0;

	if (kind == OP_LOCK)
		subject->lock();
	else if (kind == OP_TRY)
		result = subject->try_lock();
	else
		subject->unlock();
	history_return(rec, i, (uint64_t)(int64_t)result);
	return result;
}

static void begin(size_t round)
{
	(void)round;
	CU_ASSERT_EQUAL(inside(), 0);
	store_seq_cst(&place->seen_free, 0u);
	store_seq_cst(&place->careless, 0u);
}

static void play(struct rounds_member *m)
{
	int has_it = 0;

	for (int call = 0; call < CALLS; call++) {
		uint64_t r = test_random_below(&m->seed, 8);

		if (!has_it) {
			int kind = r < 5 ? OP_LOCK : OP_TRY;

			has_it = recorded(&m->rec, kind) == 0;
			continue;
		}
		for (int i = 0; r == 0 && i < LOOKS && inside() < 2; i++)
			sched_yield();
		recorded(&m->rec, r == 1 ? OP_TRY : OP_UNLOCK);
		has_it = r == 1;
	}
	if (has_it)
		recorded(&m->rec, OP_UNLOCK);
}

/* Nobody else is there: it is free, or an unlock was lost. */
static void drain(struct history_recorder *rec)
{
	if (recorded(rec, OP_TRY) == 0)
		recorded(rec, OP_UNLOCK);
}

/* Returns how many rounds were not what a lock does. */
static size_t broken_rounds(const struct subject *what, size_t count,
			    int of_processes)
{
	const struct rounds_plan plan = {
		.model = &model, .crew = CREW, .of_processes = of_processes,
		.count = count, .begin = begin, .play = play, .drain = drain,
		.look = look,
	};
	size_t broken;

	place = mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(place != MAP_FAILED);
	subject = what;
	broken = rounds_broken(&plan, what == &careless);
	munmap(place, sizeof(*place));
	return broken;
}

static void lock_histories_of_threads_linearize(void)
{
	CU_ASSERT_EQUAL(broken_rounds(&lock, 1500, 0), 0);
}

static void plock_histories_of_threads_linearize(void)
{
	CU_ASSERT_EQUAL(broken_rounds(&plock, 500, 0), 0);
}

static void plock_histories_of_processes_linearize(void)
{
	CU_ASSERT_EQUAL(broken_rounds(&plock, 1000, 1), 0);
}

/* Until one is: a checker that refuses none is ended by the watchdog. */
static void histories_of_a_careless_lock_are_refused(void)
{
	for (int processes = 0; processes < 2; processes++)
		while (broken_rounds(&careless, 10, processes) == 0)
			;
}

#define JUDGE(...)	HISTORY_JUDGE(&model, NULL, __VA_ARGS__)
#define BUSY		((uint64_t)(int64_t)-EBUSY)

static void checker_accepts_what_a_lock_does(void)
{
	/* The last to come has it first. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 9, 0, 0, NULL, OP_LOCK, 1 },
			      { 3, 6, 0, 0, NULL, OP_LOCK, 2 },
			      { 4, 5, 0, 0, NULL, OP_UNLOCK, 0 },
			      { 7, 8, 0, 0, NULL, OP_UNLOCK, 2 }),
			HISTORY_LINEARIZABLE);
	/* A try that met others. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 2, 0, BUSY, NULL, OP_TRY, 0 },
			      { 1, 3, 0, BUSY, NULL, OP_TRY, 1 }),
			HISTORY_LINEARIZABLE);
}

static void checker_rejects_what_no_lock_does(void)
{
	/* Two have it; another's is given up. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 3, 0, 0, NULL, OP_LOCK, 0 },
			      { 1, 2, 0, 0, NULL, OP_TRY, 1 }),
			HISTORY_BROKEN);
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 3, 0, 0, NULL, OP_UNLOCK, 1 }),
			HISTORY_BROKEN);
	/* Two waited through one unlock, and both have it. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, 0, NULL, OP_LOCK, 0 },
			      { 2, 8, 0, 0, NULL, OP_LOCK, 1 },
			      { 3, 9, 0, 0, NULL, OP_LOCK, 2 },
			      { 4, 5, 0, 0, NULL, OP_UNLOCK, 0 }),
			HISTORY_BROKEN);
	/* Alone, and refused. */
	CU_ASSERT_EQUAL(JUDGE({ 0, 1, 0, BUSY, NULL, OP_TRY_ALONE, 0 }),
			HISTORY_BROKEN);
}

static void look_finds_who_was_alone(void)
{
	struct history_op op[] = {
		{ 0, 1, 0, BUSY, NULL, OP_TRY, 0 },
		{ 2, 4, 0, BUSY, NULL, OP_TRY, 0 },
		{ 3, 5, 0, 0, NULL, OP_UNLOCK, 1 },
		{ 6, 7, 0, BUSY, NULL, OP_TRY, 1 },
	};

	look(op, 4);
	CU_ASSERT_EQUAL(op[0].kind, OP_TRY_ALONE);
	CU_ASSERT_EQUAL(op[1].kind, OP_TRY);
	CU_ASSERT_EQUAL(op[2].kind, OP_UNLOCK);
	CU_ASSERT_EQUAL(op[3].kind, OP_TRY_ALONE);
}

static const struct test_case cases[] = {
	TEST(checker_accepts_what_a_lock_does),
	TEST(checker_rejects_what_no_lock_does),
	TEST(look_finds_who_was_alone),
	TEST(histories_of_a_careless_lock_are_refused),
	TEST(lock_histories_of_threads_linearize),
	TEST(plock_histories_of_threads_linearize),
	TEST(plock_histories_of_processes_linearize),
};

TEST_MAIN("lockfree/lock_history", cases)
