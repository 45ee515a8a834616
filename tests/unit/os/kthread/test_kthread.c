/* SPDX-License-Identifier: MIT */
/* test_kthread.c - os/kthread: made with signals blocked, watched, joined */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/signal/signal.h"
#include "support.h"

static _Atomic uint32_t stage, word;
static _Atomic int tid;

static void wait_for(_Atomic uint32_t *w, uint32_t value)
{
	while (load_seq_cst(w) != value)
		wefti_os_yield();
}

static sigset_t mask_seen;
static char name_seen[32];

static void look_around(void *arg)
{
	*(int *)arg = wefti_os_gettid();
	pthread_sigmask(SIG_BLOCK, NULL, &mask_seen);
	pthread_getname_np(pthread_self(), name_seen, sizeof(name_seen));
}

static void thread_runs_with_its_name_and_few_signals(void)
{
	const int blocked[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM,
				SIGCHLD, SIGUSR1, SIGIO, SIGPROF, SIGABRT, SIGPIPE,
				SIGRTMIN, SIGRTMIN + 5 };
	const int open[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	struct wefti_os_kthread k;
	sigset_t before, after;
	int other = 0;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	CU_ASSERT_EQUAL(wefti_os_kthread_create(&k, 1, look_around, &other,
						"a name too long to keep"), 0);
	wefti_os_kthread_join(&k);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CU_ASSERT_EQUAL(memcmp(&before, &after, 8), 0);
	CU_ASSERT_NOT_EQUAL(other, wefti_os_gettid());
	CU_ASSERT(other > 0);
	CU_ASSERT_STRING_EQUAL(name_seen, "a name too long");
	for (size_t i = 0; i < sizeof(blocked) / sizeof(*blocked); i++)
		CU_ASSERT(sigismember(&mask_seen, blocked[i]));
	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		CU_ASSERT(!sigismember(&mask_seen, open[i]));
	CU_ASSERT(!sigismember(&mask_seen, wefti_os_preempt_signal()));
}

static void sleeper(void *arg)
{
	(void)arg;
	store_seq_cst(&tid, wefti_os_gettid());
	while (load_seq_cst(&word) == 0)
		wefti_os_futex_wait(&word, 0, INT64_MAX);
	/* Computes until it is told to end. */
	while (load_seq_cst(&word) == 1)
		;
}

static void state_and_cpu_time_tell_sleep_from_work(void)
{
	struct wefti_os_kthread k;
	int64_t asleep, again;

	store_seq_cst(&word, 0);
	store_seq_cst(&tid, 0);
	wefti_os_kthread_create(&k, 64 * 1024, sleeper, NULL, "sleeper");
	while (!load_seq_cst(&tid) ||
	       wefti_os_kthread_state(load_seq_cst(&tid)) != 'S')
		wefti_os_yield();
	CU_ASSERT(wefti_os_kthread_is_asleep(load_seq_cst(&tid)));
	CU_ASSERT_EQUAL(wefti_os_kthread_wants_lock(load_seq_cst(&tid)), 0);
	/* It may have the CPU for a moment yet. */
	do {
		asleep = wefti_os_kthread_cpu_ns(load_seq_cst(&tid));
		again = wefti_os_kthread_cpu_ns(load_seq_cst(&tid));
	} while (asleep != again);
	CU_ASSERT(asleep > 0);

	store_seq_cst(&word, 1);
	wefti_os_futex_wake(&word, 1);
	while (wefti_os_kthread_cpu_ns(load_seq_cst(&tid)) < asleep + 2000000)
		wefti_os_yield();
	CU_ASSERT(!wefti_os_kthread_is_asleep(load_seq_cst(&tid)));
	store_seq_cst(&word, 2);
	wefti_os_kthread_join(&k);
}

#define MAPPERS		4
#define MAP_BYTES	((size_t)8 << 20)
#define SAMPLES		20000
#define ENOUGH		40	/* to be seen at least once */

static _Atomic uint32_t mapper_tid[MAPPERS];

static void map_and_unmap(void *number)
{
	store_seq_cst(&mapper_tid[(long)number], (uint32_t)wefti_os_gettid());
	while (load_seq_cst(&word) == 0) {
		void *at = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
				0);

		if (at == MAP_FAILED || munmap(at, MAP_BYTES) != 0)
			abort();
	}
}

/* As Linux 6.18 calls it; others may have no such place, or not say it. */
static int is_in_mmap(uint32_t id)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%u/wchan", id);
	f = fopen(path, "r");
	if (!f)
		return 0;
	(void)!fgets(text, sizeof(text), f);
	fclose(f);
	return strcmp(text, "vm_mmap_pgoff") == 0 ||
	       strcmp(text, "__vm_munmap") == 0;
}

