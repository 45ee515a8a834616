/* SPDX-License-Identifier: MIT */
/* Tests of observe/observer: which kernel threads it is, and when. */
#include "child.h"

#include <pthread.h>
#include <semaphore.h>

#include "observe/dump.h"
#include "observe/observer.h"
#include "os/clock.h"
#include "os/tasks.h"

#define SOON_NS		INT64_C(200000000)
#define EARLY_NS	INT64_C(800000000)
#define LATE_NS		INT64_C(1300000000)

static void count_loader(int tid, void *count)
{
	char name[32];

	wefti_os_task_line(tid, "comm", name, sizeof(name));
	*(size_t *)count += strcmp(name, "weft-loader") == 0;
}

/* How often one that loads libunwind was seen, until that time. */
static size_t loaders_until(int64_t at)
{
	size_t n = 0;

	while (wefti_os_now_ns() < at) {
		CU_ASSERT_TRUE(wefti_os_tasks(count_loader, &n) > 0);
		rest();
	}
	return n;
}

static void no_kernel_thread_waits_to_load_libunwind(void)
{
	int64_t began = wefti_os_now_ns();
	unsigned own;
	size_t seen;
	int will_load;

	runtime_begin();
	will_load = wefti_unwind_will_load();
	seen = loaders_until(began + SOON_NS);
	own = wefti_observer_kthreads();
	runtime_end();
	if (wefti_os_now_ns() - began > EARLY_NS) {
		printf("    so slow that it was time to load it\n");
		return;
	}
	CU_ASSERT_TRUE(will_load);
	CU_ASSERT_EQUAL(seen, 0);
	CU_ASSERT_EQUAL(own, 1);
	CU_ASSERT_FALSE(wefti_unwind_will_load());
}

static int ends[2];

static void *block(void *unused)
{
	char c;

	must(read(ends[0], &c, 1) == 1);
	return unused;
}

static int has_spare(void)
{
	return load_seq_cst(&wefti_rt.kthread_count) > wefti_rt.vcpu_count;
}

static void blocks_and_dumps(void)
{
	int64_t began = wefti_os_now_ns();
	uint64_t id;

	must(pipe(ends) == 0);
	must(weft_start(NULL) == 0);
	id = spawn(block, NULL);
	while (!has_spare())
		rest();
	if (wefti_os_now_ns() - began > EARLY_NS)
		fprintf(stderr, "so slow that it was time to load it\n");
	else if (loaders_until(began + LATE_NS) == 0 &&
		 wefti_unwind_will_load())
		fprintf(stderr, "it is not loaded\n");
	must(weft_dump(STDERR_FILENO) == 0);
	must(write(ends[1], "", 1) == 1);
	join(id);
	while (wefti_unwind_will_load())
		rest();
	fprintf(stderr, "it was loaded\n");
	must(weft_stop() == 0);
}

static void who_has_calls_that_block_has_it_loaded_by_a_dump(void)
{
	child_begin(blocks_and_dumps);
	child_end();
	CU_ASSERT(child_said("it is not loaded") || child_said("so slow"));
	CU_ASSERT(child_said("it was loaded"));
	CU_ASSERT_EQUAL(child.status, 0);
}

static void it_is_loaded_after_a_while_and_once(void)
{
	runtime_begin();
	while (wefti_unwind_will_load() && !has_spare())
		rest();
	wefti_unwind_want();
	while (wefti_unwind_will_load())
		rest();
	runtime_end();
	runtime_begin();
	CU_ASSERT_FALSE(wefti_unwind_will_load());
	runtime_end();
}

/* --- one that is lent ---------------------------------------------- */

static sem_t rung;

static void ring(void)
{
	sem_post(&rung);
}

static void *work_when_it_rings(void *unused)
{
	for (;;) {
		sem_wait(&rung);
		wefti_observer_work();
	}
	return unused;
}

static void lends_a_kernel_thread(void)
{
	pthread_t t;

	sem_init(&rung, 0, 0);
	must(pthread_create(&t, NULL, work_when_it_rings, NULL) == 0);
	wefti_observer_lend(ring);
	must(weft_start(NULL) == 0);
	fprintf(stderr, "of its own: %u\n", wefti_observer_kthreads());
	wefti_observer_on_quit(SIGQUIT, NULL, NULL);	/* as a layer above */
	child_wait();
	must(weft_stop() == 0);
	fprintf(stderr, "stopped, and wants no more: %d\n",
		wefti_observer_work() == INT64_MAX);
}

static void who_is_lent_writes_the_dump(void)
{
	child_begin(lends_a_kernel_thread);
	CU_ASSERT(child_expect("weft: end of dump\n"));
	CU_ASSERT(child_said("of its own: 0\n"));
	CU_ASSERT(child_said("weft: SIGQUIT\n"));
	child_go();
	child_end();
	CU_ASSERT(child_said("stopped, and wants no more: 1\n"));
	CU_ASSERT_EQUAL(child.status, 0);
}

/* It is loaded once in a process: its child goes first. */
static const struct test_case cases[] = {
	TEST(who_has_calls_that_block_has_it_loaded_by_a_dump),
	TEST(who_is_lent_writes_the_dump),
	TEST(no_kernel_thread_waits_to_load_libunwind),
	TEST(it_is_loaded_after_a_while_and_once),
};

TEST_MAIN("observe/observer", cases)
