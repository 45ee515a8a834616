/* SPDX-License-Identifier: MIT */
/*
 * test_view.c - observe/view: what is said of a thread by its fields alone, and
 * of pointers that are none
 *
 * The threads are structs that nobody runs, on a VCPU that nobody carries.
 */
#include "observe/view.h"

#include <string.h>
#include <sys/mman.h>

#include "sched/loop.h"
#include "sched/seat.h"
#include "support.h"
#include "sync/mutex.h"
#include "sync/waitlist.h"
#include "thread/bare.h"
#include "thread/wait.h"

static struct wefti_vcpu vcpu[2];
static struct wefti_cold cold;
static struct wefti_thread *t;
#define NOWHERE		65536		/* bytes; any struct fits */

static char *nowhere;		/* memory that cannot be read */

_Static_assert(sizeof(struct wefti_vcpu) <= NOWHERE,
	       "its end is nowhere, too");

/* A thread that is ready, and no VCPU runs it. */
static void begin(enum wefti_kind kind)
{
	if (!nowhere)
		nowhere = mmap(NULL, NOWHERE, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL((void *)nowhere != MAP_FAILED);
	wefti_rt.vcpu_count = 2;
	for (unsigned i = 0; i < 2; i++) {
		wefti_rt.vcpu[i] = &vcpu[i];
		store_relaxed(&vcpu[i].current, NULL);
	}
	cold = (struct wefti_cold){ .name = "it", .since = 5 };
	t = wefti_thread_bare(kind, &cold);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	store_relaxed(&t->wait, (uint64_t)9 << WEFTI_WAIT_SEQ_SHIFT);
	t->keep = 0;
	wefti_thread_begins(t, WEFTI_JOIN_NONE);
}

static void end(void)
{
	wefti_thread_turn(t);
	wefti_thread_bare_free(t);
}

static struct wefti_view view(void)
{
	struct wefti_view v;

	memset(&v, 0x5a, sizeof(v));
	wefti_view_slot(t->slot, &v);
	CU_ASSERT_PTR_EQUAL(v.at, t);
	return v;
}

static void park(enum wefti_why why, const void *object)
{
	store_relaxed(&t->wait, (uint64_t)9 << WEFTI_WAIT_SEQ_SHIFT |
		      WEFTI_WAIT_PARKED);
	t->why = (uint8_t)why;
	store_relaxed(&t->waits_for, object);
}

static void a_slot_without_a_thread_is_none(void)
{
	struct wefti_view v;

	begin(WEFTI_KIND_GREEN);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_READY);
	store_relaxed(&wefti_rt.monitor, t);	/* it is not shown */
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_NONE);
	store_relaxed(&wefti_rt.monitor, NULL);
	end();
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_NONE);
	wefti_view_slot(0, &v);
	CU_ASSERT_EQUAL(v.state, WEFTI_VIEW_NONE);
	wefti_view_slot(UINT32_MAX, &v);
	CU_ASSERT_EQUAL(v.state, WEFTI_VIEW_NONE);
	CU_ASSERT_PTR_NULL(v.at);
}

static void a_state_follows_from_the_fields(void)
{
	begin(WEFTI_KIND_GREEN);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_READY);
	CU_ASSERT_EQUAL(view().id, wefti_thread_id(t));
	store_relaxed(&cold.carrier_tid, 77u);
	CU_ASSERT_EQUAL(view().tid, 0);
	store_relaxed(&t->attention, WEFTI_SEAT_CONCEDED);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_UNSEATED);
	CU_ASSERT_EQUAL(view().tid, 77);
	store_relaxed(&t->attention, WEFTI_SEAT_HELD);

	store_relaxed(&vcpu[1].current, t);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_RUNNING);
	CU_ASSERT_EQUAL(view().vcpu, 1);
	store_relaxed(&vcpu[1].current, NULL);

	/* What it waits for is only said of one that waits. */
	park(WEFTI_WHY_SEM, &cold);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_PARKED);
	CU_ASSERT_EQUAL(view().why, WEFTI_WHY_SEM);
	CU_ASSERT_PTR_EQUAL(view().object, &cold);
	store_relaxed(&t->wait, (uint64_t)9 << WEFTI_WAIT_SEQ_SHIFT);
	CU_ASSERT_EQUAL(view().why, WEFTI_WHY_NOTHING);
	CU_ASSERT_PTR_NULL(view().object);

	/* Ended: without a body, or with one that is kept for the join. */
	t->keep = 1;
	store_relaxed(&t->join, wefti_join_word(load_relaxed(&t->gen),
						WEFTI_JOIN_DETACHED));
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_READY);
	store_relaxed(&t->join, wefti_join_word(load_relaxed(&t->gen),
						WEFTI_JOIN_DONE));
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_ENDED);
	t->keep = 0;
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_READY);
	t->cold = NULL;
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_ENDED);
	CU_ASSERT_EQUAL(view().name[0], 0);
	end();
}

