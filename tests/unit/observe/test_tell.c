/* SPDX-License-Identifier: MIT */
/*
 * test_tell.c - observe/tell: the words for each state and each wait, cycles of
 * owners, and stacks that cannot be walked
 *
 * The threads are structs that nobody runs.
 */
#include "io/table.h"
#include "observe/cycle.h"
#include "observe/dump.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "os/call/clock.h"
#include "os/call/tid.h"
#include "os/object/objects.h"
#include "os/object/unwind.h"
#include "sync/mutex.h"
#include "thread/bare.h"
#include "thread/wait.h"
#include "told.h"

#define MANY	(WEFTI_CYCLE_MOST + 1)	/* one more than are followed */

static const char *told(const struct wefti_view *view)
{
	wefti_tell_thread(told_begin(), view);
	return told_end();
}

static void each_state_has_its_words(void)
{
	static const struct {
		struct wefti_view view;
		const char *text;
	} row[] = {
		{ { .state = WEFTI_VIEW_READY }, "\nthread id 7: ready\n" },
		{ { .state = WEFTI_VIEW_READY, .name = "it", .light = 1 },
		  "\nlight thread \"it\" (id 7): ready\n" },
		{ { .state = WEFTI_VIEW_READY, .name = "\033[2J\nthread \"x\"" },
		  "\nthread \"\\x1b[2J\\x0athread \"x\"\" (id 7): ready\n" },
		{ { .state = WEFTI_VIEW_RUNNING, .vcpu = 3 },
		  "\nthread id 7: running on VCPU 3\n" },
		{ { .state = WEFTI_VIEW_ENDED },
		  "\nthread id 7: ended, not joined yet\n" },
		{ { .state = WEFTI_VIEW_UNSEATED, .tid = 41 },
		  "\nthread id 7: running or blocked on kernel thread 41, "
		  "its VCPU was taken\n" },
		{ { .state = WEFTI_VIEW_UNSEATED, .light = 1,
		    .kind = WEFTI_KIND_FOREIGN },
		  "\nforeign thread id 7: running or blocked\n" },
		{ { .state = WEFTI_VIEW_NONE },
		  "\nthread a thread that is no more: \n" },
		{ { .state = WEFTI_VIEW_PARKED, .why = WEFTI_WHY_SEND,
		    .object = (void *)16 },
		  "\nthread id 7: parked, sends to channel 0x10\n" },
		{ { .state = WEFTI_VIEW_PARKED, .why = WEFTI_WHY_COUNT },
		  "\nthread id 7: parked, waits\n" },
		{ { .state = WEFTI_VIEW_PARKED, .why = WEFTI_WHY_JOIN,
		    .object = (void *)16 },
		  "\nthread id 7: parked, joins a thread that is no more\n" },
		{ { .state = WEFTI_VIEW_PARKED, .why = WEFTI_WHY_MUTEX,
		    .object = (void *)16 },
		  "\nthread id 7: parked, waits for mutex 0x10\n" },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct wefti_view v = row[i].view;

		v.id = 7;
		told(&v);
		CU_ASSERT_TRUE(told_is(row[i].text));
	}
}

static void a_descriptor_is_told_by_its_number(void)
{
	struct wefti_view v = { .state = WEFTI_VIEW_PARKED, .id = 7,
				.why = WEFTI_WHY_DESCRIPTOR };
	struct wefti_use use;

	CU_ASSERT_EQUAL_FATAL(wefti_fd_begin(&use, 2000), 0);
	v.object = use.entry;
	told(&v);
	CU_ASSERT_TRUE(told_is("\nthread id 7: parked, waits for descriptor 2000\n"));
	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
	v.object = (void *)16;
	told(&v);
	CU_ASSERT_TRUE(told_is("\nthread id 7: parked, waits for descriptor 0x10\n"));
}

/* No two the same, so that none was forgotten in the table. */
static void each_wait_has_words_of_its_own(void)
{
	static char text[WEFTI_WHY_COUNT][128];

	for (unsigned i = 0; i < WEFTI_WHY_COUNT; i++) {
		struct wefti_view v = { .state = WEFTI_VIEW_PARKED, .id = 7,
					.why = (enum wefti_why)i };

		snprintf(text[i], sizeof(text[i]), "%.100s", told(&v));
		CU_ASSERT_PTR_NULL(strstr(text[i], "(null)"));
		for (unsigned k = 0; k < i; k++)
			CU_ASSERT_STRING_NOT_EQUAL(text[i], text[k]);
	}
}

