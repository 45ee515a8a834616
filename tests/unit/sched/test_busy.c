/* SPDX-License-Identifier: MIT */
/* test_busy.c - sched/busy: a thread is not called in malloc, nor on its way back there */
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/object/text.h"
#include "sched/busy.h"
#include "signal_frame.h"

static _Atomic long met, wrong;

/* The hook never sees a thread in malloc. */
static void look(ucontext_t *uc, const siginfo_t *info)
{
	const ucontext_t *next = wefti_arch_frame_returns(uc);

	(void)info;
	fetch_add_relaxed(&met, 1);
	if (wefti_os_text_is_mallocs(wefti_arch_ucontext_pc(next ? next : uc)))
		fetch_add_relaxed(&wrong, 1);
}

static struct wefti_thread *insisted_on;

static void *insist(void *unused)
{
	while (load_relaxed(&met) < (long)test_scaled(200)) {
		wefti_preempt_insist(insisted_on);
		wefti_os_yield();
	}
	return unused;
}

static void *allocate(void *unused)
{
	pthread_t thread;

	insisted_on = wefti_self();
	must(pthread_create(&thread, NULL, insist, NULL) == 0);
	while (load_relaxed(&met) < (long)test_scaled(200))
		for (int i = 0; i < 100; i++)
			free(malloc((size_t)1 << i % 18));
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
	return unused;
}

static void the_hook_is_not_called_in_malloc(void)
{
	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(NULL), 0);
	store_relaxed(&met, 0);
	store_relaxed(&wrong, 0);
	store_relaxed(&wefti_preempt_hook, look);
	join(spawn(allocate, NULL));
	store_relaxed(&wefti_preempt_hook, NULL);
	CU_ASSERT_EQUAL(load_relaxed(&wrong), 0);
	runtime_end();
}

/* --- a handler that the kernel has called -------------------------- */

#define THREADS	4

static _Atomic int stop;

/*
 * Longer than slices are, so that they end on top of malloc, and with a large frame. It
 * ends on the kernel thread that it has begun on.
 */
static void burn(int signal)
{
	const int64_t end = weft_clock() + 20000000;
	const int tid = wefti_os_gettid();
	volatile char frame[2048];

	for (unsigned i = 0; i % 1000 || weft_clock() < end; i++)
		frame[i % sizeof(frame)] = (char)signal;
	if (wefti_os_gettid() != tid)
		fetch_add_relaxed(&wrong, 1);
	fetch_add_relaxed(&met, 1);
}

static void *allocate_until_stopped(void *unused)
{
	void *block[32] = { NULL };

	for (unsigned i = 0; !load_relaxed(&stop); i++) {
		free(block[i % 32]);
		block[i % 32] = malloc((size_t)1 << i % 13);
	}
	for (unsigned i = 0; i < 32; i++)
		free(block[i]);
	return unused;
}

static void a_thread_is_not_stopped_in_a_handler_on_top_of_malloc(void)
{
	const struct weft_options options = { .vcpus = 2, .slice_ns = 1000000 };
	const struct itimerval every = { { 0, 25000 }, { 0, 25000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = burn,
					  .sa_flags = SA_RESTART };
	struct sigaction before;
	uint64_t id[THREADS];

	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	store_relaxed(&met, 0);
	store_relaxed(&wrong, 0);
	store_relaxed(&stop, 0);
	sigaction(SIGPROF, &action, &before);
	for (int i = 0; i < THREADS; i++)
		id[i] = spawn(allocate_until_stopped, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	while (load_relaxed(&met) < (long)test_scaled(50))
		must(weft_sleep(1000000) == 0);
	setitimer(ITIMER_PROF, &never, NULL);
	store_relaxed(&stop, 1);
	for (int i = 0; i < THREADS; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(load_relaxed(&wrong), 0);
	runtime_end();
	sigaction(SIGPROF, &before, NULL);
}

static const struct test_case cases[] = {
	TEST(a_thread_is_not_stopped_in_a_handler_on_top_of_malloc),
	TEST(the_hook_is_not_called_in_malloc),
};

TEST_MAIN("sched/busy", cases)