static void a_foreign_thread_is_never_ready(void)
{
	begin(WEFTI_KIND_FOREIGN);
	store_relaxed(&cold.carrier_tid, 78u);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_UNSEATED);
	CU_ASSERT_EQUAL(view().kind, WEFTI_KIND_FOREIGN);
	CU_ASSERT_EQUAL(view().tid, 78);
	park(WEFTI_WHY_MUTEX, NULL);
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_PARKED);
	end();
}

static void a_body_is_copied_as_far_as_it_is_there(void)
{
	begin(WEFTI_KIND_GREEN);
	memset(cold.name, 'x', sizeof(cold.name));	/* without its end */
	cold.stack_low = (void *)((uintptr_t)&cold - 8192);
	cold.stack_bytes = 8192;
	CU_ASSERT_EQUAL(strlen(view().name), sizeof(cold.name) - 1);
	CU_ASSERT_EQUAL(view().since, 5);
	CU_ASSERT_EQUAL(view().stack_low, (uintptr_t)&cold - 8192);
	CU_ASSERT_EQUAL(view().stack_top, (uintptr_t)&cold);
	cold.stack_bytes = 8192 + sizeof(cold) + 64;	/* a body at the top */
	CU_ASSERT_EQUAL(view().stack_top, (uintptr_t)&cold);
	cold.stack_bytes = 100;
	CU_ASSERT_EQUAL(view().stack_top, (uintptr_t)&cold - 8192 + 100);

	t->cold = (struct wefti_cold *)(void *)nowhere;
	CU_ASSERT_EQUAL(view().state, WEFTI_VIEW_READY);
	CU_ASSERT_EQUAL(view().name[0], 0);
	CU_ASSERT_EQUAL(view().since, 0);
	CU_ASSERT_EQUAL(view().stack_top, 0);
	end();
}

static int is_none(const void *at)
{
	struct wefti_view v;

	memset(&v, 0x5a, sizeof(v));
	wefti_view_thread(at, &v);
	return v.state == WEFTI_VIEW_NONE;
}

static void a_pointer_may_be_anything(void)
{
	static struct wefti_thread copy;
	struct wefti_view v;

	begin(WEFTI_KIND_GREEN);
	wefti_view_thread(t, &v);
	CU_ASSERT_EQUAL(v.state, WEFTI_VIEW_READY);
	CU_ASSERT_PTR_EQUAL(v.at, t);
	copy = *t;
	CU_ASSERT_TRUE(is_none(&copy));
	CU_ASSERT_TRUE(is_none(NULL));
	CU_ASSERT_TRUE(is_none(nowhere));
	CU_ASSERT_TRUE(is_none((char *)t + 8));
	CU_ASSERT_TRUE(is_none((void *)UINTPTR_MAX));
	CU_ASSERT_TRUE(is_none((void *)(uintptr_t)1));
	end();
	CU_ASSERT_TRUE(is_none(t));
}

