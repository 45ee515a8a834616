/* SPDX-License-Identifier: MIT */
/*
 * test_scarce.c - sched/scarce: a VCPU that has lost its CPU is found, and
 * several others are woken for its thread
 *
 * Without the runtime: the test is the monitor, the VCPUs are bare structs. One
 * is carried by a kernel thread that computes on the CPU of the test, which
 * keeps that CPU for itself and looks from there. So that kernel thread has
 * lost the CPU whenever the test looks, unless the test loses it in between.
 */
#include "sched/scarce.h"

#include <pthread.h>
#include <sched.h>

#include "bare_vcpus.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "sched/idle.h"
#include "sched/seat.h"
#include "threads.h"

#define VCPUS	8
#define IDLE	(VCPUS - 1)	/* when a case begins */
#define SEVERAL	4		/* are woken for one without its CPU */
#define SOON_NS	INT64_C(3000000)

static struct wefti_vcpu *vcpu[VCPUS];
static struct wefti_kthread carrier;

/* All idle but the first. */
static void begin(void)
{
	struct wefti_thread *heir;

	bare_vcpus(vcpu, VCPUS);
	heir = wefti_known_self();
	vcpu[0]->kthread = &carrier;
	store_relaxed(&vcpu[0]->current, heir);
	store_relaxed(&vcpu[0]->next, heir);
	store_relaxed(&wefti_rt.idle[0], UINT64_C(0xfe));
	store_relaxed(&wefti_rt.idle_count, IDLE);
	store_relaxed(&wefti_rt.searching, 0);
	wefti_scarce_start();
}

static unsigned idle(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < VCPUS; i++)
		n += (unsigned)wefti_idle_is(vcpu[i]);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_rt.idle_count), n);
	return n;
}

static void search_is_over(void)
{
	store_relaxed(&wefti_rt.searching, 0);
}

static _Atomic int carries;
static _Atomic uint32_t stop;

static void *compute(void *unused)
{
	store_seq_cst(&carries, wefti_os_gettid());
	while (!load_relaxed(&stop))
		;
	return unused;
}

static void *sleep_on(void *unused)
{
	store_seq_cst(&carries, wefti_os_gettid());
	while (!load_seq_cst(&stop))
		wefti_os_futex_wait(&stop, 0, INT64_MAX);
	return unused;
}

/* A kernel thread on the test's CPU is the carrier. */
static pthread_t carry(void *(*fn)(void *arg))
{
	pthread_t thread;

	store_seq_cst(&stop, UINT32_C(0));
	store_seq_cst(&carries, 0);
	must(pthread_create(&thread, NULL, fn, NULL) == 0);
	while (!load_seq_cst(&carries))
		wefti_os_yield();
	carrier.tid = load_seq_cst(&carries);
	return thread;
}

static void carry_no_more(pthread_t thread)
{
	store_seq_cst(&stop, 1);
	wefti_os_futex_wake(&stop, 1);
	pthread_join(thread, NULL);
}

static void keep_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	must(sched_setaffinity(0, sizeof(set), &set) == 0);
}

/* Until it has lost its CPU at a look; for one that computes, one is woken. */
static void find(void)
{
	do {
		begin();
		wefti_scarce_help(vcpu[0]);
		CU_ASSERT_TRUE(idle() < IDLE);
	} while (idle() == IDLE - 1);
}

static void for_one_without_its_cpu_several_are_woken(void)
{
	pthread_t thread;

	keep_one_cpu();
	thread = carry(compute);
	find();
	CU_ASSERT_EQUAL(idle(), IDLE - SEVERAL);
	/* Also where they are all that idle, and where one searches. */
	while (idle() == IDLE - SEVERAL)
		wefti_scarce_help(vcpu[0]);
	CU_ASSERT_EQUAL(idle(), 0);
	/* Now nobody is left to be told. */
	wefti_scarce_help(vcpu[0]);
	CU_ASSERT_EQUAL(idle(), 0);
	carry_no_more(thread);
}

static void for_one_that_sleeps_another_is_woken(void)
{
	pthread_t thread;

	keep_one_cpu();
	thread = carry(sleep_on);
	while (!wefti_os_kthread_is_asleep(carrier.tid))
		wefti_os_yield();
	begin();
	wefti_scarce_help(vcpu[0]);
	CU_ASSERT_EQUAL(idle(), IDLE - 1);
	/* That one searches. */
	wefti_scarce_help(vcpu[0]);
	CU_ASSERT_EQUAL(idle(), IDLE - 1);
	carry_no_more(thread);
}

static void where_nothing_lies_nobody_is_woken(void)
{
	begin();
	store_relaxed(&vcpu[0]->next, NULL);
	wefti_scarce_help(vcpu[0]);
	CU_ASSERT_EQUAL(idle(), IDLE);
}

/* Its carrier is not known: it may have no kernel thread yet. */
static void for_one_between_threads_another_is_woken(void)
{
	begin();
	store_relaxed(&vcpu[0]->current, NULL);
	vcpu[0]->kthread = NULL;
	wefti_scarce_help(vcpu[0]);
	CU_ASSERT_EQUAL(idle(), IDLE - 1);
}

/* It returns in time, or where somebody wakes the monitor: else this hangs. */
static void while_cpus_are_scarce_each_look_wakes_another(void)
{
	uint32_t seen = load_seq_cst(&wefti_rt.monitor_wake);
	pthread_t thread;
	unsigned n;

	/* They are not. */
	begin();
	wefti_scarce_wait(seen, INT64_MAX);
	CU_ASSERT_EQUAL(idle(), IDLE);

	keep_one_cpu();
	thread = carry(compute);
	find();
	store_relaxed(&vcpu[0]->next, NULL);
	search_is_over();
	n = idle();
	wefti_scarce_wait(seen + 1, INT64_MAX);		/* was woken */
	CU_ASSERT_EQUAL(idle(), n);
	while (idle() == n)
		wefti_scarce_wait(seen, wefti_os_now_ns() + SOON_NS);
	CU_ASSERT_EQUAL(idle(), n - 1);		/* which searches */
	search_is_over();
	wefti_scarce_wait(seen, INT64_MAX);	/* until looks are used up */
	CU_ASSERT_EQUAL(idle(), n - 2);
	search_is_over();
	wefti_scarce_wait(seen, INT64_MAX);
	CU_ASSERT_EQUAL(idle(), n - 2);
	carry_no_more(thread);
}

static const struct test_case cases[] = {
	TEST(for_one_without_its_cpu_several_are_woken),
	TEST(for_one_that_sleeps_another_is_woken),
	TEST(where_nothing_lies_nobody_is_woken),
	TEST(for_one_between_threads_another_is_woken),
	TEST(while_cpus_are_scarce_each_look_wakes_another),
};

TEST_MAIN("sched/scarce", cases)
