/* SPDX-License-Identifier: MIT */
/*
 * test_slab_local.c - lockfree/slab_local: a thread's records, made, found,
 * used again, given up, and void
 */
#include "lockfree/slab.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "os/libc/thread_end.h"
#include "support.h"

/* The linker puts these in the place of the real ones. */
static int no_memory, no_end;
static unsigned ends_noted;

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
int __real_wefti_os_at_thread_end(void (*fn)(void *), void *arg);
int __wrap_wefti_os_at_thread_end(void (*fn)(void *), void *arg);

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return no_memory ? NULL : __real_aligned_alloc(align, bytes);
}

int __wrap_wefti_os_at_thread_end(void (*fn)(void *), void *arg)
{
	ends_noted++;
	return no_end ? -ENOMEM : __real_wefti_os_at_thread_end(fn, arg);
}

static struct weft_slab *set, *other;
static struct wefti_slab_local *record;
static int result;

static struct weft_slab *make(uint32_t bytes, uint32_t threads)
{
	struct weft_slab_attr attr = { 100, bytes, threads };
	struct weft_slab *s = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&s, &attr), 0);
	return s;
}

static struct wefti_slab_local *join(struct weft_slab *s)
{
	int error = 77;
	struct wefti_slab_local *l = wefti_slab_join(s, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	return l;
}

/* The calling thread's, but for the last. */
static unsigned own_records(void)
{
	unsigned n = 0;

	for (struct wefti_slab_local *l = wefti_slab_locals;
	     l != &wefti_slab_last; l = l->next)
		n++;
	return n;
}

static unsigned records_of(struct weft_slab *s)
{
	unsigned n = 0;

	for (struct wefti_slab_local *l = load_seq_cst(&s->locals); l;
	     l = l->other)
		n++;
	return n;
}

static unsigned threads_of(struct weft_slab *s)
{
	struct weft_slab_info info;

	weft_slab_info(s, &info);
	return info.threads;
}

static void in_another_thread(void *(*fn)(void *))
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fn, NULL), 0);
	pthread_join(thread, NULL);
}

static void a_thread_has_one_record_of_a_set_the_last_used_in_front(void)
{
	struct wefti_slab_local *a, *b;

	set = make(8, 4);
	other = make(8, 4);
	a = join(set);
	CU_ASSERT_EQUAL(a->slot_number, 0);
	CU_ASSERT_EQUAL(load_relaxed(&a->slot->process), 1);
	CU_ASSERT_EQUAL(load_relaxed(&a->used), 1);
	b = join(other);
	CU_ASSERT_PTR_EQUAL(wefti_slab_locals, b);
	CU_ASSERT_PTR_EQUAL(b->next, a);
	CU_ASSERT_EQUAL(ends_noted, 1);	/* of this thread, for both */
	CU_ASSERT_PTR_EQUAL(join(set), a);
	CU_ASSERT_PTR_EQUAL(wefti_slab_locals, a);
	CU_ASSERT_PTR_EQUAL(a->next, b);
	CU_ASSERT_EQUAL(own_records(), 2);
	CU_ASSERT_EQUAL(threads_of(set), 1);
	weft_slab_leave(other);			/* not the one in front */
	CU_ASSERT_EQUAL(own_records(), 1);
	CU_ASSERT_EQUAL(threads_of(other), 0);
	CU_ASSERT_EQUAL(threads_of(set), 1);
	weft_slab_leave(other);
	weft_slab_leave(set);
	CU_ASSERT_EQUAL(own_records(), 0);
	weft_slab_close(other);
	weft_slab_close(set);
}

static void *join_and_end(void *unused)
{
	int error = 0;
	struct wefti_slab_local *l = wefti_slab_join(set, &error);

	record = l;
	result = !l ? error : l->mine == 0 && !l->group && !l->objects &&
			      load_relaxed(&l->stamp[0]) == 0 &&
			      l->slot == &set->slot[l->slot_number] ? 0 : 1;
	if (l && !weft_slab_alloc(set, NULL))
		result = 2;
	return unused;
}

/* By leave, and by a thread's end. What is left of the magazine goes with it. */
static void a_record_that_was_left_is_the_next_threads(void)
{
	struct wefti_slab_local *l;
	struct wefti_slab_group *g;

	set = make(64, 1);
	l = join(set);
	CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(set, NULL));
	g = l->group;
	weft_slab_leave(set);
	CU_ASSERT_EQUAL(load_relaxed(&l->used), 0);
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[0].process), 0);
	CU_ASSERT_EQUAL(load_relaxed(&g->word), 1);	/* no owner */
	for (int i = 0; i < 3; i++) {
		in_another_thread(join_and_end);
		CU_ASSERT_EQUAL(result, 0);
		CU_ASSERT_PTR_EQUAL(record, l);
		CU_ASSERT_EQUAL(threads_of(set), 0);
	}
	CU_ASSERT_EQUAL(records_of(set), 1);
	CU_ASSERT_EQUAL(load_relaxed(&g->word), 15);
	weft_slab_close(set);
}

