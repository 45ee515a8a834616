/* SPDX-License-Identifier: MIT */
/*
 * test_stat.c - observe/stat: what is counted, on which thread, and from when
 */
#include "threads.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "os/call/clock.h"

#define COUNT	20

static struct weft_stat stat_now(void)
{
	struct weft_stat s;

	memset(&s, 0x5a, sizeof(s));
	CU_ASSERT_EQUAL(weft_stat(&s), 0);
	return s;
}

static void without_a_runtime_nothing_is_filled_in(void)
{
	struct weft_stat s, untouched;

	memset(&s, 0x5a, sizeof(s));
	untouched = s;
	CU_ASSERT_EQUAL(weft_stat(&s), -ESRCH);
	runtime_begin();
	runtime_end();
	CU_ASSERT_EQUAL(weft_stat(&s), -ESRCH);
	CU_ASSERT_EQUAL(memcmp(&s, &untouched, sizeof(s)), 0);
}

static void *give_back(void *arg)
{
	return arg;
}

static void a_runtime_that_has_just_started_has_counted_nothing(void)
{
	for (int i = 0; i < 2; i++) {	/* what was counted before is gone */
		struct weft_stat s;

		runtime_begin();
		s = stat_now();
		CU_ASSERT_EQUAL(s.threads_made, 0);
		CU_ASSERT_EQUAL(s.threads, 0);
		CU_ASSERT_EQUAL(s.threads_peak, 0);
		/* The monitor may have found main blocked already. */
		CU_ASSERT_TRUE(s.kernel_threads >= weft_vcpus());
		if (s.compensations == 0)
			CU_ASSERT_EQUAL(s.kernel_threads, weft_vcpus());
		CU_ASSERT_EQUAL(s.own_tls, (uint64_t)own_tls());
		if (s.compensations == 0)
			CU_ASSERT_EQUAL(s.blocked_ns, 0);
		for (int k = 0; k < 5; k++)
			CU_ASSERT_EQUAL(s.reserved[k], 0);
		for (int k = 0; k < COUNT; k++)
			join(spawn(give_back, NULL));
		runtime_end();
	}
}

static void *wait_for(void *sem)
{
	must(weft_sem_wait(sem) == 0);
	return sem;
}

/* A thread counts until it is joined, or has ended where nobody will. */
static void threads_are_counted_from_spawn_to_join(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	uint64_t id[COUNT];
	struct weft_stat s;

	runtime_begin();
	for (unsigned i = 0; i < COUNT; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait_for, &sem);
	s = stat_now();
	CU_ASSERT_EQUAL(s.threads_made, COUNT);
	CU_ASSERT_EQUAL(s.threads, COUNT);
	CU_ASSERT_EQUAL(s.threads_peak, COUNT);
	for (int i = 0; i < COUNT; i++)
		weft_sem_post(&sem);
	for (int i = 0; i < COUNT; i++) {
		join(id[i]);
		CU_ASSERT_EQUAL(stat_now().threads, (uint64_t)COUNT - 1 -
				(uint64_t)i);
	}
	spawn_with(WEFT_DETACHED, wait_for, &sem);
	CU_ASSERT_EQUAL(stat_now().threads, 1);
	weft_sem_post(&sem);
	while (stat_now().threads > 0)
		rest();
	s = stat_now();
	CU_ASSERT_EQUAL(s.threads_made, COUNT + 1);
	CU_ASSERT_TRUE(s.threads_peak <= COUNT);
	if (weft_vcpus() == 1)		/* else it may be too low */
		CU_ASSERT_EQUAL(s.threads_peak, COUNT);
	runtime_end();
}

static void *spawn_from_outside(void *sem)
{
	uint64_t id[3];

	for (int i = 0; i < 3; i++)
		id[i] = spawn(wait_for, sem);
	for (int i = 0; i < 3; i++)
		weft_sem_post(sem);
	for (int i = 0; i < 3; i++)
		join(id[i]);
	return NULL;
}

static void what_a_foreign_thread_spawns_and_joins_counts_too(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	pthread_t thread;

	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, spawn_from_outside,
					     &sem), 0);
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
	CU_ASSERT_EQUAL(stat_now().threads_made, 3);
	CU_ASSERT_EQUAL(stat_now().threads, 0);
	runtime_end();
}

/* A running thread was switched to. */
static void each_run_of_a_thread_is_a_switch(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	uint64_t before;

	runtime_begin();
	before = stat_now().switches;
	for (int i = 0; i < COUNT; i++) {
		uint64_t id = spawn(wait_for, &sem);

		weft_sem_post(&sem);
		join(id);
	}
	CU_ASSERT_TRUE(stat_now().switches >= before + COUNT);
	runtime_end();
}

static void *read_one(void *fd)
{
	char c;

	weft_block_begin();
	must(read(*(int *)fd, &c, 1) == 1);
	weft_block_end();
	return fd;
}

static void a_blocked_threads_vcpu_is_a_compensation(void)
{
	int end[2];
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	runtime_begin();
	id = spawn(read_one, &end[0]);
	while (stat_now().compensations == 0)
		rest();
	CU_ASSERT_TRUE(stat_now().kernel_threads > weft_vcpus());
	CU_ASSERT_EQUAL(write(end[1], "x", 1), 1);
	join(id);
	runtime_end();
	close(end[0]);
	close(end[1]);
}

static _Atomic(struct wefti_thread *) reader;

static void *say_and_read_one(void *fd)
{
	char c;

	weft_block_begin();
	store_seq_cst(&reader, wefti_self());
	must(read(*(int *)fd, &c, 1) == 1);
	weft_block_end();
	return fd;
}

/* A light thread is not preempted: if it has no VCPU, that has been taken. */
static int reader_has_a_vcpu(void)
{
	struct wefti_thread *t = load_seq_cst(&reader);

	for (unsigned i = 0; t && i < weft_vcpus(); i++)
		if (load_seq_cst(&wefti_vcpu_at(i)->current) == t)
			return 1;
	return !t;
}

static void a_block_counts_from_the_loss_of_the_vcpu_to_its_end(void)
{
	int64_t begun, seen, written;
	uint64_t id, blocked;
	int end[2];

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	runtime_begin();
	begun = wefti_os_now_ns();
	id = spawn_with(WEFT_LIGHT, say_and_read_one, &end[0]);
	while (reader_has_a_vcpu())
		rest();
	seen = wefti_os_now_ns();
	CU_ASSERT_EQUAL(weft_sleep(20000000), 0);
	written = wefti_os_now_ns();
	CU_ASSERT_EQUAL(write(end[1], "x", 1), 1);
	join(id);
	blocked = stat_now().blocked_ns;
	CU_ASSERT_TRUE(blocked >= (uint64_t)(written - seen));
	/* main may have been blocked too. */
	CU_ASSERT_TRUE(blocked <= 2 * (uint64_t)(wefti_os_now_ns() - begun));
	runtime_end();
	close(end[0]);
	close(end[1]);
}

static const struct test_case cases[] = {
	TEST(without_a_runtime_nothing_is_filled_in),
	TEST(a_runtime_that_has_just_started_has_counted_nothing),
	TEST(threads_are_counted_from_spawn_to_join),
	TEST(what_a_foreign_thread_spawns_and_joins_counts_too),
	TEST(each_run_of_a_thread_is_a_switch),
	TEST(a_blocked_threads_vcpu_is_a_compensation),
	TEST(a_block_counts_from_the_loss_of_the_vcpu_to_its_end),
};

TEST_MAIN("observe/stat", cases)
