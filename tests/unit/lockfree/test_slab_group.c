/* SPDX-License-Identifier: MIT */
/*
 * test_slab_group.c - lockfree/slab_group: the owner of a group, what the hints
 * say of it, and when the set grows
 */
#include "lockfree/slab.h"

#include <errno.h>

#include "support.h"

#define IN_SLAB	((uint64_t)WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS)
#define OWNED	((uint64_t)1 << WEFTI_SLAB_OBJECTS)	/* by slot 0 */

static struct weft_slab *set;
static struct wefti_slab_local *self;

/* `slabs` of them, and this thread has slot 0 but no group. */
static void begin(uint64_t slabs)
{
	struct weft_slab_attr attr = { slabs * IN_SLAB - WEFTI_SLAB_OBJECTS - WEFTI_SLAB_HELD,
				       16, 1 };
	int error = 0;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
	self = wefti_slab_join(set, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(self);
	CU_ASSERT_EQUAL(set->shape.slabs, slabs);
}

static uint64_t word(uint64_t group)
{
	return load_relaxed(&wefti_slab_group_at(set, group)->word);
}

static int hint(uint64_t group)
{
	return load_relaxed(&set->hint[group / WEFTI_SLAB_GROUPS]) >>
	       group % WEFTI_SLAB_GROUPS & 1;
}

static uint64_t changes(void)
{
	return load_relaxed(&set->header->changes);
}

static uint64_t made(void)
{
	return load_relaxed(&set->header->made);
}

/* The next `count` groups, with all their objects taken. */
static void take_groups(uint64_t count)
{
	for (uint64_t i = 0; i < count * WEFTI_SLAB_OBJECTS; i++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(weft_slab_alloc(set, NULL));
}

static void a_refill_gives_a_whole_group_and_says_so_in_the_hint(void)
{
	begin(1);
	CU_ASSERT_PTR_NULL(self->group);
	CU_ASSERT_EQUAL(hint(0), 0);
	CU_ASSERT_EQUAL(made(), 0);
	CU_ASSERT_EQUAL(wefti_slab_refill(self), 0);
	CU_ASSERT_EQUAL(made(), 1);
	CU_ASSERT_EQUAL(self->number, 0);
	CU_ASSERT_PTR_EQUAL(self->group, wefti_slab_group_at(set, 0));
	CU_ASSERT_PTR_EQUAL(self->objects, (char *)wefti_slab_at(set, 0));
	CU_ASSERT_EQUAL(self->mine, WEFTI_SLAB_TAKEN);
	CU_ASSERT_EQUAL(word(0), OWNED | WEFTI_SLAB_TAKEN);
	CU_ASSERT_EQUAL(hint(0), 1);
	CU_ASSERT_EQUAL(hint(1), 0);
	weft_slab_close(set);
}

/* What came back to it is the thread's before it looks for another group. */
static void a_refill_takes_what_came_back_to_the_own_group(void)
{
	begin(1);
	take_groups(1);
	for (unsigned i = 5; i < 8; i++)
		store_relaxed(&self->stamp[i], WEFTI_STAMP_FREEING | 3);
	for (unsigned i = 5; i < 8; i++)
		wefti_slab_clear_bits(set, 0, UINT64_C(1) << i);
	CU_ASSERT_EQUAL(word(0), OWNED | (WEFTI_SLAB_TAKEN &
					  ~(UINT64_C(7) << 5)));
	/* Nobody else may have them. */
	CU_ASSERT_EQUAL(changes(), 0);
	CU_ASSERT_EQUAL(hint(0), 1);
	CU_ASSERT_EQUAL(wefti_slab_refill(self), 0);
	CU_ASSERT_EQUAL(self->number, 0);
	CU_ASSERT_EQUAL(self->mine, UINT64_C(7) << 5);
	CU_ASSERT_EQUAL(word(0), OWNED | WEFTI_SLAB_TAKEN);
	for (unsigned i = 5; i < 8; i++)	/* I2 */
		CU_ASSERT_EQUAL(load_relaxed(&self->stamp[i]),
				WEFTI_STAMP_FREE);
	weft_slab_close(set);
}

static void a_full_group_is_nobodys_until_an_object_comes_back(void)
{
	begin(1);
	take_groups(1);
	CU_ASSERT_EQUAL(wefti_slab_refill(self), 0);
	CU_ASSERT_EQUAL(word(0), WEFTI_SLAB_TAKEN);
	CU_ASSERT_EQUAL(hint(0), 1);
	CU_ASSERT_NOT_EQUAL(self->number, 0);
	CU_ASSERT_EQUAL(changes(), 0);
	wefti_slab_clear_bits(set, 0, UINT64_C(1) << 47);
	CU_ASSERT_EQUAL(word(0), WEFTI_SLAB_TAKEN >> 1);
	CU_ASSERT_EQUAL(hint(0), 0);
	CU_ASSERT_EQUAL(changes(), 1);
	weft_slab_close(set);
}

static void dropped_objects_are_free_for_all_and_a_full_group_is_not(void)
{
	begin(1);
	take_groups(2);
	take_groups(1);		/* in place of the second, which is full */
	CU_ASSERT_EQUAL(word(2), OWNED | WEFTI_SLAB_TAKEN);
	wefti_slab_drop(set, 2, 0);
	CU_ASSERT_EQUAL(word(2), WEFTI_SLAB_TAKEN);
	CU_ASSERT_EQUAL(hint(2), 1);
	CU_ASSERT_EQUAL(changes(), 0);
	wefti_slab_own_none(self);
	CU_ASSERT_PTR_NULL(self->group);

	/* With no group, nothing near NULL seems to be an object of it. */
	CU_ASSERT_EQUAL(weft_slab_free(set, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_slab_free(set, (void *)(uintptr_t)(3 * 16)),
			-EINVAL);

	CU_ASSERT_EQUAL(wefti_slab_refill(self), 0);
	CU_ASSERT_EQUAL(word(3), OWNED | WEFTI_SLAB_TAKEN);
	wefti_slab_drop(set, 3, 1 | UINT64_C(1) << 47);
	CU_ASSERT_EQUAL(word(3), WEFTI_SLAB_TAKEN / 2 - 1);
	CU_ASSERT_EQUAL(hint(3), 0);
	CU_ASSERT_EQUAL(changes(), 1);
	wefti_slab_own_none(self);
	self->mine = 0;
	weft_slab_close(set);
}

static void a_full_slab_is_hidden_until_an_object_comes_back(void)
{
	void *object;

	begin(2);
	take_groups(63);
	CU_ASSERT_EQUAL(load_relaxed(&set->top[0]), 0);
	take_groups(1);
	CU_ASSERT_EQUAL(load_relaxed(&set->hint[0]), UINT64_MAX);
	CU_ASSERT_EQUAL(load_relaxed(&set->top[0]), 1);
	CU_ASSERT_EQUAL(made(), 1);
	take_groups(1);
	CU_ASSERT_EQUAL(made(), 2);
	CU_ASSERT_EQUAL(self->number / WEFTI_SLAB_GROUPS, 1);

	object = wefti_slab_at(set, 17 * WEFTI_SLAB_OBJECTS + 3);
	CU_ASSERT_EQUAL(weft_slab_free(set, object), 0);
	wefti_slab_put_back(self, 1);
	CU_ASSERT_EQUAL(load_relaxed(&set->hint[0]),
			~(UINT64_C(1) << 17));
	CU_ASSERT_EQUAL(load_relaxed(&set->top[0]), 0);
	CU_ASSERT_EQUAL(changes(), 1);
	weft_slab_close(set);
}

static void the_last_group_is_followed_by_enospc_and_by_what_comes_back(void)
{
	void *object;

	begin(2);
	take_groups(2 * WEFTI_SLAB_GROUPS);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(wefti_slab_refill(self), -ENOSPC);
	CU_ASSERT_EQUAL(made(), 2);
	CU_ASSERT_EQUAL(self->mine, 0);
	CU_ASSERT_PTR_NULL(self->group);
	CU_ASSERT_EQUAL(load_relaxed(&set->top[0]), 3);
	object = wefti_slab_at(set, 5);
	CU_ASSERT_EQUAL(weft_slab_free(set, object), 0);
	wefti_slab_put_back(self, 1);
	CU_ASSERT_EQUAL(wefti_slab_refill(self), 0);
	CU_ASSERT_EQUAL(self->number, 0);
	CU_ASSERT_EQUAL(self->mine, 1 << 5);
	weft_slab_close(set);
}

/*
 * As by a thread that is stopped between the two steps of hint_is_full():
 * nobody says ENOSPC for it, nor grows the set beyond its end.
 */
static void a_slab_that_is_hidden_wrongly_is_found_at_the_end(void)
{
	void *object;

	begin(2);
	take_groups(2 * WEFTI_SLAB_GROUPS);
	CU_ASSERT_EQUAL(wefti_slab_refill(self), -ENOSPC);
	object = wefti_slab_at(set, IN_SLAB + 100);
	CU_ASSERT_EQUAL(weft_slab_free(set, object), 0);
	wefti_slab_put_back(self, 1);
	CU_ASSERT_EQUAL(load_relaxed(&set->top[0]), 1);
	store_relaxed(&set->top[0], UINT64_C(3));
	CU_ASSERT_PTR_EQUAL(weft_slab_alloc(set, NULL), object);
	CU_ASSERT_PTR_NULL(weft_slab_alloc(set, NULL));
	weft_slab_close(set);
}

/* The hint may be clear wrongly: then it is looked at in vain, and corrected. */
static void a_clear_hint_of_a_full_group_is_set_by_who_looks(void)
{
	begin(1);
	take_groups(1);
	take_groups(1);
	store_relaxed(&set->hint[0], load_relaxed(&set->hint[0]) & ~(uint64_t)1);
	CU_ASSERT_EQUAL(wefti_slab_refill(self), 0);
	CU_ASSERT_EQUAL(self->number, 2);
	CU_ASSERT_EQUAL(word(0), WEFTI_SLAB_TAKEN);
	CU_ASSERT_EQUAL(load_relaxed(&set->hint[0]), 7);
	weft_slab_close(set);
}

static const struct test_case cases[] = {
	TEST(a_refill_gives_a_whole_group_and_says_so_in_the_hint),
	TEST(a_refill_takes_what_came_back_to_the_own_group),
	TEST(a_full_group_is_nobodys_until_an_object_comes_back),
	TEST(dropped_objects_are_free_for_all_and_a_full_group_is_not),
	TEST(a_full_slab_is_hidden_until_an_object_comes_back),
	TEST(the_last_group_is_followed_by_enospc_and_by_what_comes_back),
	TEST(a_slab_that_is_hidden_wrongly_is_found_at_the_end),
	TEST(a_clear_hint_of_a_full_group_is_set_by_who_looks),
};

TEST_MAIN("lockfree/slab_group", cases)
