/* SPDX-License-Identifier: MIT */
/* test_group.c - sync/group: threads of a group begin and end together */
#include "crowd.h"

#include "weft/group.h"

#define MANY	40

struct job {
	struct weft_group *group;
	int result;		/* returned, if not cancelled before */
	struct weft_sem *go;	/* waits for it first; NULL: does not wait */
	_Atomic uint32_t begun, ended;
	_Atomic uint32_t cancelled;
	_Atomic uint64_t id;
};

static int work(void *arg)
{
	struct job *j = arg;
	int error = 0;

	store_seq_cst(&j->id, weft_self());
	fetch_add_seq_cst(&j->begun, 1);
	if (j->go)
		error = weft_sem_wait(j->go);
	must(error == 0 || error == -ECANCELED);
	if (error == -ECANCELED)
		fetch_add_seq_cst(&j->cancelled, 1);
	fetch_add_seq_cst(&j->ended, 1);
	return error ? error : j->result;
}

static int begin(struct weft_group *g, unsigned flags, int (*fn)(void *), void *arg)
{
	const struct weft_attr attr = { .flags = flags };

	return weft_group_spawn(g, NULL, &attr, fn, arg);
}

/* What is wrong is refused, and the group is as before. */
static void wrong_use_is_refused(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct job j = { .result = 0 };
	struct weft_attr odd = { .reserved0 = 1 };
	uint64_t id = 5, failed = 7;

	CU_ASSERT_EQUAL(weft_group_spawn(&group, &id, NULL, work, &j), -ESRCH);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), 0);
	runtime_begin();
	CU_ASSERT_EQUAL(weft_group_spawn(&group, &id, NULL, NULL, &j), -EINVAL);
	CU_ASSERT_EQUAL(weft_group_spawn(&group, &id, &odd, work, &j), -EINVAL);
	CU_ASSERT_EQUAL(begin(&group, WEFT_DETACHED, work, &j), -EINVAL);
	CU_ASSERT_EQUAL(id, 5);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_NO_WAIT, &failed), 0);
	CU_ASSERT_EQUAL(failed, 0);
	CU_ASSERT_EQUAL(load_seq_cst(&j.begun), 0);
	runtime_end();
}

static void the_wait_is_for_all(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct job j = { .result = 0 };

	runtime_begin();
	for (unsigned round = 1; round <= 3; round++) {
		for (unsigned i = 0; i < MANY; i++)
			CU_ASSERT_EQUAL(begin(&group, i & WEFT_LIGHT, work, &j), 0);
		CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), 0);
		CU_ASSERT_EQUAL(load_seq_cst(&j.ended), round * MANY);
	}
	runtime_end();	/* -EBUSY if a thread were left */
}

static void the_first_failure_cancels_the_rest_and_comes_back(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem never = WEFT_SEM_INIT, now = WEFT_SEM_INIT;
	struct job rest_of_them = { .go = &never };
	struct job bad = { .go = &now, .result = -EIO };
	struct job late = { .result = 0 };
	uint64_t failed = 0, id = 0;

	runtime_begin();
	for (unsigned i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(begin(&group, i & WEFT_LIGHT, work,
				      &rest_of_them), 0);
	CU_ASSERT_EQUAL(weft_group_spawn(&group, &id, NULL, work, &bad), 0);
	CU_ASSERT_EQUAL(weft_sem_post(&now), 0);
	while (load_seq_cst(&rest_of_them.cancelled) < MANY)
		rest();
	CU_ASSERT_EQUAL(begin(&group, 0, work, &late), -ECANCELED);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, &failed), -EIO);
	CU_ASSERT_EQUAL(failed, id);
	CU_ASSERT_EQUAL(failed, load_seq_cst(&bad.id));
	CU_ASSERT_EQUAL(load_seq_cst(&late.begun), 0);
	CU_ASSERT_EQUAL(begin(&group, 0, work, &late), 0);	/* it is as new */
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), 0);
	runtime_end();
}