static void a_wait_for_the_mappings_is_known(void)
{
	struct wefti_os_kthread k[MAPPERS];
	int in_mmap = 0, wants = 0;

	store_seq_cst(&word, 0);
	for (long i = 0; i < MAPPERS; i++) {
		store_seq_cst(&mapper_tid[i], 0);
		wefti_os_kthread_create(&k[i], 64 * 1024, map_and_unmap,
					(void *)i, "mapper");
		while (!load_seq_cst(&mapper_tid[i]))
			wefti_os_yield();
	}
	for (int i = 0; i < SAMPLES && !wants; i++) {
		uint32_t id = load_seq_cst(&mapper_tid[i % MAPPERS]);

		in_mmap += is_in_mmap(id);
		wants += wefti_os_kthread_wants_lock((int)id);
	}
	store_seq_cst(&word, 1);
	for (int i = 0; i < MAPPERS; i++)
		wefti_os_kthread_join(&k[i]);
	CU_ASSERT_TRUE(wants > 0 || in_mmap < ENOUGH);
	if (!wants)
		printf("    not told by this kernel\n");
	CU_ASSERT_EQUAL(wefti_os_kthread_wants_lock(wefti_os_gettid()), 0);
}

static void one_that_ended_is_known_to_have(void)
{
	struct wefti_os_kthread k;
	int ended = 0;

	wefti_os_kthread_create(&k, 1, look_around, &ended, "short");
	wefti_os_kthread_join(&k);
	/* join() returns when the kernel has cleared the id, a bit before. */
	while (wefti_os_kthread_signal(ended, 0) == 0)
		wefti_os_yield();
	CU_ASSERT_EQUAL(wefti_os_kthread_signal(ended, 0), -ESRCH);
	CU_ASSERT_EQUAL(wefti_os_kthread_cpu_ns(ended), -1);
	CU_ASSERT_EQUAL(wefti_os_kthread_state(ended), 0);
	CU_ASSERT_EQUAL(wefti_os_kthread_wants_lock(ended), 0);
}

static _Thread_local char large[1];

static void use_much_stack(void *arg)
{
	volatile char room[200 * 1024];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = (char)i;
	large[0] = room[1024];
	store_seq_cst((_Atomic uint32_t *)arg, 1);
}

static void stack_is_as_large_as_asked(void)
{
	struct wefti_os_kthread k;

	store_seq_cst(&stage, 0);
	CU_ASSERT_EQUAL(wefti_os_kthread_create(&k, 256 * 1024, use_much_stack,
						&stage, NULL), 0);
	wefti_os_kthread_join(&k);
	CU_ASSERT_EQUAL(load_seq_cst(&stage), 1);
}

static _Atomic uint32_t x, y, seen_x, seen_y, rounds, stop;

/* Store, compiler barrier only, load: the other side has the membarrier. */
static void fast_side(void *arg)
{
	uint32_t round = 0;

	(void)arg;
	while (!load_seq_cst(&stop)) {
		uint32_t now = load_seq_cst(&rounds);

		if (now == round)
			continue;
		round = now;
		store_relaxed(&x, round);
		__asm__ volatile("" ::: "memory");
		store_relaxed(&seen_y, load_relaxed(&y));
		store_seq_cst(&stage, round);
	}
}

/* At least one side of store-then-load sees the other's store. */
static void membarrier_orders_a_side_without_fences(void)
{
	uint32_t limit = (uint32_t)test_scaled(2000), missed = 0;
	struct wefti_os_kthread k;

	if (wefti_os_membarrier_init() != 0) {
		/* Then it says so each time, and the runtime uses fences. */
		CU_ASSERT_EQUAL(wefti_os_membarrier_init(), -ENOSYS);
		return;
	}
	store_seq_cst(&rounds, 0);
	store_seq_cst(&stage, 0);
	store_seq_cst(&stop, 0);
	wefti_os_kthread_create(&k, 64 * 1024, fast_side, NULL, "fast");
	for (uint32_t i = 1; i <= limit; i++) {
		store_seq_cst(&rounds, i);
		store_relaxed(&y, i);
		wefti_os_membarrier();
		store_relaxed(&seen_x, load_relaxed(&x));
		wait_for(&stage, i);
		missed += load_relaxed(&seen_x) != i &&
			  load_relaxed(&seen_y) != i;
	}
	store_seq_cst(&stop, 1);
	wefti_os_kthread_join(&k);
	CU_ASSERT_EQUAL(missed, 0);
}

static const struct test_case cases[] = {
	TEST(thread_runs_with_its_name_and_few_signals),
	TEST(state_and_cpu_time_tell_sleep_from_work),
	TEST(a_wait_for_the_mappings_is_known),
	TEST(one_that_ended_is_known_to_have),
	TEST(stack_is_as_large_as_asked),
	TEST(membarrier_orders_a_side_without_fences),
};

TEST_MAIN("os/kthread", cases)
