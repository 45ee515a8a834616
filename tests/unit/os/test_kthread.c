/* SPDX-License-Identifier: MIT */
/* test_kthread.c - os/kthread: made with signals blocked, watched, joined */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/kthread.h"
#include "os/kthread_kept.h"
#include "os/signal.h"
#include "os/text.h"
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
				SIGCHLD, SIGUSR1, SIGIO, SIGRTMIN, SIGRTMIN + 5 };
	const int open[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF };
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
	asleep = wefti_os_kthread_cpu_ns(load_seq_cst(&tid));
	again = wefti_os_kthread_cpu_ns(load_seq_cst(&tid));
	CU_ASSERT(asleep > 0);
	CU_ASSERT_EQUAL(asleep, again);

	store_seq_cst(&word, 1);
	wefti_os_futex_wake(&word, 1);
	while (wefti_os_kthread_cpu_ns(load_seq_cst(&tid)) < asleep + 2000000)
		wefti_os_yield();
	CU_ASSERT(!wefti_os_kthread_is_asleep(load_seq_cst(&tid)));
	store_seq_cst(&word, 2);
	wefti_os_kthread_join(&k);
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

static void text_of_libc_is_locked_and_ours_is_not(void)
{
	/* One that no sanitizer replaces. */
	void *libc_function = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	wefti_os_text_init();
	wefti_os_text_init();
	CU_ASSERT(wefti_os_text_is_locked((uintptr_t)libc_function));
	CU_ASSERT(!wefti_os_text_is_locked((uintptr_t)wait_for));
	CU_ASSERT(!wefti_os_text_is_locked(0));
}

#define KEPT_BYTES	(2 << 20)	/* sanitizers want more than others */

struct kept {
	int tid, is_inside;
};

static void look_first(void *arg, char *stack, size_t bytes)
{
	struct kept *kept = arg;
	char *here = (char *)__builtin_frame_address(0);

	look_around(&kept->tid);
	kept->is_inside = here > stack && here < stack + bytes;
}

static void one_that_was_kept_is_the_next_to_be_wanted(void)
{
	struct wefti_os_kthread large_one, k, another;
	int first = 0, second = 0, third = 0;
	struct kept kept = { 0, 0 };

	CU_ASSERT_EQUAL(wefti_os_kthread_keep(KEPT_BYTES, look_first, &kept),
			0);
	CU_ASSERT(kept.is_inside);
	CU_ASSERT(sigismember(&mask_seen, SIGINT));
	CU_ASSERT(!sigismember(&mask_seen, SIGSEGV));

	wefti_os_kthread_create(&large_one, 2 * KEPT_BYTES, look_around, &first,
				"large");
	wefti_os_kthread_join(&large_one);
	CU_ASSERT_NOT_EQUAL(first, kept.tid);

	wefti_os_kthread_create(&k, 64 * 1024, look_around, &second, "taken");
	wefti_os_kthread_join(&k);
	CU_ASSERT_EQUAL(second, kept.tid);
	CU_ASSERT_STRING_EQUAL(name_seen, "taken");

	wefti_os_kthread_create(&another, 64 * 1024, look_around, &third,
				"another");
	wefti_os_kthread_join(&another);
	CU_ASSERT_NOT_EQUAL(third, kept.tid);
	CU_ASSERT_STRING_EQUAL(name_seen, "another");
}

static void one_that_was_kept_in_vain_ends(void)
{
	struct kept kept = { 0, 0 };

	CU_ASSERT_EQUAL(wefti_os_kthread_keep(KEPT_BYTES, look_first, &kept),
			0);
	CU_ASSERT_EQUAL(wefti_os_kthread_signal(kept.tid, 0), 0);
	wefti_os_kthread_unkeep();
	while (wefti_os_kthread_signal(kept.tid, 0) == 0)
		wefti_os_yield();
	wefti_os_kthread_unkeep();
}

static void make_in_child(void)
{
	struct wefti_os_kthread k;
	int seen = 0;

	wefti_os_kthread_create(&k, 1, look_around, &seen, "of the child");
	wefti_os_kthread_join(&k);
	_exit(seen > 0 ? 0 : 1);
}

static void child_of_a_fork_has_not_the_one_that_is_kept(void)
{
	struct kept kept = { 0, 0 };
	int status = -1;
	pid_t child;

	CU_ASSERT_EQUAL(wefti_os_kthread_keep(KEPT_BYTES, look_first, &kept),
			0);
	child = fork();
	if (child == 0)
		make_in_child();
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	wefti_os_kthread_unkeep();
}

static const struct test_case cases[] = {
	TEST(thread_runs_with_its_name_and_few_signals),
	TEST(state_and_cpu_time_tell_sleep_from_work),
	TEST(one_that_ended_is_known_to_have),
	TEST(stack_is_as_large_as_asked),
	TEST(one_that_was_kept_is_the_next_to_be_wanted),
	TEST(one_that_was_kept_in_vain_ends),
	TEST(child_of_a_fork_has_not_the_one_that_is_kept),
	TEST(membarrier_orders_a_side_without_fences),
	TEST(text_of_libc_is_locked_and_ours_is_not),
};

TEST_MAIN("os/kthread", cases)
