/* SPDX-License-Identifier: MIT */
/*
 * test_stop.c - init/stop: a stop that is refused changes nothing, one that is
 * not leaves no kernel thread, and a foreign thread goes on over it
 *
 * Which threads may stop, and what a thousand starts leave: test_start.c.
 */
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdings.h"
#include "lockfree/atomic.h"

static void *post(void *sem)
{
	weft_sem_post(sem);
	return NULL;
}

static void *park(void *sem)
{
	must(weft_sem_wait(sem) == 0);
	must(weft_sleep(1000) == 0);
	return sem;
}

static void a_stop_that_is_refused_changes_nothing(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	struct weft_stat before, after;
	uint64_t id;

	runtime_begin();
	id = spawn(park, &sem);
	CU_ASSERT_EQUAL(weft_stat(&before), 0);
	for (int i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(weft_stop(), -EBUSY);
	CU_ASSERT_EQUAL(weft_stat(&after), 0);
	CU_ASSERT_TRUE(weft_vcpus() > 0);
	CU_ASSERT_TRUE(after.kernel_threads >= weft_vcpus());
	CU_ASSERT_EQUAL(after.threads, 1);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_self()->in_runtime), 0);
	join(spawn(post, &sem));		/* threads, timers */
	CU_ASSERT_PTR_EQUAL(join(id), &sem);
	runtime_end();
}

/* As _Fork() does it: no handler of libc's runs in the child. */
static void a_child_of_the_kernels_alone_has_nothing_to_stop(void)
{
	int status = -1;
	long pid;

	runtime_begin();
	pid = clone_alone();
	if (pid == 0)
		exit_alone(weft_stop() == -ESRCH ? 0 : 1);
	CU_ASSERT_EQUAL(waitpid((pid_t)pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	runtime_end();
}

static void after_a_stop_there_is_no_runtime(void)
{
	struct weft_attr attr = { .flags = WEFT_LIGHT };
	struct weft_stat s;
	uint64_t id = 77;
	int fd = memfd_create("dump", 0);

	runtime_begin();
	runtime_end();
	CU_ASSERT_EQUAL(weft_stop(), -ESRCH);
	CU_ASSERT_EQUAL(weft_spawn(&id, &attr, post, NULL), -ESRCH);
	CU_ASSERT_EQUAL(id, 77);
	CU_ASSERT_EQUAL(weft_stat(&s), -ESRCH);
	CU_ASSERT_EQUAL(weft_dump(fd), -ESRCH);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_END), 0);
	CU_ASSERT_EQUAL(weft_vcpus(), 0);
	for (unsigned i = 0; i < WEFTI_VCPUS_MAX; i++)
		CU_ASSERT_PTR_NULL(wefti_rt.vcpu[i]);
	close(fd);
}

static void *read_one(void *fd)
{
	char c;

	weft_block_begin();
	must(read(*(int *)fd, &c, 1) == 1);
	weft_block_end();
	return fd;
}

/* Kernel threads that wait for work, and the spares of a blocked thread. */
static void a_stop_joins_all_kernel_threads(void)
{
	size_t before = holdings_entries("/proc/self/task");
	int end[2];

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	for (unsigned vcpus = 1; vcpus <= 8; vcpus += 3) {
		struct weft_options options = { .vcpus = vcpus };
		uint64_t id[3];

		CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
		for (int i = 0; i < 3; i++)
			id[i] = spawn(read_one, &end[0]);
		while (load_relaxed(&wefti_rt.kthread_count) <= vcpus)
			rest();
		CU_ASSERT_EQUAL(write(end[1], "xyz", 3), 3);
		for (int i = 0; i < 3; i++)
			join(id[i]);
		runtime_end();
		CU_ASSERT_PTR_NULL(load_relaxed(&wefti_rt.all));
		/* The kernel lists one that was joined for a moment yet. */
		while (holdings_entries("/proc/self/task") > before)
			usleep(1000);
	}
	close(end[0]);
	close(end[1]);
}

struct foreign {
	struct weft_sem is_there, sem, never;
	int end[2];
	int result[3];
	char c;
};

/* All three waits begin in one runtime and end in none. */
static void *wait_outside(void *arg)
{
	struct foreign *f = arg;

	weft_sem_post(&f->is_there);
	f->result[0] = weft_sem_wait(&f->sem);
	f->result[1] = weft_sem_wait_until(&f->never, weft_clock() + 1000000);
	f->result[2] = (int)weft_read(f->end[0], &f->c, 1);
	return NULL;
}

static void a_foreign_threads_wait_goes_on_over_a_stop(void)
{
	struct foreign f = { .c = 0 };
	pthread_t thread;

	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(weft_pipe(f.end, 0), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wait_outside, &f),
			      0);
	CU_ASSERT_EQUAL(weft_sem_wait(&f.is_there), 0);
	runtime_end();
	weft_sem_post(&f.sem);
	CU_ASSERT_EQUAL(weft_write(f.end[1], "x", 1), 1);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(f.result[0], 0);
	CU_ASSERT_EQUAL(f.result[1], -ETIMEDOUT);
	CU_ASSERT_EQUAL(f.result[2], 1);
	CU_ASSERT_EQUAL(f.c, 'x');
	weft_close(f.end[0]);
	weft_close(f.end[1]);
}

static void *read_outside(void *arg)
{
	struct foreign *f = arg;

	weft_sem_post(&f->is_there);
	f->result[0] = (int)weft_read(f->end[0], &f->c, 1);
	return NULL;
}

/* It waits by itself from then on, and in the next runtime too. */
static void a_foreign_thread_that_reads_gets_what_comes_after_the_stop(void)
{
	for (int next = 0; next < 2; next++) {
		struct foreign f = { .c = 0 };
		pthread_t thread;

		runtime_begin();
		CU_ASSERT_EQUAL_FATAL(weft_pipe(f.end, 0), 0);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
						     read_outside, &f), 0);
		CU_ASSERT_EQUAL(weft_sem_wait(&f.is_there), 0);
		(void)weft_sleep(2000000);	/* it is in its wait, mostly */
		runtime_end();
		if (next)
			runtime_begin();
		CU_ASSERT_EQUAL(weft_write(f.end[1], "y", 1), 1);
		if (next)
			weft_block_begin();
		pthread_join(thread, NULL);
		if (next)
			weft_block_end();
		CU_ASSERT_EQUAL(f.result[0], 1);
		CU_ASSERT_EQUAL(f.c, 'y');
		weft_close(f.end[0]);
		weft_close(f.end[1]);
		if (next)
			runtime_end();
	}
}

static const struct test_case cases[] = {
	TEST(a_stop_that_is_refused_changes_nothing),
	TEST(a_child_of_the_kernels_alone_has_nothing_to_stop),
	TEST(after_a_stop_there_is_no_runtime),
	TEST(a_stop_joins_all_kernel_threads),
	TEST(a_foreign_threads_wait_goes_on_over_a_stop),
	TEST(a_foreign_thread_that_reads_gets_what_comes_after_the_stop),
};

TEST_MAIN("init/stop", cases)
