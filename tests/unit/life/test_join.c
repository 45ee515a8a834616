/* SPDX-License-Identifier: MIT */
/* test_join.c - life/join: errors, deadlines, detach, races with the exit */
#include "threads.h"

#include "lockfree/atomic.h"

#define STORM	3000

struct gate {
	_Atomic uint32_t open;
};

/* Ends when the gate is opened. */
static void *wait_gate(void *arg)
{
	struct gate *gate = arg;

	while (!load_acquire(&gate->open))
		rest();
	return arg;
}

static void open_gate(struct gate *gate)
{
	store_release(&gate->open, 1);
}

static void *give_back(void *arg)
{
	return arg;
}

static void *join_itself(void *arg)
{
	(void)arg;
	must(weft_join(weft_self(), NULL) == -EDEADLK);
	return NULL;
}

static void join_refuses_oneself_nobody_and_one_joined_before(void)
{
	uint64_t id;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_join(0, NULL), -ESRCH);
	CU_ASSERT_EQUAL(weft_join(UINT64_MAX, NULL), -ESRCH);
	CU_ASSERT_EQUAL(weft_join(weft_self(), NULL), -EDEADLK);
	join(spawn(join_itself, NULL));
	id = spawn(give_back, NULL);
	join(id);
	CU_ASSERT_EQUAL(weft_join(id, NULL), -ESRCH);
	CU_ASSERT_EQUAL(weft_detach(id), -ESRCH);
	CU_ASSERT_EQUAL(weft_cancel(id), -ESRCH);
	join(spawn(give_back, NULL));	/* in the same slot */
	CU_ASSERT_EQUAL(weft_join(id, NULL), -ESRCH);
	runtime_end();
}