/* Each of what may change between two looks is seen. */
static void a_view_holds_until_something_changes(void)
{
	struct wefti_view v;

	begin(WEFTI_KIND_GREEN);
	t->ctx.sp = &cold;
	park(WEFTI_WHY_SEM, &cold);
	v = view();
	CU_ASSERT_TRUE(wefti_view_holds(&v));
	t->ctx.sp = t;
	CU_ASSERT_FALSE(wefti_view_holds(&v));
	t->ctx.sp = &cold;
	store_relaxed(&t->wait, (uint64_t)10 << WEFTI_WAIT_SEQ_SHIFT |
		      WEFTI_WAIT_PARKED);
	CU_ASSERT_FALSE(wefti_view_holds(&v));
	park(WEFTI_WHY_SEM, &cold);
	store_relaxed(&vcpu[0].current, t);
	CU_ASSERT_FALSE(wefti_view_holds(&v));
	store_relaxed(&vcpu[0].current, NULL);
	CU_ASSERT_TRUE(wefti_view_holds(&v));
	wefti_thread_turn(t);
	wefti_thread_turn(t);		/* the next in its slot */
	CU_ASSERT_FALSE(wefti_view_holds(&v));
	end();
	v.at = (struct wefti_thread *)(void *)nowhere;
	CU_ASSERT_FALSE(wefti_view_holds(&v));
}

static const struct wefti_thread *holder_of(enum wefti_why why,
					    const void *object)
{
	struct wefti_view v;

	park(why, object);
	v = view();
	return wefti_view_holder(&v);
}

static void a_holder_is_who_can_end_the_wait(void)
{
	static struct wefti_mutex mutex;
	static struct wefti_owned_list list;
	static const enum wefti_why lists[] = {
		WEFTI_WHY_READ_LOCK, WEFTI_WHY_WRITE_LOCK, WEFTI_WHY_ONCE,
	};
	struct wefti_view v;

	begin(WEFTI_KIND_GREEN);
	CU_ASSERT_PTR_NULL(holder_of(WEFTI_WHY_MUTEX, &mutex));
	store_relaxed(&mutex.owner, t);
	store_relaxed(&list.owner, t);
	CU_ASSERT_PTR_EQUAL(holder_of(WEFTI_WHY_MUTEX, &mutex), t);
	CU_ASSERT_PTR_NULL(holder_of(WEFTI_WHY_MUTEX, nowhere));
	CU_ASSERT_PTR_NULL(holder_of(WEFTI_WHY_MUTEX, NULL));
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_PTR_EQUAL(holder_of(lists[i], &list), t);
		CU_ASSERT_PTR_NULL(holder_of(lists[i], nowhere));
	}
	CU_ASSERT_PTR_EQUAL(holder_of(WEFTI_WHY_JOIN, t), t);
	CU_ASSERT_PTR_NULL(holder_of(WEFTI_WHY_SEM, &mutex));
	CU_ASSERT_PTR_NULL(holder_of(WEFTI_WHY_RECV, &mutex));
	park(WEFTI_WHY_MUTEX, &mutex);
	v = view();
	v.state = WEFTI_VIEW_READY;
	CU_ASSERT_PTR_NULL(wefti_view_holder(&v));
	end();
}

static void a_carrier_is_known_if_it_can_be_read(void)
{
	static struct wefti_kthread k = { .tid = 79 };

	begin(WEFTI_KIND_GREEN);
	vcpu[0].kthread = NULL;
	CU_ASSERT_EQUAL(wefti_kthread_carrier(&vcpu[0]), 0);
	vcpu[0].kthread = &k;
	CU_ASSERT_EQUAL(wefti_kthread_carrier(&vcpu[0]), 79);
	vcpu[0].kthread = (struct wefti_kthread *)(void *)nowhere;
	CU_ASSERT_EQUAL(wefti_kthread_carrier(&vcpu[0]), 0);
	CU_ASSERT_EQUAL(wefti_kthread_carrier((void *)nowhere), 0);
	end();
}

static const struct test_case cases[] = {
	TEST(a_slot_without_a_thread_is_none),
	TEST(a_state_follows_from_the_fields),
	TEST(a_foreign_thread_is_never_ready),
	TEST(a_body_is_copied_as_far_as_it_is_there),
	TEST(a_pointer_may_be_anything),
	TEST(a_view_holds_until_something_changes),
	TEST(a_holder_is_who_can_end_the_wait),
	TEST(a_carrier_is_known_if_it_can_be_read),
};

TEST_MAIN("observe/view", cases)