static void a_wait_has_an_age_if_its_beginning_is_known(void)
{
	struct wefti_view v = { .state = WEFTI_VIEW_PARKED, .id = 7,
				.why = WEFTI_WHY_SLEEP };
	const char *age;
	char *end;

	v.since = wefti_os_now_ns() + INT64_C(3600000000000);
	told(&v);
	CU_ASSERT_TRUE(told_is("\nthread id 7: parked, sleeps\n"));
	v.since = 1;		/* of the clock, which began with the machine */
	age = strstr(told(&v), "parked for ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(age);
	CU_ASSERT_TRUE(strtol(age + 11, &end, 10) <=
		       wefti_os_now_ns() / 1000000000);
	CU_ASSERT_TRUE(*end == '.' && isdigit(end[1]) && isdigit(end[2]) &&
		       isdigit(end[3]));
	CU_ASSERT_STRING_EQUAL(end + 4, " s, sleeps\n");
}

/* Thread i waits for a mutex that thread i + 1 has, the last for next's. */
static struct wefti_thread *ring[MANY];
static struct wefti_mutex mutex[MANY];
static struct wefti_cold cold[MANY];

static void make_ring(int count, int last_waits_for)
{
	for (int i = 0; i < count; i++) {
		int next = i + 1 < count ? i + 1 : last_waits_for;

		snprintf(cold[i].name, sizeof(cold[i].name), "t%d", i);
		ring[i] = wefti_thread_bare(WEFTI_KIND_GREEN, &cold[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(ring[i]);
		wefti_thread_begins(ring[i], WEFTI_JOIN_NONE);
		store_relaxed(&ring[i]->wait, WEFTI_WAIT_PARKED);
		ring[i]->why = WEFTI_WHY_MUTEX;
		store_relaxed(&ring[i]->waits_for, &mutex[next]);
		store_relaxed(&mutex[i].owner, ring[i]);
	}
}

static void free_ring(int count)
{
	for (int i = 0; i < count; i++) {
		wefti_thread_turn(ring[i]);
		wefti_thread_bare_free(ring[i]);
	}
}

static int is_in_cycle(int i)
{
	struct wefti_view v;

	wefti_view_slot(ring[i]->slot, &v);
	return wefti_view_is_in_cycle(&v);
}

static void a_wait_for_oneself_is_told_with_its_cycle(void)
{
	char expected[256];
	struct wefti_view v;

	make_ring(2, 0);
	wefti_view_slot(ring[0]->slot, &v);
	told(&v);
	snprintf(expected, sizeof(expected), "\nthread \"t0\" (id %lu): parked, "
		 "waits for mutex %p, owned by \"t1\" (id %lu)\n"
		 "    waits for itself through: \"t0\" (id %lu) -> "
		 "\"t1\" (id %lu) -> \"t0\" (id %lu)\n",
		 wefti_thread_id(ring[0]), (void *)&mutex[1],
		 wefti_thread_id(ring[1]), wefti_thread_id(ring[0]),
		 wefti_thread_id(ring[1]), wefti_thread_id(ring[0]));
	CU_ASSERT_TRUE(told_is(expected));
	store_relaxed(&ring[1]->wait, WEFTI_WAIT_PARKED | WEFTI_WAIT_TIMED);
	told(&v);
	CU_ASSERT_EQUAL(told_times("), until a deadline\n"), 1);
	free_ring(2);

	make_ring(1, 0);	/* its own mutex, which it was just given */
	CU_ASSERT_FALSE(is_in_cycle(0));
	free_ring(1);
}

/* The last two of three in a row wait for each other. */
static void a_wait_for_a_cycle_is_in_none(void)
{
	make_ring(3, 1);
	CU_ASSERT_FALSE(is_in_cycle(0));
	CU_ASSERT_TRUE(is_in_cycle(1));
	CU_ASSERT_TRUE(is_in_cycle(2));
	store_relaxed(&mutex[2].owner, NULL);	/* it is handed on just now */
	for (int i = 0; i < 3; i++)
		CU_ASSERT_FALSE(is_in_cycle(i));
	free_ring(3);
}

static void a_cycle_is_followed_so_far_and_no_farther(void)
{
	make_ring(MANY - 1, 0);
	CU_ASSERT_TRUE(is_in_cycle(0));
	CU_ASSERT_TRUE(is_in_cycle(MANY - 2));
	free_ring(MANY - 1);
	make_ring(MANY, 0);
	CU_ASSERT_FALSE(is_in_cycle(0));
	free_ring(MANY);
}

static struct wefti_arch_next entry(void *unused)
{
	(void)unused;
	return (struct wefti_arch_next){ NULL, NULL };
}

/* 0: not known. -EAGAIN: it went on. -ETIMEDOUT: nobody answers. */
static void a_stack_is_walked_only_of_who_has_one_and_stays(void)
{
	static char stack[4096] __attribute__((aligned(64)));
	uintptr_t pcs[WEFTI_FRAMES_MOST];
	struct wefti_arch_regs regs;
	struct wefti_view v;

	make_ring(1, 0);
	wefti_arch_context_init(&ring[0]->ctx, stack + sizeof(stack), entry);
	wefti_arch_context_regs(&ring[0]->ctx, &regs);
	cold[0].stack_low = stack;
	cold[0].stack_bytes = sizeof(stack);
	wefti_view_slot(ring[0]->slot, &v);
	CU_ASSERT_TRUE(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST) >= 1);
	CU_ASSERT_EQUAL(pcs[0], regs.pc);
	v.state = WEFTI_VIEW_ENDED;
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), 0);
	v.state = WEFTI_VIEW_NONE;
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), 0);
	v.state = WEFTI_VIEW_PARKED;
	v.kind = WEFTI_KIND_FOREIGN;
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), 0);
	v.kind = WEFTI_KIND_GREEN;
	store_relaxed(&ring[0]->wait, 0);	/* it goes on */
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), -EAGAIN);
	store_relaxed(&ring[0]->wait, WEFTI_WAIT_PARKED);
	v.ctx.sp = (void *)16;
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), -EAGAIN);
	v.state = WEFTI_VIEW_UNSEATED;
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), 0);
	v.tid = 1 << 30;	/* larger than any that there is */
	CU_ASSERT_EQUAL(wefti_walk(&v, pcs, WEFTI_FRAMES_MOST), -ETIMEDOUT);
	free_ring(1);
}