static void a_deadline_cancels_all(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem never = WEFT_SEM_INIT;
	struct job j = { .go = &never };
	int64_t deadlines[] = { WEFT_NO_WAIT, 1, 0 };
	uint64_t failed = 1;

	runtime_begin();
	deadlines[2] = weft_deadline(WEFT_MS(3));
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned n = 0; n < MANY; n++)
			CU_ASSERT_EQUAL(begin(&group, 0, work, &j), 0);
		CU_ASSERT_EQUAL(weft_group_wait(&group, deadlines[i], &failed),
				-ETIMEDOUT);
		CU_ASSERT_EQUAL(failed, 0);
		CU_ASSERT_EQUAL(load_seq_cst(&j.ended),
				load_seq_cst(&j.begun));
	}
	CU_ASSERT(weft_clock() >= deadlines[2]);
	/* A thread that was cancelled before it began begins all the same. */
	CU_ASSERT_EQUAL(load_seq_cst(&j.begun), 3 * MANY);
	runtime_end();
}

static void a_cancel_by_the_owner_is_told(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem never = WEFT_SEM_INIT;
	struct job j = { .go = &never };
	uint64_t failed = 1;

	runtime_begin();
	CU_ASSERT_EQUAL(begin(&group, 0, work, &j), 0);
	CU_ASSERT_EQUAL(begin(&group, WEFT_LIGHT, work, &j), 0);
	weft_group_cancel(&group);
	weft_group_cancel(&group);
	CU_ASSERT_EQUAL(begin(&group, 0, work, &j), -ECANCELED);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, &failed),
			-ECANCELED);
	CU_ASSERT_EQUAL(failed, 0);
	CU_ASSERT_EQUAL(weft_is_cancelled(), 0);
	runtime_end();
}

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

/* A thread that a cancellation does not reach: the owner waits for it. */

struct stubborn {
	struct weft_group group;
	_Atomic uint32_t let_go, owner_waits;
	_Atomic uint32_t ended, cancelled;
};

static int be_stubborn(void *arg)
{
	struct stubborn *s = arg;

	while (!weft_is_cancelled())
		rest();
	store_seq_cst(&s->cancelled, 1);
	weft_cancel_hold();
	while (!load_seq_cst(&s->let_go))
		rest();
	weft_cancel_release();
	store_seq_cst(&s->ended, 1);
	return 0;
}

static void *own_stubborn(void *arg)
{
	struct stubborn *s = arg;
	int error;

	must(begin(&s->group, 0, be_stubborn, s) == 0);
	store_seq_cst(&s->owner_waits, 1);
	error = weft_group_wait(&s->group, WEFT_FOREVER, NULL);
	must(load_seq_cst(&s->ended) == 1);
	return (void *)(intptr_t)error;
}

static void an_owner_that_is_cancelled_cancels_and_still_waits(void)
{
	struct stubborn s = { .group = WEFT_GROUP_INIT };
	uint64_t id;

	runtime_begin();
	id = spawn(own_stubborn, &s);
	while (!load_seq_cst(&s.owner_waits))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	while (!load_seq_cst(&s.cancelled))
		rest();
	CU_ASSERT_EQUAL(weft_join_until(id, NULL, WEFT_NO_WAIT), -EAGAIN);
	store_seq_cst(&s.let_go, 1);
	CU_ASSERT_EQUAL((intptr_t)join(id), -ECANCELED);
	runtime_end();
}

static int wait_for_own_group(void *arg)
{
	must(weft_group_wait(arg, WEFT_NO_WAIT, NULL) == -EDEADLK);
	return 0;
}

static void *wait_as_owner(void *arg)
{
	return (void *)(intptr_t)weft_group_wait(arg, WEFT_FOREVER, NULL);
}

