/* SPDX-License-Identifier: MIT */
/* test_lock.c - lockfree/lock: exclusion, sleeping, freeing, two processes */
#include "lockfree/lock.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/lock.h>

#include "support.h"

#define CREW	8

static void lock_is_free_when_zero_filled_and_taken_once(void)
{
	struct weft_lock lock = WEFT_LOCK_INIT;

	CU_ASSERT_EQUAL(weft_lock_try_lock(&lock), 0);
	CU_ASSERT_EQUAL(weft_lock_try_lock(&lock), -EBUSY);
	weft_lock_unlock(&lock);
	CU_ASSERT_EQUAL(lock.weft_private, 0);
	weft_lock_lock(&lock);
	CU_ASSERT_EQUAL(weft_lock_try_lock(&lock), -EBUSY);
	weft_lock_unlock(&lock);
	CU_ASSERT_EQUAL(lock.weft_private, 0);
}

static struct {
	struct weft_lock lock;
	uint64_t count;			/* plain: the lock protects it */
	size_t turns;
	int yields;
} arena;

/* The owner gives the CPU away now and then, so that others have to sleep. */
static void *contend(void *arg)
{
	uint64_t seed = test_seed((uintptr_t)arg);

	for (size_t i = 0; i < arena.turns; i++) {
		uint64_t r = test_random_below(&seed, 64);

		if (r != 0 || weft_lock_try_lock(&arena.lock) != 0)
			weft_lock_lock(&arena.lock);
		arena.count++;
		if (arena.yields && r == 1)
			sched_yield();
		weft_lock_unlock(&arena.lock);
	}
	return NULL;
}

static void run_crew(size_t turns, int yields)
{
	pthread_t tid[CREW];

	arena.turns = turns;
	arena.yields = yields;
	arena.count = 0;
	for (uintptr_t i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, contend,
						     (void *)i), 0);
	for (int i = 0; i < CREW; i++)
		pthread_join(tid[i], NULL);
	CU_ASSERT_EQUAL(arena.count, CREW * turns);
	CU_ASSERT_EQUAL(arena.lock.weft_private, 0);
}

static void lock_lets_one_in_at_a_time(void)
{
	run_crew(test_scaled(50000), 0);
	run_crew(test_scaled(5000), 1);
}

/* The owner waits until somebody sleeps: an unlock then has to wake it. */
static void *sleeper(void *arg)
{
	(void)arg;
	weft_lock_lock(&arena.lock);
	arena.count++;
	weft_lock_unlock(&arena.lock);
	return NULL;
}

static void unlock_wakes_all_that_sleep_one_after_the_other(void)
{
	_Atomic uint32_t *word = (void *)&arena.lock;
	pthread_t tid[CREW];

	arena.count = 0;
	store_relaxed(word, 0u);
	weft_lock_lock(&arena.lock);
	for (int i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, sleeper,
						     NULL), 0);
	while (load_relaxed(word) != WEFTI_LOCK_OWNED + CREW)
		sched_yield();
	CU_ASSERT_EQUAL(arena.count, 0);
	weft_lock_unlock(&arena.lock);
	for (int i = 0; i < CREW; i++)
		pthread_join(tid[i], NULL);
	CU_ASSERT_EQUAL(arena.count, CREW);
}

/*
 * The lock is in memory that its next owner unmaps at once: an unlock that looked
 * at it afterwards would fault.
 */
struct mapped {
	struct weft_lock lock;
	_Atomic int ready;
};

static void *unlock_it(void *arg)
{
	struct mapped *m = arg;

	weft_lock_lock(&m->lock);
	store_seq_cst(&m->ready, 1);
	weft_lock_unlock(&m->lock);
	return NULL;
}

static void the_next_owner_may_unmap_it(void)
{
	size_t rounds = test_scaled(300);

	for (size_t i = 0; i < rounds; i++) {
		struct mapped *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_t tid;

		CU_ASSERT_FATAL(m != MAP_FAILED);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid, NULL, unlock_it, m),
				      0);
		while (!load_seq_cst(&m->ready))
			sched_yield();
		weft_lock_lock(&m->lock);
		munmap(m, 4096);
		pthread_join(tid, NULL);
	}
}

struct shared {
	struct weft_plock lock;
	uint64_t count;			/* plain: the lock protects it */
};

static void add_between_processes(struct shared *s, size_t turns)
{
	for (size_t i = 0; i < turns; i++) {
		if (i % 16 != 0 || weft_plock_try_lock(&s->lock) != 0)
			weft_plock_lock(&s->lock);
		s->count++;
		if (i % 64 == 0)
			sched_yield();
		weft_plock_unlock(&s->lock);
	}
}

static void plock_lets_one_process_in_at_a_time(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t turns = test_scaled(20000);
	int status = -1;
	pid_t child;

	CU_ASSERT_FATAL(s != MAP_FAILED);
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		add_between_processes(s, turns);
		_exit(0);
	}
	add_between_processes(s, turns);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(s->count, 2 * turns);
	munmap(s, sizeof(*s));
}

/* No runtime here: they do nothing, and say so. */
static void preempt_off_does_nothing_without_the_runtime(void)
{
	void *held = weft_preempt_off();

	CU_ASSERT_PTR_NULL(held);
	weft_preempt_on(held);
}

static const struct test_case cases[] = {
	TEST(lock_is_free_when_zero_filled_and_taken_once),
	TEST(lock_lets_one_in_at_a_time),
	TEST(unlock_wakes_all_that_sleep_one_after_the_other),
	TEST(the_next_owner_may_unmap_it),
	TEST(plock_lets_one_process_in_at_a_time),
	TEST(preempt_off_does_nothing_without_the_runtime),
};

TEST_MAIN("lockfree/lock", cases)
