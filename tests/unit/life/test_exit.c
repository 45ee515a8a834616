/* SPDX-License-Identifier: MIT */
/* test_exit.c - life/exit: from any depth, detached, and the first thread's */
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "sched/timer.h"

#define DETACHED	2000

static __attribute__((noinline)) int go_down(int depth, void *result)
{
	volatile int below = depth;

	if (below > 0)
		below = go_down(depth - 1, result);
	else if (result)
		weft_exit(result);
	return below + 1;
}

static void *exit_below(void *arg)
{
	go_down(50, arg);
	return NULL;
}

static void a_thread_exits_from_any_depth_with_its_result(void)
{
	int x;

	runtime_begin();
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++)
		CU_ASSERT_PTR_EQUAL(join(spawn_with(flags, exit_below, &x)),
				    &x);
	runtime_end();
}

static void *count(void *arg)
{
	weft_yield();
	fetch_add_relaxed((_Atomic size_t *)arg, 1);
	return NULL;
}

static void detached_threads_give_everything_back(void)
{
	size_t n = test_scaled(DETACHED);
	_Atomic size_t ran = 0;

	runtime_begin();
	for (size_t i = 0; i < n; i++)
		spawn_with(WEFT_DETACHED | (i & WEFT_LIGHT), count, &ran);
	while (load_relaxed(&ran) < n)
		rest();
	/* They still have to leave their stacks. */
	runtime_end_at_last();
	CU_ASSERT_EQUAL(weft_stop(), -ESRCH);
}

static _Atomic size_t main_count;
static int report[2];

static void *outlive_main(void *arg)
{
	(void)arg;
	weft_sleep(20000000);
	fetch_add_relaxed(&main_count, 1);
	return NULL;
}

static void report_count(void)
{
	size_t n = load_relaxed(&main_count);

	if (write(report[1], &n, sizeof(n)) != sizeof(n))
		_exit(99);
}

/* What the child, which ends well, has counted at its exit. */
static size_t count_of_child(void (*scenario)(void))
{
	size_t n = 0;
	int status;
	pid_t child;

	store_relaxed(&main_count, 0);
	CU_ASSERT_EQUAL_FATAL(pipe(report), 0);
	child = fork();
	if (child == 0)
		scenario();
	close(report[1]);
	CU_ASSERT_EQUAL(read(report[0], &n, sizeof(n)), sizeof(n));
	close(report[0]);
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return n;
}

static void in_child(void)
{
	atexit(report_count);
	if (weft_start(NULL) != 0)
		_exit(98);
	for (int i = 0; i < 5; i++)
		spawn_with(WEFT_DETACHED, outlive_main, NULL);
	weft_exit(NULL);
}

static void the_first_thread_waits_for_the_others_and_ends_the_process(void)
{
	CU_ASSERT_EQUAL(count_of_child(in_child), 5);
}

/* It has a thread that ends when main waits, and that no thread will join. */
static void *outlive_main_too(void *arg)
{
	spawn_with(0, outlive_main, NULL);
	return arg;
}

static void leave_unjoined_in_child(void)
{
	atexit(report_count);
	if (weft_start(NULL) != 0)
		_exit(98);
	for (int i = 0; i < 3; i++)
		spawn_with(0, outlive_main_too, NULL);
	weft_exit(NULL);
}

static void the_first_thread_waits_for_no_joins(void)
{
	CU_ASSERT_EQUAL(count_of_child(leave_unjoined_in_child), 3);
}

static uint64_t main_id;

/* It is parked, and not until a moment from now. */
static void *see_main_wait(void *arg)
{
	while (!is_parked(main_id))
		weft_yield();
	if (!wefti_timers_any())
		fetch_add_relaxed(&main_count, 1);
	return arg;
}

static void see_main_wait_in_child(void)
{
	atexit(report_count);
	if (weft_start(NULL) != 0)
		_exit(98);
	main_id = weft_self();
	spawn_with(WEFT_DETACHED, see_main_wait, NULL);
	weft_exit(NULL);
}

