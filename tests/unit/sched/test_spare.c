/* SPDX-License-Identifier: MIT */
/*
 * test_spare.c - sched/spare: a waiting kernel thread is found, given what it
 * waits for, and ended when it was not needed
 *
 * Without the runtime: the test is the monitor, and the time is the test's.
 */
#include "sched/spare.h"

#include <pthread.h>

#include "os/call/futex.h"
#include "sched/loop.h"
#include "threads.h"

#define SECOND	INT64_C(1000000000)
#define WAITERS	3
#define GIFTS	3000

/* A kernel thread that does nothing but wait for a VCPU. */
struct waiter {
	struct wefti_kthread *k;
	pthread_t thread;
	_Atomic size_t got[2];
	_Atomic int nothing;	/* it was let go without */
};

static struct wefti_vcpu vcpus[2];
static struct waiter waiter[WAITERS];

static void *wait_for_vcpus(void *arg)
{
	struct waiter *w = arg;
	struct wefti_vcpu *v;

	while ((v = wefti_spare_wait(w->k))) {
		must(v == &vcpus[0] || v == &vcpus[1]);
		fetch_add_seq_cst(&w->got[v - vcpus], 1);
	}
	store_seq_cst(&w->nothing, 1);
	return NULL;
}

static void begin(uint32_t most)
{
	wefti_spares_reset();
	store_relaxed(&wefti_rt.state, WEFTI_RT_OFF);
	store_relaxed(&wefti_rt.kthreads_made, 1);
	wefti_rt.vcpu_count = 0;
	wefti_rt.settings.spare_max = most;
	wefti_rt.cap_reported = 1;	/* that it says so is in test_seat.c */
}

static void start_waiters(unsigned n, uint32_t number)
{
	for (unsigned i = 0; i < n; i++) {
		waiter[i] = (struct waiter){ .k = wefti_kthread_new() };
		CU_ASSERT_PTR_NOT_NULL_FATAL(waiter[i].k);
		waiter[i].k->number = number + i;
		CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter[i].thread, NULL,
				wait_for_vcpus, &waiter[i]), 0);
	}
}

static void await_spares(unsigned n)
{
	while (load_seq_cst(&wefti_rt.spare_count) != n)
		wefti_os_yield();
}

static void wake(struct wefti_kthread *k)
{
	fetch_add_seq_cst(&k->wake, 1);
	wefti_os_futex_wake(&k->wake, 1);
}

static void join_waiters(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		store_seq_cst(&waiter[i].k->ends, 1);
		wake(waiter[i].k);
		pthread_join(waiter[i].thread, NULL);
		CU_ASSERT_TRUE(load_seq_cst(&waiter[i].nothing));
		wefti_kthread_free(waiter[i].k);
	}
	wefti_spares_reset();
}

static size_t gifts(unsigned n, int which)
{
	size_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += load_seq_cst(&waiter[i].got[which]);
	return sum;
}

static void a_waiting_spare_is_reserved_once_and_gets_its_vcpu(void)
{
	struct wefti_kthread *k[2];

	begin(0);
	CU_ASSERT_PTR_NULL(wefti_spare_reserve());	/* none, and no room */
	start_waiters(2, 1);
	await_spares(2);
	for (int i = 0; i < 2; i++) {
		k[i] = wefti_spare_reserve();
		CU_ASSERT_PTR_NOT_NULL_FATAL(k[i]);
		CU_ASSERT_EQUAL(load_seq_cst(&k[i]->reserved), 1);
	}
	CU_ASSERT_PTR_NOT_EQUAL(k[0], k[1]);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 0);
	CU_ASSERT_PTR_NULL(wefti_spare_reserve());
	for (int i = 0; i < 2; i++) {
		wake(k[i]);	/* it has nothing, and stays reserved */
		wefti_spare_give(k[i], &vcpus[i]);
		CU_ASSERT_PTR_EQUAL(vcpus[i].kthread, k[i]);
	}
	/* They come again when they have carried it. */
	await_spares(2);
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(gifts(2, i), 1);
	/* Given nothing, it is an ordinary spare again. */
	k[0] = wefti_spare_reserve();
	wefti_spare_give(k[0], NULL);
	await_spares(2);
	CU_ASSERT_EQUAL(gifts(2, 0) + gifts(2, 1), 2);
	CU_ASSERT_FALSE(load_seq_cst(&waiter[0].nothing));
	join_waiters(2);
}

