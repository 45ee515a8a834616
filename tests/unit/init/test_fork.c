/* SPDX-License-Identifier: MIT */
/* test_fork.c - init/fork: the child has one thread and a runtime to start */
#include "threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/kthread/quiescent.h"
#include "mem/slot.h"
#include "sched/sanitizer.h"
#include "sched/seat.h"
#include "thread/wait.h"

static void *add_one(void *arg)
{
	weft_yield();
	must(weft_sleep(1000) == 0);
	fetch_add_relaxed((_Atomic int *)arg, 1);
	return arg;
}

static void *real_thread(void *arg)
{
	return arg;
}

/* While a dump is written, or a grace period lasts, elsewhere in the parent. */
static void use_what_waits_for_others(void)
{
	int null = open("/dev/null", O_WRONLY);

	must(null >= 0 && weft_dump(null) == 0);
	close(null);
	(void)!wefti_os_quiescent_wait();
}

static void use_runtime(void)
{
	_Atomic int ran = 0;
	uint64_t id[100];

	must(weft_start(NULL) == 0);
	use_what_waits_for_others();
	for (int i = 0; i < 100; i++)
		id[i] = spawn_with((unsigned)i & WEFT_LIGHT, add_one, &ran);
	for (int i = 0; i < 100; i++)
		must(join(id[i]) == &ran);
	must(load_relaxed(&ran) == 100);
	must(weft_stop() == 0);
}

/* What a child does: libc, kernel threads, the runtime twice, its end. */
static void live_as_child(uint64_t parents_thread)
{
	pthread_t thread;
	void *result;
	char *p = malloc(100000);

	must(p != NULL);
	free(p);
	errno = 7;
	must(weft_vcpus() == 0);
	must(weft_stop() == -ESRCH);
	must(weft_spawn(NULL, NULL, real_thread, NULL) == -ESRCH);
	must(weft_join(parents_thread, NULL) == -ESRCH);
	must(errno == 7);
	must(pthread_create(&thread, NULL, real_thread, &result) == 0);
	must(pthread_join(thread, &result) == 0 && result == &result);
	use_runtime();
	use_runtime();
	if (wefti_is_sanitized)	/* what the others had is a leak to it */
		_exit(42);
	exit(42);
}

/* libc knows the owners of its locks by their ids. */
static int is_known_by_its_tid(void)
{
	pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	return pthread_mutex_lock(&m) == 0 && m.__data.__owner == gettid();
}

static char process_name[16];

/* Others know it by this, and not as one of weft's kernel threads. */
static int has_its_parents_name(void)
{
	char name[16] = "";

	return prctl(PR_GET_NAME, name) == 0 && strcmp(name, process_name) == 0;
}

/*
 * One that waits, of the parent's: nobody makes it ready here. The monitor, which
 * meant it, is no more either, and goes back on nothing.
 */
static int is_forgotten(uint64_t id)
{
	const struct wefti_thread *t = wefti_slot_get((uint32_t)id);

	return load_relaxed(&t->gen) != id >> 32 &&
	       load_relaxed(&t->attention) == WEFTI_SEAT_HELD &&
	       (load_relaxed(&t->wait) & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE;
}

/* is_green: its id is made up, and stays; else it is a kernel thread's. */
static void fork_and_wait(uint64_t thread, int is_green)
{
	struct wefti_thread *t = wefti_slot_get((uint32_t)thread);
	int status;
	pid_t child;

	store_relaxed(&t->attention, WEFTI_SEAT_TAKEN);
	child = fork();
	must(child >= 0);
	if (child == 0) {
		must(is_green || is_known_by_its_tid());
		must(is_forgotten(thread));
		must(has_its_parents_name());
		live_as_child(thread);
	}
	store_relaxed(&t->attention, WEFTI_SEAT_HELD);
	weft_block_begin();
	must(waitpid(child, &status, 0) == child);
	weft_block_end();
	if (status != 42 << 8)
		fprintf(stderr, "the child's status: %#x\n", status);
	must(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void *fork_in_thread(void *arg)
{
	fork_and_wait(*(uint64_t *)arg, 1);
	return NULL;
}

static void *fork_in_pthread(void *arg)
{
	fork_and_wait(*(uint64_t *)arg, 0);
	return NULL;
}

static void *stay(void *arg)
{
	return (void *)((intptr_t)weft_sleep_until(WEFT_FOREVER) +
			(intptr_t)arg);
}

static void *churn(void *arg)
{
	while (!load_relaxed((_Atomic int *)arg)) {
		must(weft_sleep(20000) == 0);
		join(spawn_with(WEFT_LIGHT, real_thread, NULL));
	}
	return NULL;
}

static void *dump(void *arg)
{
	int null = open("/dev/null", O_WRONLY);

	must(null >= 0);
	while (!load_relaxed((_Atomic int *)arg)) {
		must(weft_dump(null) == 0);
		must(weft_sleep(200000) == 0);
	}
	close(null);
	return NULL;
}

/* Forks while other threads are parked, run, come and go, and are dumped. */
static void with_company(void (*forks)(uint64_t parked))
{
	_Atomic int stop = 0;
	uint64_t parked, busy[3];
	pthread_t dumper;

	must(prctl(PR_GET_NAME, process_name) == 0);
	runtime_begin();
	must(pthread_create(&dumper, NULL, dump, &stop) == 0);
	parked = spawn(stay, NULL);
	for (int i = 0; i < 3; i++)
		busy[i] = spawn_with((unsigned)i & WEFT_LIGHT, churn, &stop);
	/* TSan has no threads in the child of a process that had some. */
	for (int i = 0; i < 5 && test_threads(10000) == 10000; i++)
		forks(parked);
	store_relaxed(&stop, 1);
	for (int i = 0; i < 3; i++)
		join(busy[i]);
	weft_block_begin();
	pthread_join(dumper, NULL);
	weft_block_end();
	CU_ASSERT_EQUAL(weft_cancel(parked), 0);
	CU_ASSERT_EQUAL((intptr_t)join(parked), -ECANCELED);
	runtime_end();
}

static void fork_main(uint64_t parked)
{
	fork_and_wait(parked, 0);
}

static void fork_threads(uint64_t parked)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++)
		join(spawn_with(flags, fork_in_thread, &parked));
}

static void fork_foreign(uint64_t parked)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, fork_in_pthread, &parked)
	     == 0);
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
}

static void main_forks_and_its_child_lives(void)
{
	with_company(fork_main);
}

static void threads_fork_and_their_children_live(void)
{
	with_company(fork_threads);
}

static void a_foreign_thread_forks_and_its_child_lives(void)
{
	with_company(fork_foreign);
}

static const struct test_case cases[] = {
	TEST(main_forks_and_its_child_lives),
	TEST(threads_fork_and_their_children_live),
	TEST(a_foreign_thread_forks_and_its_child_lives),
};

TEST_MAIN("init/fork", cases)
