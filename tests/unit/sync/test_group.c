/* SPDX-License-Identifier: MIT */
/* test_group.c - sync/group: threads of a group begin and end together */
#include "grouped.h"

#include "life/life.h"

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

/* A group is cancelled when a spawn has looked, and its thread has no id yet. */

static struct weft_group *cancels;

int __real_wefti_spawn(const struct wefti_spawn *how, const struct weft_attr *attr,
		       void *(*fn)(void *arg), void *arg);
int __wrap_wefti_spawn(const struct wefti_spawn *how, const struct weft_attr *attr,
		       void *(*fn)(void *arg), void *arg);

int __wrap_wefti_spawn(const struct wefti_spawn *how, const struct weft_attr *attr,
		       void *(*fn)(void *arg), void *arg)
{
	if (cancels)
		weft_group_cancel(cancels);
	cancels = NULL;
	return __real_wefti_spawn(how, attr, fn, arg);
}

static void a_cancel_in_the_middle_of_a_spawn_reaches_the_thread(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct weft_sem never = WEFT_SEM_INIT;
	struct job j = { .go = &never };

	runtime_begin();
	cancels = &group;
	CU_ASSERT_EQUAL(begin(&group, 0, work, &j), 0);
	while (!load_seq_cst(&j.ended))
		rest();
	CU_ASSERT_EQUAL(load_seq_cst(&j.cancelled), 1);
	CU_ASSERT_EQUAL(weft_group_wait(&group, WEFT_FOREVER, NULL), -ECANCELED);
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
static int leave_at_once(void *unused)
{
	weft_exit(unused);
}

static void *wait_late(void *fn)
{
	struct weft_group group = WEFT_GROUP_INIT;
	struct job j = { .result = 0 };
	uint64_t id = 0;

	must(weft_group_spawn(&group, &id, NULL, *(int (**)(void *))fn, &j) == 0);
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
	int (*fn[])(void *) = { work, leave_at_once };

	runtime_begin();
	join(spawn(wait_late, &fn[0]));
	join(spawn(wait_late, &fn[1]));
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

static const struct test_case cases[] = {
	TEST(wrong_use_is_refused),
	TEST(the_wait_is_for_all),
	TEST(the_first_failure_cancels_the_rest_and_comes_back),
	TEST(a_deadline_cancels_all),
	TEST(a_cancel_by_the_owner_is_told),
	TEST(a_cancel_in_the_middle_of_a_spawn_reaches_the_thread),
	TEST(an_owner_that_is_cancelled_cancels_and_still_waits),
	TEST(only_one_waits_and_no_member),
	TEST(what_has_ended_is_not_late),
	TEST(an_end_is_the_real_end),
	TEST(a_long_lived_group_releases_its_threads),
};

TEST_MAIN("sync/group", cases)
