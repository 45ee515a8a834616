/* SPDX-License-Identifier: MIT */
/*
 * test_foreign.c - sched/foreign: what a kernel thread is to weft that weft did
 * not make, from its first call to its end
 *
 * The runtime is not started: it gets all of this without.
 */
#include <pthread.h>
#include <string.h>

#include "lockfree/atomic.h"
#include "sched/seat.h"
#include "thread/bare.h"
#include "threads.h"

#define MANY	200

static void run(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fn, arg), 0);
	pthread_join(thread, NULL);
}

static void *become_known(void *unused)
{
	struct wefti_thread *t;
	uint64_t id;

	must(pthread_setname_np(pthread_self(), "from outside") == 0);
	must(wefti_self() == NULL);
	t = wefti_known_self();
	must(t != NULL && t == wefti_self() && t == wefti_known_self());
	must(t->kind == WEFTI_KIND_FOREIGN && t->tp == 0);
	must(t->vcpu == NULL && load_relaxed(&t->in_runtime) == 0);
	must(strcmp(t->cold->name, "from outside") == 0);
	id = weft_self();
	must(id == wefti_thread_id(t) && wefti_thread_find(id) == t);
	/* Not to be joined, by itself neither. */
	must(weft_join(id, NULL) < 0);
	must(weft_detach(id) == -EINVAL);
	/* In and out, it stays what it is. */
	must(wefti_enter() == t && load_relaxed(&t->in_runtime) == 1);
	must(wefti_enter() == t && load_relaxed(&t->in_runtime) == 2);
	wefti_leave(t);
	wefti_leave(t);
	must(load_relaxed(&t->in_runtime) == 0 && wefti_self() == t);
	return unused;
}

static void its_first_call_gives_it_a_struct(void)
{
	run(become_known, NULL);
}

struct note {
	uint64_t id;
	struct wefti_thread *t;
	int ended, found;
};

static void *note_self(void *arg)
{
	struct note *n = arg;

	n->id = weft_self();
	n->t = wefti_self();
	return NULL;
}

static void its_id_ends_with_it_and_the_struct_is_the_next_ones(void)
{
	struct note first = { .id = 0 }, next = { .id = 0 };
	uint32_t slots;

	(void)weft_self();	/* this one has one, and keeps it */
	run(note_self, &first);
	CU_ASSERT_PTR_NULL(wefti_thread_find(first.id));
	CU_ASSERT_EQUAL(weft_join(first.id, NULL), -ESRCH);
	CU_ASSERT_EQUAL(first.t->kind, WEFTI_KIND_FOREIGN);
	CU_ASSERT_PTR_NULL(first.t->cold);
	slots = wefti_slot_limit();
	for (int i = 0; i < MANY; i++) {
		run(note_self, &next);
		CU_ASSERT_PTR_EQUAL(next.t, first.t);
		CU_ASSERT_NOT_EQUAL(next.id, first.id);
		CU_ASSERT_PTR_NULL(wefti_thread_find(next.id));
		first.id = next.id;
	}
	CU_ASSERT_EQUAL(wefti_slot_limit(), slots);
}

/* A struct that was another thread's is not taken for a foreign one's. */
static void a_struct_that_was_a_foreign_threads_is_no_others(void)
{
	struct note n = { .id = 0 };
	struct wefti_thread *t;

	run(note_self, &n);
	t = wefti_thread_bare(WEFTI_KIND_GREEN, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_PTR_NOT_EQUAL(t, n.t);
	CU_ASSERT_EQUAL(t->kind, WEFTI_KIND_GREEN);
	wefti_thread_bare_free(t);
}

static struct note at_keys_end;

static void keys_end(struct wefti_thread *self)
{
	at_keys_end.ended++;
	at_keys_end.found = wefti_thread_find(at_keys_end.id) == self;
	must(wefti_self() == self);
	self->cold->keys = NULL;
}

static void *have_keys(void *unused)
{
	static int some;

	note_self(&at_keys_end);
	wefti_self()->cold->keys = &some;
	wefti_self()->cold->keys_end = keys_end;
	return unused;
}

static void its_keys_end_while_it_still_is_somebody(void)
{
	run(have_keys, NULL);
	CU_ASSERT_EQUAL(at_keys_end.ended, 1);
	CU_ASSERT_TRUE(at_keys_end.found);
	CU_ASSERT_PTR_NULL(wefti_thread_find(at_keys_end.id));
}

/* A key of libc's, made after weft's: its destructor comes behind weft's. */

static pthread_key_t late_key;
static struct note late;

static void call_once_more(void *unused)
{
	(void)unused;
	late.ended = wefti_self() == NULL;
	note_self(&late);
	late.found = wefti_thread_find(late.id) != NULL;
}

static void *end_with_a_late_call(void *unused)
{
	static int some;

	(void)weft_self();
	must(pthread_setspecific(late_key, &some) == 0);
	return unused;
}

static void one_that_calls_when_it_was_ended_is_a_new_one(void)
{
	struct note n = { .id = 0 };

	run(note_self, &n);	/* so that weft has its key */
	CU_ASSERT_EQUAL_FATAL(pthread_key_create(&late_key, call_once_more),
			      0);
	run(end_with_a_late_call, NULL);
	CU_ASSERT_TRUE(late.ended);
	CU_ASSERT_TRUE(late.found);
	/* And ended again. */
	CU_ASSERT_PTR_NULL(wefti_thread_find(late.id));
	pthread_key_delete(late_key);
}

static const struct test_case cases[] = {
	TEST(its_first_call_gives_it_a_struct),
	TEST(its_id_ends_with_it_and_the_struct_is_the_next_ones),
	TEST(a_struct_that_was_a_foreign_threads_is_no_others),
	TEST(its_keys_end_while_it_still_is_somebody),
	TEST(one_that_calls_when_it_was_ended_is_a_new_one),
};

TEST_MAIN("sched/foreign", cases)
