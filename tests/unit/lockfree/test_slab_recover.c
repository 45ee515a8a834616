/* SPDX-License-Identifier: MIT */
/*
 * test_slab_recover.c - lockfree/slab_recover: each rule of slab.h's "Death",
 * on groups and slots that are written by hand
 *
 * Processes that are killed in fact: test_slab_kill.c.
 */
#include "lockfree/slab.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

#define OBJECTS	((uint64_t)WEFTI_SLAB_OBJECTS)
#define DEAD	70u	/* a process; not in the first word of the set of them */
#define GROUP	10u	/* what is written by hand, and the next */

static struct weft_slab *set;
static uint64_t dead[WEFTI_SLAB_PROCESSES / 64 + 1];
static char path[64];
static int fd;

/* Slot 0 is this thread's, 1 of a process that lives, 2 and 3 of a dead one. */
static void begin(void)
{
	static const struct weft_slab_attr attr = { 2000, 20, 4 };

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(weft_slab_alloc(set, NULL));
	store_relaxed(&set->slot[1].process, (uint64_t)DEAD - 1 + 1);
	store_relaxed(&set->slot[2].process, (uint64_t)DEAD + 1);
	store_relaxed(&set->slot[3].process, (uint64_t)DEAD + 1);
	memset(dead, 0, sizeof(dead));
	dead[DEAD / 64] = UINT64_C(1) << DEAD % 64;
}

static void write_group(uint64_t group, unsigned owner, uint64_t taken,
			const uint16_t *stamps)
{
	struct wefti_slab_group *g = wefti_slab_group_at(set, group);

	store_relaxed(&g->word, (uint64_t)owner << OBJECTS | taken);
	for (int i = 0; i < 8; i++)
		store_relaxed(&g->stamp[i], stamps[i]);
	fetch_or_relaxed(&set->hint[0], UINT64_C(1) << group);
}

static uint64_t word(uint64_t group)
{
	return load_relaxed(&wefti_slab_group_at(set, group)->word);
}

static int hint(uint64_t group)
{
	return load_relaxed(&set->hint[0]) >> group & 1;
}

static const uint16_t one_of_each[8] = {
	WEFTI_STAMP_LIVE,			/* stays, whoever dies */
	WEFTI_STAMP_FREE,			/* the owner's magazine */
	WEFTI_STAMP_RESERVED | DEAD,
	WEFTI_STAMP_RESERVED | (DEAD - 1),	/* stays */
	WEFTI_STAMP_FREEING | 2,		/* what slot 2 is doing */
	WEFTI_STAMP_FREEING | 1,		/* left to the thread that frees
						 * it */
	WEFTI_STAMP_FREE,			/* not taken: it is IN */
	WEFTI_STAMP_RESERVED | DEAD,		/* the same */
};

static void a_dead_owners_group_keeps_what_is_out(void)
{
	begin();
	write_group(GROUP, 2 + 1, 0x3f, one_of_each);
	store_relaxed(&set->slot[2].doing, GROUP * OBJECTS + 4 + 1);
	CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 3);
	CU_ASSERT_EQUAL(word(GROUP), 1 << 0 | 1 << 3 | 1 << 5);
	CU_ASSERT_EQUAL(hint(GROUP), 0);

	/* Nobody's slot now; those of others are theirs. */
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[2].process), 0);
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[2].doing), 0);
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[3].process), 0);
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[1].process), DEAD);
	CU_ASSERT_EQUAL(load_relaxed(&set->slot[0].process), 1);
	CU_ASSERT_EQUAL(word(0), UINT64_C(1) << OBJECTS |
			WEFTI_SLAB_TAKEN);

	/* It may be done again. */
	CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 0);
	CU_ASSERT_EQUAL(word(GROUP), 1 << 0 | 1 << 3 | 1 << 5);
	weft_slab_close(set);
}

static void into_a_living_owners_group_only_what_the_dead_have_goes(void)
{
	begin();
	write_group(GROUP, 1 + 1, 0x3f, one_of_each);
	store_relaxed(wefti_slab_stamp(set, GROUP * OBJECTS + 4),
		      WEFTI_STAMP_FREEING | 3);
	store_relaxed(&set->slot[3].doing, GROUP * OBJECTS + 4 + 1);
	CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 2);
	CU_ASSERT_EQUAL(word(GROUP), (uint64_t)2 << OBJECTS | (0x3f &
			~(1 << 2 | 1 << 4)));
	CU_ASSERT_EQUAL(hint(GROUP), 1);	/* it has an owner */
	weft_slab_close(set);
}

