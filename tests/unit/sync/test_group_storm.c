/* SPDX-License-Identifier: MIT */
/* test_group_storm.c - sync/group: groups in groups, foreign owners, and a storm */
#include "grouped.h"

/* Groups three deep; each thread waits for one inside, the last for ever. */

struct depth {
	unsigned left;
	struct weft_sem *never;
	_Atomic uint32_t *deepest, *ended;
};

static int go_deeper(void *arg)
{
	struct depth *d = arg, inner = *d;
	struct weft_group group = WEFT_GROUP_INIT;
	int error = 0;

	if (d->left-- == 0) {
		fetch_add_seq_cst(d->deepest, 1);
		error = weft_sem_wait(d->never);
	} else {
		inner.left = d->left;
		for (unsigned i = 0; i < 2 && !error; i++) {
			struct depth *next = malloc(sizeof(*next));

			must(next);
			*next = inner;
			error = begin(&group, i & WEFT_LIGHT, go_deeper, next);
			if (error)
				free(next);
		}
		if (error)
			weft_group_cancel(&group);
		error = weft_group_wait(&group, WEFT_FOREVER, NULL);
	}
	must(error == -ECANCELED);
	fetch_add_seq_cst(d->ended, 1);
	free(d);
	return error;
}

static void a_cancellation_goes_down(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem never = WEFT_SEM_INIT;
	_Atomic uint32_t deepest = 0, ended = 0;
	struct depth *d = malloc(sizeof(*d));

	runtime_begin();
	must(d);
	*d = (struct depth){ 3, &never, &deepest, &ended };
	CU_ASSERT_EQUAL(begin(&group, 0, go_deeper, d), 0);
	while (load_seq_cst(&deepest) < 8)
		rest();
	weft_group_cancel(&group);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), -ECANCELED);
	CU_ASSERT_EQUAL(load_seq_cst(&ended), 1 + 2 + 4 + 8);
	runtime_end();
}

/* A kernel thread that weft did not make is an owner like any other. */

static void *own_as_foreign(void *arg)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem never = WEFT_SEM_INIT;
	struct job good = { .result = 0 }, held = { .go = &never };

	(void)arg;
	for (unsigned i = 0; i < MANY; i++)
		must(begin(&group, i & WEFT_LIGHT, work, &good) == 0);
	must(weft_group_wait(&group, WEFT_FOREVER, NULL) == 0);
	must(load_seq_cst(&good.ended) == MANY);
	must(begin(&group, 0, work, &held) == 0);
	must(weft_group_wait(&group, weft_deadline(1), NULL) == -ETIMEDOUT);
	return NULL;
}

static void a_foreign_thread_may_own_a_group(void)
{
	pthread_t foreign;

	runtime_begin();
	must(pthread_create(&foreign, NULL, own_as_foreign, NULL) == 0);
	must(pthread_join(foreign, NULL) == 0);
	runtime_end();
}

/*
 * A storm: each thread of a group spawns more into it, fails, is cancelled, or owns a
 * group itself, while a thread outside cancels at any moment. No thread is left, and
 * each has ended that has begun.
 */

struct storm {
	struct weft_group group;
	_Atomic uint32_t begun, ended, failures, seed;
	_Atomic int32_t room;
};

static int be_in_storm(void *arg)
{
	struct storm *s = arg;
	uint64_t random = test_seed(fetch_add_seq_cst(&s->seed, 1) + 1000);
	int result = 0;

	fetch_add_seq_cst(&s->begun, 1);
	for (unsigned i = 0; i < 3; i++) {
		if (fetch_sub_seq_cst(&s->room, 1) > 0) {
			int error = begin(&s->group, (unsigned)random & WEFT_LIGHT,
					  be_in_storm, s);

			must(error == 0 || error == -ECANCELED);
		}
		dither(&random);
	}
	if (test_random_below(&random, 8) == 0) {
		struct weft_group inner = WEFT_GROUP_INIT;
		struct job j = { .result = 0 };
		int error;

		must(begin(&inner, 0, work, &j) == 0);
		error = weft_group_wait(&inner, soon(&random), NULL);
		must(error == 0 || error == -ETIMEDOUT || error == -ECANCELED);
		must(load_seq_cst(&j.ended) == 1);
	}
	if (test_random_below(&random, 4) == 0)
		(void)weft_sleep(WEFT_SECONDS(1000));
	if (test_random_below(&random, 40) == 0) {
		result = -EIO;
		fetch_add_seq_cst(&s->failures, 1);
	}
	fetch_add_seq_cst(&s->ended, 1);
	return result;
}

static void no_thread_is_left_after_a_storm(void)
{
	runtime_begin();
	for (size_t round = 0; round < test_scaled(200); round++) {
		uint64_t random = test_seed(round), failed = 0;
		struct storm s = { .group = WEFT_GROUP_INIT };
		int error;

		store_seq_cst(&s.room, 60);
		store_seq_cst(&s.seed, (uint32_t)round * 100);
		for (unsigned i = 0; i < 4; i++) {
			error = begin(&s.group, i & WEFT_LIGHT, be_in_storm, &s);
			must(error == 0 || error == -ECANCELED);
		}
		if (test_random_below(&random, 2)) {
			dither(&random);
			weft_group_cancel(&s.group);
		}
		error = weft_group_wait(&s.group, soon(&random), &failed);
		must(load_seq_cst(&s.begun) == load_seq_cst(&s.ended));
		must(error == 0 || error == -EIO || error == -ETIMEDOUT ||
		     error == -ECANCELED);
		must((error == -EIO) == (failed != 0));
		must(error != -EIO || load_seq_cst(&s.failures) > 0);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_cancellation_goes_down),
	TEST(a_foreign_thread_may_own_a_group),
	TEST(no_thread_is_left_after_a_storm),
};

TEST_MAIN("sync/group_storm", cases)