/* However giving and coming back fall together, none is lost and none doubled. */
static void each_gift_arrives_once(void)
{
	size_t n = test_scaled(GIFTS);

	begin(0);
	start_waiters(WAITERS, 1);
	for (size_t i = 0; i < n; i++) {
		struct wefti_kthread *k;

		while (!(k = wefti_spare_reserve()))
			wefti_os_yield();
		if (i % 3 == 0)
			wake(k);
		wefti_spare_give(k, i % 4 ? &vcpus[i % 2] : NULL);
	}
	await_spares(WAITERS);
	CU_ASSERT_EQUAL(gifts(WAITERS, 0), n / 2 - (n + 3) / 4 + n % 2);
	CU_ASSERT_EQUAL(gifts(WAITERS, 1), n / 2);
	join_waiters(WAITERS);
}

static void what_is_asked_of_it_ends_its_wait(void)
{
	begin(0);
	for (int what = 0; what < 3; what++) {
		start_waiters(1, 1);
		if (what < 2)
			await_spares(1);
		if (what == 0)
			store_seq_cst(&waiter[0].k->adopt, waiter[0].k->sched);
		else if (what == 1)
			store_seq_cst(&wefti_rt.state, WEFTI_RT_STOPPING);
		else
			store_seq_cst(&waiter[0].k->ends, 1);
		wake(waiter[0].k);
		pthread_join(waiter[0].thread, NULL);
		CU_ASSERT_TRUE(load_seq_cst(&waiter[0].nothing));
		wefti_kthread_free(waiter[0].k);
		begin(0);
	}
	/* The first one, main's home, does not end with the runtime. */
	start_waiters(1, 0);
	await_spares(1);
	store_seq_cst(&wefti_rt.state, WEFTI_RT_STOPPING);
	wake(waiter[0].k);
	CU_ASSERT_PTR_EQUAL(wefti_spare_reserve(), waiter[0].k);
	wefti_spare_give(waiter[0].k, &vcpus[0]);
	await_spares(1);
	CU_ASSERT_EQUAL(gifts(1, 0), 1);
	CU_ASSERT_FALSE(load_seq_cst(&waiter[0].nothing));
	store_seq_cst(&wefti_rt.state, WEFTI_RT_OFF);
	join_waiters(1);
}

/* These are made by sched/kthread.c, since they are ended here. */
static void those_not_needed_for_a_second_are_ended_but_for_one(void)
{
	struct wefti_kthread *k[4];

	begin(4);
	for (int i = 0; i < 4; i++) {
		k[i] = wefti_spare_reserve();
		CU_ASSERT_PTR_NOT_NULL_FATAL(k[i]);
	}
	CU_ASSERT_PTR_NULL(wefti_spare_reserve());	/* the most there are */
	for (int i = 0; i < 4; i++)
		wefti_spare_give(k[i], NULL);
	await_spares(4);
	CU_ASSERT_EQUAL(wefti_spares_trim(SECOND), 1);	/* a second begins */
	CU_ASSERT_EQUAL(wefti_spares_trim(2 * SECOND - 1), 1);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 4);
	/* Two of them are needed for a moment. */
	k[0] = wefti_spare_reserve();
	k[1] = wefti_spare_reserve();
	CU_ASSERT_EQUAL(wefti_spares_trim(2 * SECOND - 1), 1);
	wefti_spare_give(k[0], NULL);
	wefti_spare_give(k[1], NULL);
	await_spares(4);
	/* So of the two that were not, one is too many; but a layer above says no. */
	store_relaxed(&wefti_spares_stay, 1);
	CU_ASSERT_EQUAL(wefti_spares_trim(2 * SECOND), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 4);
	store_relaxed(&wefti_spares_stay, 0);
	CU_ASSERT_EQUAL(wefti_spares_trim(2 * SECOND), 1);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 3);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 3);
	CU_ASSERT_EQUAL(wefti_spares_trim(3 * SECOND), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 1);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 1);
	CU_ASSERT_EQUAL(wefti_spares_trim(9 * SECOND), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 1);
	/* There is room for others again. */
	k[0] = wefti_spare_reserve();
	k[1] = wefti_spare_reserve();
	CU_ASSERT_TRUE_FATAL(k[0] && k[1] && k[0] != k[1]);
	store_seq_cst(&wefti_rt.state, WEFTI_RT_STOPPING);
	for (int i = 0; i < 2; i++) {
		wefti_spare_give(k[i], NULL);
		wefti_os_kthread_join(&k[i]->handle);
		wefti_kthread_unlist(k[i]);
		wefti_kthread_free(k[i]);
	}
	begin(0);
}

