/* SPDX-License-Identifier: MIT */
/*
 * test_loop.c - sched/loop: what a kernel thread is to others while it runs a
 * thread, while it has none, and when it has lost its VCPU
 */
#include <pthread.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/kthread/kthread.h"
#include "os/kthread/quiescent.h"
#include "threads.h"

struct scene {
	struct weft_sem sem;
	_Atomic int done;
	_Atomic uint64_t computing;
	uint64_t compensations;
	int end[2];
};

/* From here it is somebody else's kernel thread that waits, not a loop. */
static void run_beside(void *(*fn)(void *arg), struct scene *s,
		       void (*meanwhile)(struct scene *s))
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fn, s), 0);
	meanwhile(s);
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
}

static void compute(struct scene *s)
{
	fetch_add_seq_cst(&s->computing, 1);
	while (!load_seq_cst(&s->done))
		;
}

static void *compute_too(void *arg)
{
	compute(arg);
	return NULL;
}

static void *wait_beside_all(void *arg)
{
	struct scene *s = arg;

	while (load_seq_cst(&s->computing) < wefti_rt.vcpu_count)
		wefti_os_yield();
	must(wefti_os_quiescent_wait() == 0);
	store_seq_cst(&s->done, 1);
	return NULL;
}

/*
 * A thread that computes for ever would hold up a thread that frees a record.
 */
static void a_grace_period_does_not_wait_for_threads_that_compute(void)
{
	const struct weft_options o = { .slice_ns = -1 };
	struct scene s = { .done = 0 };
	uint64_t id[WEFTI_VCPUS_MAX];

	CU_ASSERT_EQUAL_FATAL(weft_start(&o), 0);
	for (unsigned i = 1; i < wefti_rt.vcpu_count; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, compute_too, &s);
	run_beside(wait_beside_all, &s, compute);
	for (unsigned i = 1; i < wefti_rt.vcpu_count; i++)
		join(id[i]);
	runtime_end();
}

static int all_idle(void)
{
	return load_seq_cst(&wefti_rt.idle_count) == wefti_rt.vcpu_count;
}

static void *wait_beside_idle(void *arg)
{
	struct scene *s = arg;

	/* Nor is one of them the searching VCPU for ever. */
	while (!all_idle() || load_seq_cst(&wefti_rt.searching))
		wefti_os_yield();
	must(wefti_os_quiescent_wait() == 0);
	must(weft_sem_post(&s->sem) == 0);
	return NULL;
}

static void park(struct scene *s)
{
	CU_ASSERT_EQUAL(weft_sem_wait(&s->sem), 0);
}

static void nor_for_vcpus_that_idle(void)
{
	struct scene s = { .done = 0 };

	runtime_begin();
	for (int i = 0; i < 20; i++)
		run_beside(wait_beside_idle, &s, park);
	runtime_end();
}

/* When the VCPU was taken from the one that reads. */
static void *feed(void *arg)
{
	struct scene *s = arg;

	while (load_seq_cst(&wefti_rt.compensations) == s->compensations)
		wefti_os_yield();
	must(write(s->end[1], "x", 1) == 1);
	return NULL;
}

static void *read_blocking(void *arg)
{
	struct scene *s = arg;
	char c;

	weft_block_begin();
	must(read(s->end[0], &c, 1) == 1);
	weft_block_end();
	weft_yield();	/* notices here at last */
	store_seq_cst(&s->done, 1);
	return NULL;
}

static void block(struct scene *s)
{
	join(spawn(read_blocking, s));
}

/* It has lost its VCPU to another, and its thread has gone on elsewhere. */
static void a_kernel_thread_without_its_vcpu_stands_by(void)
{
	struct scene s = { .done = 0 };

	CU_ASSERT_EQUAL_FATAL(pipe(s.end), 0);
	runtime_begin();
	for (int i = 0; i < 10; i++) {
		s.compensations = load_seq_cst(&wefti_rt.compensations);
		store_seq_cst(&s.done, 0);
		run_beside(feed, &s, block);
		CU_ASSERT_TRUE(load_seq_cst(&s.done));
		while (load_seq_cst(&wefti_rt.spare_count) == 0)
			rest();
	}
	runtime_end();
	CU_ASSERT_PTR_NULL(load_seq_cst(&wefti_rt.all));
	close(s.end[0]);
	close(s.end[1]);
}

static const struct test_case cases[] = {
	TEST(a_grace_period_does_not_wait_for_threads_that_compute),
	TEST(nor_for_vcpus_that_idle),
	TEST(a_kernel_thread_without_its_vcpu_stands_by),
};

TEST_MAIN("sched/loop", cases)