/* As many as a magazine has, in groups of all kinds of owners; no `doing` names them. */
static void what_the_dead_held_goes_in(void)
{
	static const uint16_t stamps[8] = {
		WEFTI_STAMP_FREEING | 3, WEFTI_STAMP_FREEING | 1,
		WEFTI_STAMP_FREEING | 2, WEFTI_STAMP_LIVE,
		WEFTI_STAMP_FREEING | 3,	/* not taken: it is IN */
	};

	begin();
	write_group(GROUP, 0, 0x0f, stamps);
	write_group(GROUP + 1, 1 + 1, 0x0f, stamps);
	write_group(GROUP + 2, 3 + 1, 0x0f, stamps);
	CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 6);
	CU_ASSERT_EQUAL(word(GROUP), 0x0a);
	CU_ASSERT_EQUAL(word(GROUP + 1), (uint64_t)2 << OBJECTS | 0x0a);
	CU_ASSERT_EQUAL(word(GROUP + 2), 0x0a);
	CU_ASSERT_EQUAL(hint(GROUP), 0);
	CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 0);
	weft_slab_close(set);
}

/* Its last freer may have died before the hint was cleared. */
static void nobodys_group_gets_the_right_hint(void)
{
	static const uint16_t live[8] = {
		0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff
	};

	begin();
	write_group(GROUP, 0, 0x0f, live);
	write_group(GROUP + 1, 0, WEFTI_SLAB_TAKEN, live);
	for (int i = 8; i < 48; i++)
		store_relaxed(&wefti_slab_group_at(set, GROUP + 1)->stamp[i],
			      WEFTI_STAMP_LIVE);
	CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 0);
	CU_ASSERT_EQUAL(word(GROUP), 0x0f);
	CU_ASSERT_EQUAL(hint(GROUP), 0);
	CU_ASSERT_EQUAL(word(GROUP + 1), WEFTI_SLAB_TAKEN);
	CU_ASSERT_EQUAL(hint(GROUP + 1), 1);
	weft_slab_close(set);
}

/* `doing` names an object that the free has not reached, or is done with. */
static void a_free_that_had_not_begun_or_was_over_is_none(void)
{
	static const uint16_t stamps[8] = {
		WEFTI_STAMP_LIVE, WEFTI_STAMP_FREEING | 3,
		WEFTI_STAMP_FREEING | 1,
	};

	for (unsigned i = 0; i < 3; i++) {
		begin();
		write_group(GROUP, 0, 1 << 0 | 1 << 2, stamps);
		store_relaxed(&set->slot[3].doing, GROUP * OBJECTS + i + 1);
		CU_ASSERT_EQUAL(wefti_slab_reclaim(set, dead), 0);
		CU_ASSERT_EQUAL(word(GROUP), 1 << 0 | 1 << 2);
		CU_ASSERT_EQUAL(load_relaxed(&set->slot[3].doing), 0);
		weft_slab_close(set);
	}
}

static void a_private_set_has_nobody_who_could_be_dead(void)
{
	begin();
	write_group(GROUP, 2 + 1, 0x3f, one_of_each);
	store_relaxed(&set->header->process[DEAD], 1);
	store_relaxed(&set->is_recovering, 1);
	CU_ASSERT_EQUAL(weft_slab_recover(set), 0);
	CU_ASSERT_EQUAL(word(GROUP), (uint64_t)3 << OBJECTS | 0x3f);
	weft_slab_close(set);
}