static void only_one_waits_and_no_member(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem go = WEFT_SEM_INIT;
	struct job j = { .go = &go };
	uint64_t owner;

	runtime_begin();
	CU_ASSERT_EQUAL(begin(&group, 0, wait_for_own_group, &group), 0);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), 0);
	CU_ASSERT_EQUAL(begin(&group, 0, work, &j), 0);
	owner = spawn(wait_as_owner, &group);
	while (!is_parked(owner))
		rest();
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_NO_WAIT, NULL), -EBUSY);
	CU_ASSERT_EQUAL(weft_sem_post(&go), 0);
	CU_ASSERT_EQUAL((intptr_t)join(owner), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&j.cancelled), 0);
	runtime_end();
}

/* What has ended in time is no time-out, and no cancellation, however late the wait. */
static void *wait_late(void *arg)
{
	struct weft_group group = WEFT_GROUP_INIT;
	uint64_t id = 0;

	must(weft_group_spawn(&group, &id, NULL, work, arg) == 0);
	must(weft_cancel(weft_self()) == 0);
	weft_cancel_hold();
	while (wefti_join_word((uint32_t)(id >> 32), WEFTI_JOIN_DONE) !=
	       load_seq_cst(&wefti_slot_get((uint32_t)id)->join))
		rest();
	weft_cancel_release();
	must(weft_group_wait(&group, WEFT_NO_WAIT, NULL) == 0);
	return NULL;
}

static void what_has_ended_is_not_late(void)
{
	struct job j = { .result = 0 };

	runtime_begin();
	join(spawn(wait_late, &j));
	CU_ASSERT_EQUAL(load_seq_cst(&j.ended), 1);
	runtime_end();
}

/* Ends in another way than by a return, and with work of its own at the end. */

static unsigned last_words;

static void say_last_words(void *arg)
{
	weft_yield();
	fetch_add_seq_cst((_Atomic uint32_t *)arg, 1);
}

static int leave_by_exit(void *arg)
{
	must(weft_key_set(last_words, arg) == 0);
	weft_exit((void *)(intptr_t)-EIO);
}

static int leave_by_return(void *arg)
{
	must(weft_key_set(last_words, arg) == 0);
	return 0;
}

static void an_end_is_the_real_end(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	_Atomic uint32_t words = 0;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_key_create(&last_words, say_last_words), 0);
	for (unsigned i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(begin(&group, i & WEFT_LIGHT,
				      i % 4 < 2 ? leave_by_exit :
						  leave_by_return, &words), 0);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&words), MANY);
	CU_ASSERT_EQUAL(weft_key_delete(last_words), 0);
	runtime_end();
}

/* One group for very many short threads: what it holds does not grow. */
static void a_long_lived_group_releases_its_threads(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct job j = { .result = 0 };
	uint32_t slots;

	runtime_begin();
	for (unsigned i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(begin(&group, 0, work, &j), 0);
	slots = wefti_slot_limit();
	for (size_t i = 1; i <= test_scaled(20000); i++) {
		CU_ASSERT_EQUAL(begin(&group, 0, work, &j), 0);
		while (i % 16 == 0 &&
		       load_seq_cst(&j.begun) != load_seq_cst(&j.ended))
			rest();
	}
	CU_ASSERT(wefti_slot_limit() - slots <= 16 * 64);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), 0);
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
	TEST(wrong_use_is_refused),
	TEST(the_wait_is_for_all),
	TEST(the_first_failure_cancels_the_rest_and_comes_back),
	TEST(a_deadline_cancels_all),
	TEST(a_cancel_by_the_owner_is_told),
	TEST(a_cancellation_goes_down),
	TEST(an_owner_that_is_cancelled_cancels_and_still_waits),
	TEST(only_one_waits_and_no_member),
	TEST(what_has_ended_is_not_late),
	TEST(an_end_is_the_real_end),
	TEST(a_long_lived_group_releases_its_threads),
	TEST(a_foreign_thread_may_own_a_group),
	TEST(no_thread_is_left_after_a_storm),
};

TEST_MAIN("sync/group", cases)
