/* SPDX-License-Identifier: MIT */
/*
 * test_kthread.c - sched/kthread: kernel threads are made, listed, and given
 * away; and what is left when they cannot be made
 *
 * Without the runtime: the test is the monitor, which ends those that it made.
 */
#include <errno.h>
#include <string.h>

#include "cpu.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/signal/signal.h"
#include "sched/loop.h"
#include "sched/preempt.h"
#include "sched/seat.h"
#include "sched/spare.h"
#include "thread/bare.h"
#include "threads.h"

static int refused;	/* by these two, when it is set */

int __real_wefti_os_kthread_create(struct wefti_os_kthread *k, size_t bytes,
		void (*run)(void *arg), void *arg, const char *name);
int __wrap_wefti_os_kthread_create(struct wefti_os_kthread *k, size_t bytes,
		void (*run)(void *arg), void *arg, const char *name);
struct wefti_thread *__real_wefti_thread_bare(enum wefti_kind kind,
		struct wefti_cold *cold);
struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
		struct wefti_cold *cold);

int __wrap_wefti_os_kthread_create(struct wefti_os_kthread *k, size_t bytes,
		void (*run)(void *arg), void *arg, const char *name)
{
	return refused == -EAGAIN ? refused :
	       __real_wefti_os_kthread_create(k, bytes, run, arg, name);
}

struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
		struct wefti_cold *cold)
{
	return refused == -ENOMEM ? NULL :
	       __real_wefti_thread_bare(kind, cold);
}

static void begin(void)
{
	CU_ASSERT_PTR_NULL_FATAL(load_relaxed(&wefti_rt.all));
	CU_ASSERT_EQUAL_FATAL(load_relaxed(&wefti_rt.kthread_count), 0);
	store_relaxed(&wefti_rt.kthreads_made, 1);	/* 0 is the first one */
	wefti_spares_reset();
}

/* As sched/spare.c does it. */
static void end(struct wefti_kthread *k)
{
	store_seq_cst(&k->ends, 1);
	fetch_add_seq_cst(&k->wake, 1);
	wefti_os_futex_wake(&k->wake, 1);
	wefti_os_kthread_join(&k->handle);
	wefti_kthread_unlist(k);
	CU_ASSERT_PTR_NULL(k->reader);	/* gone from the grace periods too */
	wefti_kthread_free(k);
}

static struct wefti_kthread *start(void)
{
	struct wefti_kthread *k = NULL;

	CU_ASSERT_EQUAL_FATAL(wefti_kthread_start(NULL, &k), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	return k;
}

static void a_new_one_has_a_loop_that_is_inside_the_runtime(void)
{
	struct wefti_kthread *k = wefti_kthread_new();
	uint32_t slot;

	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	CU_ASSERT_EQUAL((uintptr_t)k % CACHE_LINE, 0);
	CU_ASSERT_EQUAL(k->sched->kind, WEFTI_KIND_SCHED);
	CU_ASSERT_EQUAL(load_relaxed(&k->sched->in_runtime), 1);
	CU_ASSERT_PTR_EQUAL(k->sched->cold, &k->cold);
	CU_ASSERT_PTR_NULL(k->vcpu);
	CU_ASSERT_PTR_NULL(k->reader);
	slot = k->sched->slot;
	wefti_kthread_free(k);
	/* Its struct is free again. */
	k = wefti_kthread_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	CU_ASSERT_EQUAL(k->sched->slot, slot);
	wefti_kthread_free(k);
	refused = -ENOMEM;
	CU_ASSERT_PTR_NULL(wefti_kthread_new());
	refused = 0;
}

static void one_without_a_vcpu_is_reserved_and_numbered(void)
{
	struct wefti_kthread *k[3];

	begin();
	for (unsigned i = 0; i < 3; i++) {
		k[i] = start();
		CU_ASSERT_EQUAL(k[i]->number, i + 1);
		CU_ASSERT_EQUAL(load_seq_cst(&k[i]->reserved), 1);
		CU_ASSERT_EQUAL(load_seq_cst(&k[i]->listed), 0);
		CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), i + 1);
		CU_ASSERT_PTR_EQUAL(load_seq_cst(&wefti_rt.all), k[i]);
	}
	CU_ASSERT_STRING_EQUAL(k[1]->handle.name, "weft-2");
	/* Out of the middle, of the end and of the front of the list. */
	end(k[1]);
	CU_ASSERT_PTR_EQUAL(load_seq_cst(&wefti_rt.all), k[2]);
	CU_ASSERT_PTR_EQUAL(load_seq_cst(&k[2]->all_next), k[0]);
	end(k[0]);
	CU_ASSERT_PTR_NULL(load_seq_cst(&k[2]->all_next));
	end(k[2]);
	CU_ASSERT_PTR_NULL(load_seq_cst(&wefti_rt.all));
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 0);
}

/* What it has put down about itself when it waits for work. */
static void it_knows_itself_when_it_waits(void)
{
	struct wefti_kthread *k;

	begin();
	k = start();
	wefti_spare_give(k, NULL);
	while (!load_seq_cst(&k->listed))
		wefti_os_yield();
	CU_ASSERT_NOT_EQUAL(k->tid, 0);
	CU_ASSERT_NOT_EQUAL(k->tid, wefti_os_gettid());
	CU_ASSERT_TRUE(wefti_os_kthread_cpu_ns(k->tid) >= 0);
	CU_ASSERT_NOT_EQUAL(k->tp, wefti_arch_tp_get());
	CU_ASSERT_PTR_EQUAL(*k->self_slot, k->sched);
	CU_ASSERT_PTR_NOT_NULL(k->reader);
	CU_ASSERT_PTR_NULL(wefti_self());	/* that was its own word */
	end(k);
}

static void one_that_cannot_be_made_leaves_nothing(void)
{
	static struct wefti_vcpu v;
	struct wefti_kthread *k, *out;

	begin();
	k = start();
	for (int i = 0; i < 4; i++) {
		refused = i % 2 ? -EAGAIN : -ENOMEM;
		out = k;
		CU_ASSERT_EQUAL(wefti_kthread_start(i / 2 ? &v : NULL, &out),
				refused);
		refused = 0;
		CU_ASSERT_PTR_EQUAL(out, k);	/* not touched */
		CU_ASSERT_PTR_EQUAL(load_seq_cst(&wefti_rt.all), k);
		CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 1);
	}
	out = start();
	CU_ASSERT_PTR_EQUAL(load_seq_cst(&out->all_next), k);
	end(k);
	end(out);
}

/* As a thread that insists may find the VCPU, if the monitor has just given it away. */
static void one_that_has_not_begun_is_sent_no_signal(void)
{
	static struct wefti_kthread k;
	static struct wefti_vcpu v = { .kthread = &k };
	static struct wefti_thread t = { .tp = 1 };

	CU_ASSERT_EQUAL(wefti_preempt(&v, &t), 1);
}

static const struct test_case cases[] = {
	TEST(a_new_one_has_a_loop_that_is_inside_the_runtime),
	TEST(one_without_a_vcpu_is_reserved_and_numbered),
	TEST(it_knows_itself_when_it_waits),
	TEST(one_that_cannot_be_made_leaves_nothing),
	TEST(one_that_has_not_begun_is_sent_no_signal),
};

TEST_MAIN("sched/kthread", cases)