/* The linker puts this in the place of wefti_os_kthread_has_children(). */
static _Atomic int are_parents;

int __wrap_wefti_os_kthread_has_children(int tid);

int __wrap_wefti_os_kthread_has_children(int tid)
{
	(void)tid;
	return load_seq_cst(&are_parents);
}

/* As long as they do; and the monitor does not wait for it. */
static void those_that_must_stay_are_not_ended(void)
{
	struct wefti_kthread *k[4];

	begin(4);
	for (int i = 0; i < 4; i++) {
		k[i] = wefti_spare_reserve();
		CU_ASSERT_PTR_NOT_NULL_FATAL(k[i]);
	}
	for (int i = 0; i < 4; i++)
		wefti_spare_give(k[i], NULL);
	await_spares(4);
	store_seq_cst(&are_parents, 1);
	CU_ASSERT_EQUAL(wefti_spares_trim(SECOND), 1);
	(void)wefti_spares_trim(2 * SECOND);
	await_spares(4);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 4);
	CU_ASSERT_EQUAL(wefti_spares_trim(2 * SECOND + 1), 0);
	store_seq_cst(&are_parents, 0);
	(void)wefti_spares_trim(3 * SECOND);
	(void)wefti_spares_trim(4 * SECOND);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.spare_count), 1);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 1);
	k[0] = wefti_spare_reserve();
	CU_ASSERT_PTR_NOT_NULL_FATAL(k[0]);
	store_seq_cst(&wefti_rt.state, WEFTI_RT_STOPPING);
	wefti_spare_give(k[0], NULL);
	wefti_os_kthread_join(&k[0]->handle);
	wefti_kthread_unlist(k[0]);
	wefti_kthread_free(k[0]);
	begin(0);
}

/* Main's home stays in place of another, not beside it: or nothing would sleep. */
static void mains_home_or_another_is_kept(void)
{
	struct wefti_kthread *k;

	begin(1);
	k = wefti_spare_reserve();
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	wefti_spare_give(k, NULL);
	await_spares(1);
	start_waiters(1, 0);
	await_spares(2);
	(void)wefti_spares_trim(SECOND);
	(void)wefti_spares_trim(2 * SECOND);
	await_spares(1);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_rt.kthread_count), 0);
	CU_ASSERT_EQUAL(wefti_spares_trim(2 * SECOND + 1), 0);
	join_waiters(1);
}

static const struct test_case cases[] = {
	TEST(a_waiting_spare_is_reserved_once_and_gets_its_vcpu),
	TEST(each_gift_arrives_once),
	TEST(what_is_asked_of_it_ends_its_wait),
	TEST(those_not_needed_for_a_second_are_ended_but_for_one),
	TEST(those_that_must_stay_are_not_ended),
	TEST(mains_home_or_another_is_kept),
};

TEST_MAIN("sched/spare", cases)