static void the_first_thread_waits_without_a_timer(void)
{
	CU_ASSERT_EQUAL(count_of_child(see_main_wait_in_child), 1);
}

static void *exit_as_foreign(void *unused)
{
	weft_exit(unused);
}

static void foreign_exits(void)
{
	pthread_t thread;

	if (dup2(report[1], STDERR_FILENO) < 0 || weft_start(NULL) != 0 ||
	    pthread_create(&thread, NULL, exit_as_foreign, NULL) != 0)
		_exit(98);
	pthread_join(thread, NULL);
	_exit(97);
}

static void a_foreign_thread_is_told_that_it_cannot(void)
{
	char text[512] = "";
	size_t used = 0;
	ssize_t n;
	int status;
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(pipe(report), 0);
	child = fork();
	if (child == 0)
		foreign_exits();
	close(report[1]);
	while (used < sizeof(text) - 1 &&
	       (n = read(report[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	close(report[0]);
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "end this kernel thread as it "
				      "began: by a return or pthread_exit()\n"));
}

/* weft_wait_all() */

static void *wait_for(void *sem)
{
	(void)!weft_sem_wait(sem);
	return NULL;
}

static void *call_wait_all(void *unused)
{
	must(weft_wait_all(WEFT_NO_WAIT) == -EPERM);
	return unused;
}

static void all_others_can_be_waited_for(void)
{
	size_t n = test_scaled(DETACHED);
	_Atomic size_t ran = 0;

	CU_ASSERT_EQUAL(weft_wait_all(WEFT_FOREVER), -ESRCH);
	runtime_begin();
	CU_ASSERT_EQUAL(weft_wait_all(WEFT_NO_WAIT), 0);
	join(spawn(call_wait_all, NULL));
	for (unsigned round = 1; round <= 3; round++) {
		for (size_t i = 0; i < n; i++)
			spawn_with(WEFT_DETACHED | (i & WEFT_LIGHT), count, &ran);
		CU_ASSERT_EQUAL(weft_wait_all(WEFT_FOREVER), 0);
		CU_ASSERT_EQUAL(load_relaxed(&ran), round * n);
	}
	runtime_end();	/* at once: they have left all that they had */
}

static void the_wait_for_all_has_a_deadline_and_can_be_cancelled(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	int64_t deadline;
	uint64_t id;

	runtime_begin();
	spawn_with(WEFT_DETACHED, wait_for, &sem);
	id = spawn(wait_for, &sem);
	CU_ASSERT_EQUAL(weft_wait_all(WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_wait_all(1), -ETIMEDOUT);
	deadline = weft_deadline(WEFT_MS(2));
	CU_ASSERT_EQUAL(weft_wait_all(deadline), -ETIMEDOUT);
	CU_ASSERT(weft_clock() >= deadline);
	weft_cancel_hold();
	CU_ASSERT_EQUAL(weft_cancel(weft_self()), 0);
	CU_ASSERT_EQUAL(weft_wait_all(1), -ETIMEDOUT);
	weft_cancel_release();
	CU_ASSERT_EQUAL(weft_wait_all(WEFT_FOREVER), -ECANCELED);
	weft_sem_post(&sem);
	weft_sem_post(&sem);
	weft_cancel_hold();
	CU_ASSERT_EQUAL(weft_wait_all(WEFT_FOREVER), 0);
	join(id);
	weft_cancel_release();
	CU_ASSERT_EQUAL(weft_wait_all(WEFT_FOREVER), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_thread_exits_from_any_depth_with_its_result),
	TEST(detached_threads_give_everything_back),
	TEST(the_first_thread_waits_for_the_others_and_ends_the_process),
	TEST(the_first_thread_waits_for_no_joins),
	TEST(the_first_thread_waits_without_a_timer),
	TEST(all_others_can_be_waited_for),
	TEST(the_wait_for_all_has_a_deadline_and_can_be_cancelled),
	TEST(a_foreign_thread_is_told_that_it_cannot),
};

TEST_MAIN("life/exit", cases)
