/* SPDX-License-Identifier: MIT */
/* test_name.c - thread/name: a name is one thread's, however late it comes */
#include "thread/name.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "support.h"
#include "thread/bare.h"

#define THREADS	4

static struct wefti_cold cold;

static struct wefti_thread *begin(void)
{
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_GREEN, &cold);

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	wefti_thread_begins(t, WEFTI_JOIN_NONE);
	return t;
}

static void end(struct wefti_thread *t)
{
	wefti_thread_turn(t);
	wefti_thread_bare_free(t);
}

static void a_name_is_there_until_the_next(void)
{
	struct wefti_thread *t = begin();
	uint64_t id = wefti_thread_id(t);
	char name[WEFTI_NAME_BYTES] = "as it was";

	CU_ASSERT_EQUAL(wefti_name_get(id, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "as it was");
	CU_ASSERT_EQUAL(wefti_name_set(id, "a rather long name"), 0);
	CU_ASSERT_EQUAL(wefti_name_get(id, name), 1);
	CU_ASSERT_STRING_EQUAL(name, "a rather long name");
	CU_ASSERT_EQUAL(wefti_name_set(id, "short"), 0);
	CU_ASSERT_EQUAL(wefti_name_get(id, name), 1);
	CU_ASSERT_STRING_EQUAL(name, "short");
	CU_ASSERT_EQUAL(wefti_name_set(id, ""), 0);
	CU_ASSERT_EQUAL(wefti_name_get(id, name), 1);
	CU_ASSERT_STRING_EQUAL(name, "");
	end(t);
}

static void a_name_is_cut(void)
{
	struct wefti_thread *t = begin();
	uint64_t id = wefti_thread_id(t);
	char name[WEFTI_NAME_BYTES];

	CU_ASSERT_EQUAL(wefti_name_set(id, "0123456789012345678901234567890123"),
			0);
	CU_ASSERT_EQUAL(wefti_name_get(id, name), 1);
	CU_ASSERT_STRING_EQUAL(name, "0123456789012345678901234567890");
	end(t);
}

static void the_next_thread_in_the_struct_has_none(void)
{
	struct wefti_thread *t = begin(), *next;
	uint64_t id = wefti_thread_id(t);
	char name[WEFTI_NAME_BYTES];

	CU_ASSERT_EQUAL(wefti_name_set(id, "first"), 0);
	end(t);
	next = begin();
	CU_ASSERT_PTR_EQUAL_FATAL(next, t);
	CU_ASSERT_EQUAL(wefti_name_get(wefti_thread_id(next), name), 0);
	CU_ASSERT_EQUAL(wefti_name_set(wefti_thread_id(next), "second"), 0);
	/* Late: its thread is no more. */
	CU_ASSERT_EQUAL(wefti_name_set(id, "changed"), -ESRCH);
	CU_ASSERT_EQUAL(wefti_name_get(wefti_thread_id(next), name), 1);
	CU_ASSERT_STRING_EQUAL(name, "second");
	end(next);
}

struct race {
	_Atomic uint64_t id;
	_Atomic int over;
};

/* Names the thread that it has seen, which may have ended. */
static void *name_others(void *arg)
{
	struct race *r = arg;
	char name[WEFTI_NAME_BYTES];

	while (!load_seq_cst(&r->over)) {
		uint64_t id = load_seq_cst(&r->id);

		memset(name, 'a' + (int)(id >> 33) % 26, sizeof(name));
		name[sizeof(name) - 1] = 0;
		(void)!wefti_name_set(id, name);
	}
	return NULL;
}

/* Every name of its thread is all of one letter, by the generation. */
static void late_names_are_never_anothers(void)
{
	pthread_t thread[THREADS];
	struct race r = { .over = 0 };
	struct wefti_thread *t = begin();
	int ok = 1;

	store_seq_cst(&r.id, wefti_thread_id(t));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, name_others, &r);
	for (size_t n = 0; n < test_scaled(20000); n++) {
		char name[WEFTI_NAME_BYTES];
		uint64_t id;

		end(t);
		t = begin();
		id = wefti_thread_id(t);
		store_seq_cst(&r.id, id);
		if (!wefti_name_get(id, name))
			continue;
		for (int i = 0; name[i]; i++)
			ok &= name[i] == 'a' + (int)(id >> 33) % 26;
	}
	store_seq_cst(&r.over, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CU_ASSERT_TRUE(ok);
	end(t);
}

static const struct test_case cases[] = {
	TEST(a_name_is_there_until_the_next),
	TEST(a_name_is_cut),
	TEST(the_next_thread_in_the_struct_has_none),
	TEST(late_names_are_never_anothers),
};

TEST_MAIN("thread/name", cases)