static void a_detached_thread_cannot_be_joined_or_detached_again(void)
{
	struct gate gate = { 0 }, other = { 0 };
	uint64_t made, later;

	runtime_begin();
	made = spawn_with(WEFT_DETACHED, wait_gate, &gate);
	CU_ASSERT_EQUAL(weft_join(made, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_detach(made), -EINVAL);
	later = spawn(wait_gate, &other);
	CU_ASSERT_EQUAL(weft_detach(later), 0);
	CU_ASSERT_EQUAL(weft_join(later, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_detach(later), -EINVAL);
	open_gate(&gate);
	open_gate(&other);
	while (weft_detach(made) != -ESRCH || weft_detach(later) != -ESRCH)
		rest();	/* they release themselves */
	runtime_end_at_last();
}

struct joiner {
	uint64_t id;
	_Atomic uint32_t begun;
};

static void *join_it(void *arg)
{
	struct joiner *j = arg;

	store_release(&j->begun, 1);
	return join(j->id);
}

static void one_thread_joins_and_a_second_is_refused(void)
{
	struct gate gate = { 0 };
	struct joiner j = { 0, 0 };
	uint64_t joiner;
	int error;

	runtime_begin();
	j.id = spawn(wait_gate, &gate);
	joiner = spawn(join_it, &j);
	/* -EAGAIN until the other one waits. */
	while ((error = weft_join_until(j.id, NULL, WEFT_NO_WAIT)) == -EAGAIN)
		rest();
	CU_ASSERT_EQUAL(error, -EINVAL);
	CU_ASSERT_EQUAL(weft_detach(j.id), -EINVAL);
	open_gate(&gate);
	CU_ASSERT_PTR_EQUAL(join(joiner), &gate);
	runtime_end();
}

static void join_keeps_its_deadline_and_leaves_the_thread_joinable(void)
{
	struct gate gate = { 0 };
	int64_t until;
	uint64_t id;

	runtime_begin();
	id = spawn(wait_gate, &gate);
	CU_ASSERT_EQUAL(weft_join_until(id, NULL, WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_join_until(id, NULL, 1), -ETIMEDOUT);
	until = weft_clock() + 2000000;
	CU_ASSERT_EQUAL(weft_join_until(id, NULL, until), -ETIMEDOUT);
	CU_ASSERT_TRUE(weft_clock() >= until);
	open_gate(&gate);
	CU_ASSERT_PTR_EQUAL(join(id), &gate);
	runtime_end();
}

static void an_ended_thread_is_joined_without_waiting(void)
{
	void *result = NULL;
	uint64_t id;
	int x, error;

	runtime_begin();
	id = spawn(give_back, &x);
	while (weft_join_until(id, &result, WEFT_NO_WAIT) == -EAGAIN)
		rest();
	CU_ASSERT_PTR_EQUAL(result, &x);

	id = spawn(give_back, &x);
	weft_sleep(1000000);
	CU_ASSERT_EQUAL(weft_detach(id), 0);	/* and so released */
	while ((error = weft_detach(id)) == -EINVAL)
		rest();			/* it had not ended after all */
	CU_ASSERT_EQUAL(error, -ESRCH);
	runtime_end_at_last();
}

static void *end_soon(void *arg)
{
	int64_t until = (int64_t)(intptr_t)arg;

	while (weft_clock() < until)
		rest();
	return arg;
}

/* Each thread ends at about the time at which its join gives up. */
static void a_time_out_that_races_with_the_exit_loses_nothing(void)
{
	size_t rounds = test_scaled(STORM), timed_out = 0;
	uint64_t random = test_seed(1);

	runtime_begin();
	for (size_t i = 0; i < rounds; i++) {
		int64_t at = weft_clock() + 20000 +
			     (int64_t)test_random_below(&random, 10000);
		int64_t deadline = at - 5000 +
			(int64_t)test_random_below(&random, 10000);
		void *result = NULL;
		uint64_t id = spawn_with(i % 2 ? WEFT_LIGHT : 0, end_soon,
					 (void *)(intptr_t)at);
		int error = weft_join_until(id, &result, deadline);

		if (error) {
			CU_ASSERT_EQUAL_FATAL(error, -ETIMEDOUT);
			CU_ASSERT_TRUE(weft_clock() >= deadline);
			timed_out++;
			result = join(id);
		}
		CU_ASSERT_EQUAL_FATAL((intptr_t)result, at);
		CU_ASSERT_EQUAL_FATAL(weft_join(id, NULL), -ESRCH);
	}
	printf("    %zu of %zu timed out\n", timed_out, rounds);
	runtime_end();
}

struct race {
	_Atomic uint64_t id;
	_Atomic uint32_t ready, joined, done;
};

static void *try_to_join(void *arg)
{
	struct race *race = arg;
	uint64_t last = 0, id;

	while (!load_acquire(&race->done)) {
		id = load_acquire(&race->id);
		if (id == last) {
			rest();
			continue;
		}
		if (weft_join(id, NULL) == 0)
			fetch_add_relaxed(&race->joined, 1);
		last = id;
		fetch_add_release(&race->ready, 1);
	}
	return NULL;
}

/* Several threads join, and one detaches: exactly one has it. */
static void one_of_many_joins_and_detaches_has_it(void)
{
	size_t rounds = test_scaled(STORM);
	struct race race = { 0, 0, 0, 0 };
	uint32_t detached = 0;
	uint64_t joiner[3];

	runtime_begin();
	for (int i = 0; i < 3; i++)
		joiner[i] = spawn(try_to_join, &race);
	for (size_t i = 0; i < rounds; i++) {
		uint64_t id = spawn(give_back, NULL);

		store_release(&race.ready, 0);
		store_release(&race.id, id);
		if (i % 3 == 0 && weft_detach(id) == 0)
			detached++;
		while (load_acquire(&race.ready) < 3)
			rest();
		CU_ASSERT_EQUAL_FATAL(load_relaxed(&race.joined) + detached,
				      i + 1);
	}
	store_release(&race.done, 1);
	for (int i = 0; i < 3; i++)
		join(joiner[i]);
	runtime_end_at_last();
}

static const struct test_case cases[] = {
	TEST(join_refuses_oneself_nobody_and_one_joined_before),
	TEST(a_detached_thread_cannot_be_joined_or_detached_again),
	TEST(one_thread_joins_and_a_second_is_refused),
	TEST(join_keeps_its_deadline_and_leaves_the_thread_joinable),
	TEST(an_ended_thread_is_joined_without_waiting),
	TEST(a_time_out_that_races_with_the_exit_loses_nothing),
	TEST(one_of_many_joins_and_detaches_has_it),
};

TEST_MAIN("life/join", cases)
