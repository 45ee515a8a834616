/* SPDX-License-Identifier: MIT */
/*
 * test_key_stall.c - life/key: a deletion stops at each step, while another deletes
 * the key, and makes one with the same number
 */
#include "each_step.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <weft/key.h>

#include "support.h"

static unsigned old_key, new_key;
static int deleted, deleted_by_other, is_made, late;
static atomic_int old_ends, new_ends;

static void end_old(void *value)
{
	(void)value;
	atomic_fetch_add(&old_ends, 1);
}

static void end_new(void *value)
{
	(void)value;
	atomic_fetch_add(&new_ends, 1);
}

static void prepare(void *arg)
{
	(void)arg;
	is_made = 0;
	atomic_store(&old_ends, 0);
	atomic_store(&new_ends, 0);
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&old_key, end_old), 0);
}

static void delete_it(void *arg)
{
	(void)arg;
	deleted = weft_key_delete(old_key);
}

static void delete_and_create(void *arg)
{
	(void)arg;
	deleted_by_other = weft_key_delete(old_key);
	CU_ASSERT_EQUAL_FATAL(weft_key_create(&new_key, end_new), 0);
	CU_ASSERT_EQUAL(new_key, old_key);
	is_made = 1;
}

static void *have_value(void *arg)
{
	return (void *)(intptr_t)weft_key_set(new_key, arg);
}

/*
 * The other has deleted it. The late deletion came too late: the next key's values
 * are destroyed. Or it had not begun, and has deleted the next one.
 */
static void look(void *arg)
{
	pthread_t thread;
	void *error;

	if (!is_made) {
		CU_ASSERT_EQUAL(deleted, 0);
		return;
	}
	CU_ASSERT_EQUAL(deleted_by_other, 0);
	if (deleted == 0)
		return;
	CU_ASSERT_EQUAL(deleted, -EINVAL);
	late++;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, have_value, &arg), 0);
	pthread_join(thread, &error);
	CU_ASSERT_PTR_NULL(error);
	CU_ASSERT_EQUAL(atomic_load(&old_ends), 0);
	CU_ASSERT_EQUAL(atomic_load(&new_ends), 1);
	CU_ASSERT_EQUAL(weft_key_delete(new_key), 0);
}

static void a_late_deletion_leaves_the_next_key_alone(void)
{
	const struct each_step what = {
		.prepare = prepare, .call = delete_it,
		.others = delete_and_create, .after = look,
	};

	(void)each_step(&what, NULL);
	CU_ASSERT_TRUE(late > 0);
}

static const struct test_case cases[] = {
	TEST(a_late_deletion_leaves_the_next_key_alone),
};

TEST_MAIN("life/key_stall", cases)
