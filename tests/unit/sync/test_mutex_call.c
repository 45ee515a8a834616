/* SPDX-License-Identifier: MIT */
/*
 * test_mutex_call.c - sync/mutex_call: what the short ways leave in the mutex
 *
 * By a kernel thread that weft did not make, without the runtime: nobody waits,
 * unless the test writes into the word that somebody does. What wrong use
 * returns is in test_mutex.c.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "sched/park.h"
#include "sync/mutex.h"
#include "threads.h"

#define LOCKED	WEFTI_MUTEX_LOCKED
#define WOKEN	UINT64_C(2)	/* (adaptive) somebody is on its way to it */

static uint64_t word(struct weft_mutex *m)
{
	return load_relaxed(&wefti_mutex_of(m)->word);
}

static struct wefti_thread *owner(struct weft_mutex *m)
{
	return load_relaxed(&wefti_mutex_of(m)->owner);
}

static void is_free(struct weft_mutex *m)
{
	must(word(m) == 0);
	must(owner(m) == NULL);
}

static void is_mine(struct weft_mutex *m)
{
	must(word(m) == LOCKED);
	must(owner(m) != NULL);
	must(owner(m) == wefti_self());
}

static void init_makes_what_the_initializers_are(void)
{
	struct weft_mutex m, adaptive = WEFT_MUTEX_INIT,
			  strict = WEFT_MUTEX_STRICT_INIT, before;

	memset(&m, 0xff, sizeof(m));
	before = m;
	CU_ASSERT_EQUAL(weft_mutex_init(&m, WEFT_MUTEX_STRICT + 1), -EINVAL);
	CU_ASSERT_EQUAL(weft_mutex_init(&m, UINT32_MAX), -EINVAL);
	CU_ASSERT_EQUAL(memcmp(&m, &before, sizeof(m)), 0);
	CU_ASSERT_EQUAL(weft_mutex_init(&m, WEFT_MUTEX_ADAPTIVE), 0);
	CU_ASSERT_EQUAL(memcmp(&m, &adaptive, sizeof(m)), 0);
	memset(&m, 0xff, sizeof(m));
	CU_ASSERT_EQUAL(weft_mutex_init(&m, WEFT_MUTEX_STRICT), 0);
	CU_ASSERT_EQUAL(memcmp(&m, &strict, sizeof(m)), 0);
}

/* Each call is the first that its kernel thread makes. */

static void *lock_first(void *m)
{
	must(wefti_self() == NULL);
	must(weft_mutex_lock(m) == 0);
	is_mine(m);
	must(weft_mutex_unlock(m) == 0);
	return NULL;
}

static void *lock_until_first(void *m)
{
	must(weft_mutex_lock_until(m, WEFT_NO_WAIT) == 0);
	is_mine(m);
	must(weft_mutex_unlock(m) == 0);
	is_free(m);
	/* A deadline in the past is no reason not to take a free one. */
	must(weft_mutex_lock_until(m, 1) == 0);
	is_mine(m);
	must(weft_mutex_unlock(m) == 0);
	return NULL;
}

static void *try_first(void *m)
{
	must(weft_mutex_try_lock(m) == 0);
	is_mine(m);
	must(weft_mutex_unlock(m) == 0);
	return NULL;
}

/* Not the owner of one that nobody owns either. */
static void *unlock_first(void *m)
{
	must(weft_mutex_unlock(m) == -EPERM);
	is_free(m);
	must(wefti_self() == NULL);	/* and so it stays */
	return NULL;
}

static void it_serves_a_kernel_thread_that_was_never_seen(void)
{
	void *(*const first[])(void *) = {
		lock_first, lock_until_first, try_first, unlock_first,
	};
	struct weft_mutex m;
	pthread_t thread;

	for (unsigned policy = 0; policy < 2; policy++)
		for (unsigned i = 0; i < 4; i++) {
			CU_ASSERT_EQUAL(weft_mutex_init(&m, policy), 0);
			CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
							     first[i], &m), 0);
			pthread_join(thread, NULL);
			is_free(&m);
		}
}

/* What others have in the word, and the owner's list, are not touched. */
static void a_lock_leaves_the_others_in_the_word(void)
{
	struct weft_mutex m = WEFT_MUTEX_INIT;
	_Atomic uint64_t *w = &wefti_mutex_of(&m)->word;

	(void)weft_self();	/* a known thread goes the short way */
	store_relaxed(w, WOKEN);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&m), -EBUSY);
	CU_ASSERT_EQUAL(weft_mutex_lock(&m), 0);
	CU_ASSERT_EQUAL(word(&m), LOCKED | WOKEN);
	CU_ASSERT_EQUAL(weft_mutex_try_lock(&m), -EBUSY);
	CU_ASSERT_EQUAL(word(&m), LOCKED | WOKEN);
	store_relaxed(w, WOKEN);
	CU_ASSERT_EQUAL(weft_mutex_try_lock(&m), 0);
	CU_ASSERT_EQUAL(word(&m), LOCKED | WOKEN);
	store_relaxed(w, WOKEN);
	CU_ASSERT_EQUAL(weft_mutex_lock_until(&m, WEFT_NO_WAIT), 0);
	CU_ASSERT_EQUAL(word(&m), LOCKED | WOKEN);
	store_relaxed(w, LOCKED);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&m), 0);
	is_free(&m);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&m), 0);
}

static void *refused(void *m)
{
	must(weft_mutex_lock_until(m, WEFT_NO_WAIT) == -EBUSY);
	must(weft_mutex_lock_until(m, 1) == -ETIMEDOUT);
	must(weft_mutex_try_lock(m) == -EBUSY);
	must(weft_mutex_unlock(m) == -EPERM);
	return NULL;
}

static void a_refusal_leaves_owner_and_lock_as_they_were(void)
{
	struct weft_mutex m;
	pthread_t thread;

	for (unsigned policy = 0; policy < 2; policy++) {
		CU_ASSERT_EQUAL(weft_mutex_init(&m, policy), 0);
		CU_ASSERT_EQUAL(weft_mutex_lock(&m), 0);
		CU_ASSERT_EQUAL(weft_mutex_lock_until(&m, 1), -EDEADLK);
		is_mine(&m);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, refused,
						     &m), 0);
		pthread_join(thread, NULL);
		CU_ASSERT_PTR_EQUAL(owner(&m), wefti_self());
		CU_ASSERT_EQUAL(weft_mutex_destroy(&m), -EBUSY);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&m), 0);
		is_free(&m);	/* the place in line that was left, too */
	}
}

static const struct test_case cases[] = {
	TEST(init_makes_what_the_initializers_are),
	TEST(it_serves_a_kernel_thread_that_was_never_seen),
	TEST(a_lock_leaves_the_others_in_the_word),
	TEST(a_refusal_leaves_owner_and_lock_as_they_were),
};

TEST_MAIN("sync/mutex_call", cases)