/* Nothing is kept of a call that failed: the next one has it. */
static void a_thread_that_finds_no_slot_keeps_no_record(void)
{
	set = make(64, 1);
	join(set);
	for (int i = 0; i < 10; i++) {
		record = NULL;
		in_another_thread(join_and_end);
		CU_ASSERT_EQUAL(result, -EAGAIN);
		CU_ASSERT_PTR_NULL(record);
	}
	CU_ASSERT_EQUAL(records_of(set), 2);
	weft_slab_leave(set);

	/* As in the child of a fork that found no number for itself. */
	set->process = WEFTI_SLAB_PROCESSES;
	in_another_thread(join_and_end);
	CU_ASSERT_EQUAL(result, -EAGAIN);
	set->process = 0;
	in_another_thread(join_and_end);
	CU_ASSERT_EQUAL(result, 0);
	CU_ASSERT_EQUAL(records_of(set), 2);
	weft_slab_close(set);
}

static void *without_an_end(void *unused)
{
	no_end = 1;
	join_and_end(NULL);
	no_end = 0;
	if (result == -ENOMEM && own_records() == 0)
		join_and_end(NULL);
	return unused;
}

static void without_memory_nobody_joins(void)
{
	int error = 0;
	void *object;

	set = make(64, 2);
	no_memory = 1;
	CU_ASSERT_PTR_NULL(wefti_slab_join(set, &error));
	CU_ASSERT_EQUAL(error, -ENOMEM);
	error = 0;
	CU_ASSERT_PTR_NULL(weft_slab_alloc(set, &error));
	CU_ASSERT_EQUAL(error, -ENOMEM);
	no_memory = 0;
	CU_ASSERT_EQUAL(records_of(set), 0);
	CU_ASSERT_EQUAL(own_records(), 0);
	object = weft_slab_alloc(set, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);

	/* Also where it is the end of the thread that cannot be noted. */
	in_another_thread(without_an_end);
	CU_ASSERT_EQUAL(result, 0);
	CU_ASSERT_EQUAL(records_of(set), 2);
	CU_ASSERT_EQUAL(threads_of(set), 1);

	weft_slab_leave(set);
	CU_ASSERT_EQUAL(records_of(set), 2);
	no_memory = 1;		/* there is one that nobody uses */
	CU_ASSERT_EQUAL(weft_slab_free(set, object), 0);
	no_memory = 0;
	weft_slab_close(set);
}

/* A thread that used a set notices at its next search, or at its end. */
static void a_closed_sets_record_is_void_and_freed_by_its_thread(void)
{
	struct wefti_slab_local *a;

	other = make(8, 2);
	for (int i = 0; i < 3; i++) {
		set = make(8, 2);
		a = join(set);
		in_another_thread(join_and_end);	/* freed by the close */
		CU_ASSERT_EQUAL(records_of(set), 2);
		weft_slab_close(set);
		CU_ASSERT_EQUAL(own_records(), 1);
		CU_ASSERT_PTR_NULL(a->slab);
		CU_ASSERT_PTR_EQUAL(join(other), wefti_slab_locals);
		CU_ASSERT_EQUAL(own_records(), 1);
		weft_slab_leave(other);
	}
	weft_slab_close(other);
}

static void *join_all_and_close_one(void *sets)
{
	struct weft_slab **s = sets;

	for (int i = 0; i < 4; i++)
		result |= !weft_slab_alloc(s[i], NULL);
	weft_slab_close(s[2]);
	return NULL;
}

static void a_threads_end_gives_back_what_it_had_of_each_set(void)
{
	struct weft_slab *s[4];
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		s[i] = make(8u << i, 1);
	result = 0;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
					     join_all_and_close_one, s), 0);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(result, 0);
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		CU_ASSERT_EQUAL(threads_of(s[i]), 0);
		CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(s[i], NULL));
		weft_slab_close(s[i]);
	}
}

/* By which a free divides. */
static void a_record_has_the_inverse_of_its_objects_size(void)
{
	for (uint32_t bytes = 8; bytes <= 1u << 20; bytes += bytes / 3 & ~7u) {
		struct wefti_slab_local *l;

		set = make(bytes, 1);
		l = join(set);
		CU_ASSERT_EQUAL(l->object_bytes, bytes);
		CU_ASSERT_EQUAL((uint64_t)(bytes >> l->shift) * l->inverse, 1);
		CU_ASSERT_EQUAL(bytes >> l->shift << l->shift, bytes);
		weft_slab_close(set);
		bytes += 8;
	}
}

static const struct test_case cases[] = {
	TEST(a_thread_has_one_record_of_a_set_the_last_used_in_front),
	TEST(a_record_that_was_left_is_the_next_threads),
	TEST(a_thread_that_finds_no_slot_keeps_no_record),
	TEST(without_memory_nobody_joins),
	TEST(a_closed_sets_record_is_void_and_freed_by_its_thread),
	TEST(a_threads_end_gives_back_what_it_had_of_each_set),
	TEST(a_record_has_the_inverse_of_its_objects_size),
};

TEST_MAIN("lockfree/slab_local", cases)
