/* SPDX-License-Identifier: MIT */
/* test_start.c - init: start and stop, wrong uses of them, and what they leave */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "holdings.h"
#include "lockfree/atomic.h"
#include "observe/dump.h"
#include "sched/sanitizer.h"

#define STARTS	1000
#define USERS	4

static void *give_back(void *arg)
{
	return arg;
}

static void *stay(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

static void *stop_from_here(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_stop();
}

static void a_second_start_and_a_stop_before_it_are_refused(void)
{
	CU_ASSERT_EQUAL(weft_stop(), -ESRCH);
	CU_ASSERT_EQUAL(weft_vcpus(), 0);
	runtime_begin();
	CU_ASSERT_TRUE(weft_vcpus() > 0);
	CU_ASSERT_EQUAL(weft_start(NULL), -EALREADY);
	runtime_end();
	CU_ASSERT_EQUAL(weft_stop(), -ESRCH);
	CU_ASSERT_EQUAL(weft_vcpus(), 0);
}

static void only_main_stops_and_only_when_alone(void)
{
	pthread_t thread;
	void *result;
	uint64_t id;

	runtime_begin();
	CU_ASSERT_EQUAL((intptr_t)join(spawn(stop_from_here, NULL)), -EPERM);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_from_here,
					     NULL), 0);
	weft_block_begin();
	pthread_join(thread, &result);
	weft_block_end();
	CU_ASSERT_EQUAL((intptr_t)result, -EPERM);
	id = spawn(stay, NULL);
	CU_ASSERT_EQUAL(weft_stop(), -EBUSY);	/* it is parked */
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	rest();
	CU_ASSERT_EQUAL(weft_stop(), -EBUSY);	/* it has not been joined */
	join(id);
	runtime_end();
}

static void options_out_of_range_are_refused(void)
{
	struct weft_options options = { .vcpus = 257 };

	CU_ASSERT_EQUAL(weft_start(&options), -EINVAL);
	options.vcpus = 0;
	options.slice_ns = -2;
	CU_ASSERT_EQUAL(weft_start(&options), -EINVAL);
	options.slice_ns = 0;
	options.reserved[5] = 1;
	CU_ASSERT_EQUAL(weft_start(&options), -EINVAL);
	CU_ASSERT_EQUAL(weft_vcpus(), 0);
	options.reserved[5] = 0;
	options.vcpus = 3;
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	CU_ASSERT_EQUAL(weft_vcpus(), 3);
	runtime_end();
}

static void *meet(void *barrier)
{
	must(weft_barrier_wait(barrier) >= 0);
	return NULL;
}

static void use(void *(*fn)(void *), void *arg)
{
	uint64_t id[USERS];

	for (unsigned k = 0; k < USERS; k++)
		id[k] = spawn_with(k & WEFT_LIGHT, fn, arg);
	for (int k = 0; k < USERS; k++)
		join(id[k]);
}

/* So many alive at once as there are: later starts have their stacks. */
static void start_use_all_stop(void)
{
	struct weft_barrier barrier;

	CU_ASSERT_EQUAL_FATAL(weft_barrier_init(&barrier, USERS), 0);
	runtime_begin();
	use(meet, &barrier);
	runtime_end();
	CU_ASSERT_EQUAL(weft_barrier_destroy(&barrier), 0);
}

static void start_use_stop(size_t i)
{
	runtime_begin();
	use(give_back, NULL);
	if (i % 64 == 0)
		CU_ASSERT_EQUAL(weft_sleep(10000), 0);
	runtime_end();
}

static void a_thousand_starts_and_stops_leave_nothing(void)
{
	size_t count = test_scaled(STARTS);
	struct holdings before, after;

	/* What a process has once, and pools at their size. */
	start_use_all_stop();
	for (size_t i = 0; i < 50; i++)
		start_use_stop(i);
	start_use_stop(0);
	before = holdings();
	for (size_t i = 0; i < count; i++)
		start_use_stop(i);
	/* The kernel lists one that was joined for a moment yet. */
	while (holdings_entries("/proc/self/task") > before.kernel_threads)
		usleep(1000);
	after = holdings();
	CU_ASSERT_EQUAL(after.descriptors, before.descriptors);
	if (wefti_is_sanitized)
		return;		/* they keep what was freed */
	CU_ASSERT_TRUE(after.maps <= before.maps + 2);
	/* Less than a byte for each start would be; libc's caches vary. */
	CU_ASSERT_TRUE(after.heap <= before.heap + 16384);
	CU_ASSERT_TRUE(after.pages <= before.pages + 64);
}

static void *use_libc(void *arg)
{
	return arg;
}

/* main has been carried by others, and is the first kernel thread again. */
static void main_comes_home(void)
{
	pid_t tid = gettid();
	pthread_t self = pthread_self(), thread;
	int moved = 0;

	runtime_begin();
	errno = 5;
	for (int i = 0; i < 200; i++) {
		join(spawn(give_back, NULL));
		if (i % 4 == 0)
			CU_ASSERT_EQUAL(weft_sleep(1000), 0);
		moved += gettid() != tid;
	}
	CU_ASSERT_EQUAL(errno, 5);
	CU_ASSERT_TRUE(pthread_equal(self, pthread_self()));
	runtime_end();
	printf("    main was elsewhere %d times of 200\n", moved);
	CU_ASSERT_EQUAL(gettid(), tid);
	CU_ASSERT_EQUAL(errno, 5);
	CU_ASSERT_TRUE(pthread_equal(self, pthread_self()));
	CU_ASSERT_EQUAL(pthread_setname_np(self, "home"), 0);
	CU_ASSERT_TRUE(sched_getcpu() >= 0);
	CU_ASSERT_EQUAL(pthread_kill(self, 0), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, use_libc, NULL), 0);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

static const struct test_case cases[] = {
	TEST(a_second_start_and_a_stop_before_it_are_refused),
	TEST(only_main_stops_and_only_when_alone),
	TEST(options_out_of_range_are_refused),
	TEST(main_comes_home),
	TEST(a_thousand_starts_and_stops_leave_nothing),
};

TEST_MAIN("init/start", cases)