static void the_kernel_is_asked_about_a_silent_one(void)
{
	struct wefti_view v = { .state = WEFTI_VIEW_UNSEATED };
	char expected[80];

	v.tid = wefti_os_gettid();
	wefti_tell_silent(told_begin(), &v);
	told_end();
	snprintf(expected, sizeof(expected), "    did not answer; "
		 "kernel thread %d, state R, in ", v.tid);
	CU_ASSERT_EQUAL(told_times(expected), 1);
	v.tid = 1 << 30;
	wefti_tell_silent(told_begin(), &v);
	told_end();
	CU_ASSERT_TRUE(told_is("    did not answer; kernel thread 1073741824, "
			       "state ?, in no system call\n"));
}

/* An address where a thread was stopped is told as it is. */
static void a_frame_is_a_function_and_what_is_none_a_question_mark(void)
{
	uintptr_t pcs[2] = { (uintptr_t)entry | WEFTI_PC_EXACT, 64 };
	char expected[64];

	wefti_os_objects_read();
	wefti_tell_stack(told_begin(), pcs, 2);
	told_end();
	snprintf(expected, sizeof(expected), "    #0  0x%016lx ",
		 (unsigned long)(uintptr_t)entry);
	CU_ASSERT_EQUAL(told_times(expected), 1);
	CU_ASSERT_EQUAL(told_times("test_tell)\n"), 1);
	CU_ASSERT_EQUAL(told_times(" entry+0x0 ("), 1);
	CU_ASSERT_EQUAL(told_times("    #1  0x0000000000000040 ?\n"), 1);
}

static const struct test_case cases[] = {
	TEST(each_state_has_its_words),
	TEST(a_descriptor_is_told_by_its_number),
	TEST(each_wait_has_words_of_its_own),
	TEST(a_wait_has_an_age_if_its_beginning_is_known),
	TEST(a_wait_for_oneself_is_told_with_its_cycle),
	TEST(a_wait_for_a_cycle_is_in_none),
	TEST(a_cycle_is_followed_so_far_and_no_farther),
	TEST(a_stack_is_walked_only_of_who_has_one_and_stays),
	TEST(the_kernel_is_asked_about_a_silent_one),
	TEST(a_frame_is_a_function_and_what_is_none_a_question_mark),
};

TEST_MAIN("observe/tell", cases)
