/* SPDX-License-Identifier: MIT */
/* test_once.c - sync/once: one run, repeated if it failed; the waits for it */
#include "crowd.h"

#include "weft/once.h"

#define THREADS	64

static struct member members[CROWD_MOST];

struct job {
	struct weft_once once;
	unsigned fail;			/* as many runs fail */
	uint32_t runs;			/* plain: one at a time runs it */
	_Atomic uint32_t inside, go;
	_Atomic uint32_t failed, done;
	int timed;
};

static int run(void *arg)
{
	struct job *j = arg;

	must(fetch_add_seq_cst(&j->inside, 1) == 0);
	weft_yield();
	j->runs++;
	must(fetch_sub_seq_cst(&j->inside, 1) == 1);
	return j->runs <= j->fail ? -EIO : 0;
}

static void it_runs_once(void)
{
	struct job j = { .fail = 0 };

	CU_ASSERT_EQUAL(weft_once(&j.once, run, &j), 0);
	CU_ASSERT_EQUAL(weft_once(&j.once, run, &j), 0);
	CU_ASSERT_EQUAL(weft_once_until(&j.once, run, &j, WEFT_NO_WAIT), 0);
	CU_ASSERT_EQUAL(j.runs, 1);
}

static void a_run_that_failed_is_repeated(void)
{
	struct job j = { .fail = 2 };

	CU_ASSERT_EQUAL(weft_once(&j.once, run, &j), -EIO);
	CU_ASSERT_EQUAL(weft_once_until(&j.once, run, &j, 1), -EIO);
	CU_ASSERT_EQUAL(weft_once(&j.once, run, &j), 0);
	CU_ASSERT_EQUAL(weft_once(&j.once, run, &j), 0);
	CU_ASSERT_EQUAL(j.runs, 3);
}

static int call_itself(void *arg)
{
	struct job *j = arg;

	must(weft_once(&j->once, run, j) == -EDEADLK);
	must(weft_once_until(&j->once, run, j, WEFT_NO_WAIT) == -EDEADLK);
	return 0;
}

static void a_run_that_calls_it_again_is_refused(void)
{
	struct job j = { .fail = 0 };

	CU_ASSERT_EQUAL(weft_once(&j.once, call_itself, &j), 0);
	CU_ASSERT_EQUAL(weft_once(&j.once, run, &j), 0);
	CU_ASSERT_EQUAL(j.runs, 0);
}

/* While one runs it, others wait. */

static int run_when_told(void *arg)
{
	struct job *j = arg;

	store_seq_cst(&j->inside, 1);
	while (!load_seq_cst(&j->go))
		rest();
	store_seq_cst(&j->inside, 0);
	return j->runs++ < j->fail ? -EIO : 0;
}

static void call_it(unsigned me, void *arg)
{
	struct job *j = arg;
	int error = weft_once(&j->once, run_when_told, j);

	(void)me;
	must(error == 0 || error == -EIO);
	fetch_add_seq_cst(error ? &j->failed : &j->done, 1);
}

static void wait_for_a_run(unsigned fail)
{
	struct job j = { .fail = fail };

	runtime_begin();
	for (unsigned i = 0; i < 8; i++) {
		member_start(&members[i], i, call_it, &j);
		if (i == 0)
			while (!load_seq_cst(&j.inside))
				rest();
		else
			until_waits_for(&members[i], &j.once);
	}
	CU_ASSERT_EQUAL(weft_once_until(&j.once, run, &j, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_once_until(&j.once, run, &j,
					weft_clock() + 100000), -ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_once_until(&j.once, run, &j, 1), -ETIMEDOUT);
	CU_ASSERT_EQUAL(load_seq_cst(&j.done), 0);
	store_seq_cst(&j.go, 1);
	for (unsigned i = 0; i < 8; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(load_seq_cst(&j.failed), fail);
	CU_ASSERT_EQUAL(load_seq_cst(&j.done), 8 - fail);
	CU_ASSERT_EQUAL(j.runs, fail + (fail < 8));
	CU_ASSERT_EQUAL(weft_once(&j.once, run_when_told, &j), 0);
	CU_ASSERT_EQUAL(j.runs, fail + 1);
	runtime_end();
}

static void a_call_while_it_runs_waits_for_its_end(void)
{
	wait_for_a_run(0);
}

static void a_waiter_runs_it_when_it_has_failed(void)
{
	wait_for_a_run(5);
}

static void it_can_run_when_all_who_waited_have_failed(void)
{
	wait_for_a_run(8);
}

/* Many at once, some with deadlines. */

static void call_until_done(unsigned me, void *arg)
{
	struct job *j = arg;
	uint64_t seed = test_seed(me);
	int error;

	do {
		error = weft_once_until(&j->once, run, j,
					j->timed ? soon(&seed) : WEFT_FOREVER);
		must(error == 0 || error == -EIO ||
		     (j->timed && error == -ETIMEDOUT));
		if (error == -EIO)
			fetch_add_seq_cst(&j->failed, 1);
	} while (error);
	must(j->runs == j->fail + 1);	/* the run happened before */
}

static void rush(int timed, size_t rounds, unsigned fail)
{
	runtime_begin();
	for (size_t i = 0; i < rounds; i++) {
		struct job j = { .fail = fail, .timed = timed };

		crowd_run(THREADS, call_until_done, &j);
		CU_ASSERT_EQUAL(j.runs, fail + 1);
		CU_ASSERT_EQUAL(load_seq_cst(&j.failed), fail);
	}
	runtime_end();
}

static void one_of_many_runs_it(void)
{
	rush(0, test_scaled(20), 100);
}

static void one_of_many_runs_it_in_a_storm_of_time_outs(void)
{
	rush(1, test_scaled(20), 100);
}

static const struct test_case cases[] = {
	TEST(it_runs_once),
	TEST(a_run_that_failed_is_repeated),
	TEST(a_run_that_calls_it_again_is_refused),
	TEST(a_call_while_it_runs_waits_for_its_end),
	TEST(a_waiter_runs_it_when_it_has_failed),
	TEST(it_can_run_when_all_who_waited_have_failed),
	TEST(one_of_many_runs_it),
	TEST(one_of_many_runs_it_in_a_storm_of_time_outs),
};

TEST_MAIN("sync/once", cases)