static void begin_in_a_file(void)
{
	static const struct weft_slab_attr attr = { 2000, 20, 4 };

	fd = memfd_create("weft-slab", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CU_ASSERT_EQUAL_FATAL(weft_slab_create_file(&set, &attr, path, 0600),
			      0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(weft_slab_alloc(set, NULL));
}

static unsigned processes(void)
{
	struct weft_slab_info info;

	weft_slab_info(set, &info);
	return info.processes;
}

/* A thread is dead if its number is in the table and nobody has its lock. */
static void only_who_has_no_lock_is_recovered_and_one_recovers_at_a_time(void)
{
	struct weft_slab *alive = NULL;

	begin_in_a_file();
	CU_ASSERT_EQUAL_FATAL(weft_slab_open_file(&alive, path, 24), 0);
	CU_ASSERT_PTR_NOT_NULL(weft_slab_reserve(alive, NULL));
	CU_ASSERT_EQUAL(processes(), 2);
	store_relaxed(&set->slot[3].process, (uint64_t)DEAD + 1);
	store_relaxed(&set->header->process[DEAD], 1);
	write_group(GROUP, 3 + 1, 0x3f, one_of_each);
	CU_ASSERT_EQUAL(processes(), 3);

	store_relaxed(&set->is_recovering, 1);
	CU_ASSERT_EQUAL(weft_slab_recover(set), -EBUSY);
	CU_ASSERT_EQUAL(processes(), 3);
	CU_ASSERT_EQUAL(word(GROUP), (uint64_t)4 << OBJECTS | 0x3f);
	store_relaxed(&set->is_recovering, 0);

	CU_ASSERT_EQUAL(weft_slab_recover(set), 2);
	CU_ASSERT_EQUAL(processes(), 2);
	CU_ASSERT_EQUAL(load_relaxed(&set->header->process[DEAD]), 0);
	CU_ASSERT_EQUAL(weft_slab_recover(alive), 0);
	CU_ASSERT_EQUAL(weft_slab_recover(set), 0);
	weft_slab_close(alive);
	CU_ASSERT_EQUAL(processes(), 1);
	weft_slab_close(set);
	close(fd);
}

static int free_it(void *object, void *seen)
{
	++*(int *)seen;
	return weft_slab_free(set, object);
}

static int stop_at_third(void *object, void *seen)
{
	(void)object;
	return ++*(int *)seen == 3 ? -3 : 0;
}

static void a_visit_may_free_what_it_is_shown(void)
{
	int seen = 0;

	begin();
	for (int i = 1; i < 100; i++)
		CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(set, NULL));
	CU_ASSERT_EQUAL(weft_slab_each(set, stop_at_third, &seen), -3);
	CU_ASSERT_EQUAL(seen, 3);
	seen = 0;
	CU_ASSERT_EQUAL(weft_slab_each(set, free_it, &seen), 0);
	CU_ASSERT_EQUAL(seen, 100);
	seen = 0;
	CU_ASSERT_EQUAL(weft_slab_each(set, free_it, &seen), 0);
	CU_ASSERT_EQUAL(seen, 0);
	weft_slab_close(set);
}

static void info_tells_what_was_asked_for_and_what_there_is(void)
{
	struct weft_slab_info info;

	begin_in_a_file();
	memset(&info, 0x5a, sizeof(info));
	weft_slab_info(set, &info);
	CU_ASSERT_EQUAL(info.limit, 2000);
	CU_ASSERT_EQUAL(info.object_bytes, 24);
	CU_ASSERT_EQUAL(info.bytes, (uint64_t)lseek(fd, 0, SEEK_END));
	CU_ASSERT_EQUAL(info.reserved_bytes,
			info.bytes);	/* one slab, made */
	CU_ASSERT_EQUAL(info.live, 1);
	CU_ASSERT_EQUAL(info.threads, 1);
	CU_ASSERT_EQUAL(info.processes, 1);
	CU_ASSERT_EQUAL(info.weft_unused, 0);
	CU_ASSERT_PTR_NOT_NULL(weft_slab_reserve(set, NULL));
	weft_slab_leave(set);
	weft_slab_info(set, &info);
	CU_ASSERT_EQUAL(info.live, 2);
	CU_ASSERT_EQUAL(info.threads, 0);
	weft_slab_close(set);
	close(fd);
}

static const struct test_case cases[] = {
	TEST(a_dead_owners_group_keeps_what_is_out),
	TEST(into_a_living_owners_group_only_what_the_dead_have_goes),
	TEST(what_the_dead_held_goes_in),
	TEST(nobodys_group_gets_the_right_hint),
	TEST(a_free_that_had_not_begun_or_was_over_is_none),
	TEST(a_private_set_has_nobody_who_could_be_dead),
	TEST(only_who_has_no_lock_is_recovered_and_one_recovers_at_a_time),
	TEST(a_visit_may_free_what_it_is_shown),
	TEST(info_tells_what_was_asked_for_and_what_there_is),
};

TEST_MAIN("lockfree/slab_recover", cases)
