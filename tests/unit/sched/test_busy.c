/* SPDX-License-Identifier: MIT */
/* test_busy.c - sched/busy: a thread is not called in malloc, nor on its way back there */
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "lockfree/atomic.h"
#include "os/kthread.h"
#include "os/text.h"
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
	store_relaxed(&wefti_preempt_hook, look);
	join(spawn(allocate, NULL));
	store_relaxed(&wefti_preempt_hook, NULL);
	CU_ASSERT_EQUAL(load_relaxed(&wrong), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(the_hook_is_not_called_in_malloc),
};

TEST_MAIN("sched/busy", cases)
