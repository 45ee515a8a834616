/* SPDX-License-Identifier: MIT */
/* test_preempt_signal.c - os/preempt_signal: ours, the program's, and of others */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../mini.h"
#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/signal/signal.h"
#include "refusal.h"
#include "support.h"

static volatile sig_atomic_t ours, theirs;
static void *altstack;

static void their_handler(int signal)
{
	(void)signal;
	theirs++;
}

/* By libc's own sleep, in which ThreadSanitizer runs handlers. */
static void wait_while(volatile sig_atomic_t *word, int value)
{
	while (*word == value)
		usleep(10);
}

/*
 * A handler interrupts a thread with its own TLS, switches away, and returns
 * on another kernel thread.
 */
static struct mini spinner;
static _Atomic int spins, moved, preempt_count;

static void preempting(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	/* A second one meanwhile comes afterwards, and does nothing. */
	if (fetch_add_seq_cst(&preempt_count, 1) != 0)
		return;
	wefti_os_kthread_signal(wefti_os_gettid(), wefti_os_preempt_signal());
	mini_yield(&spinner);
	wefti_os_altstack_patch(context, altstack);
	store_seq_cst(&moved, 1);
}

static void spin_until_moved(struct mini *self)
{
	(void)self;
	store_seq_cst(&spins, 1);
	while (!load_seq_cst(&moved))
		;
}

static void carry_first(void *arg)
{
	(void)arg;
	mini_run(&spinner);
}

static void carry_second(void *arg)
{
	sigset_t mask, mask_after;
	stack_t now;

	wefti_os_altstack_install(&altstack);
	wefti_os_signal_unblock(SIGUSR2);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	mini_run(&spinner);
	pthread_sigmask(SIG_BLOCK, NULL, &mask_after);
	sigaltstack(NULL, &now);
	*(int *)arg = now.ss_sp == altstack &&
		      memcmp(&mask, &mask_after, 8) == 0 &&
		      !sigismember(&mask_after, SIGUSR2);
	wefti_os_altstack_remove(altstack);
}

static void preempted_thread_returns_on_another_kernel_thread(void)
{
	struct wefti_os_kthread a, b;
	struct sigaction before, after;
	int stayed = 0;

	if (wefti_tls_init() != 0) {
		CU_ASSERT_TRUE(is_refused_rightly(wefti_tls_reason()));
		return;
	}
	sigaction(wefti_os_preempt_signal(), NULL, &before);
	wefti_os_signal_preempt(preempting, NULL);
	mini_make(&spinner, 1, spin_until_moved);
	wefti_os_kthread_create(&a, 64 * 1024, carry_first, NULL, NULL);
	while (!load_seq_cst(&spins))
		wefti_os_yield();
	/* One, not a storm: handlers on handlers would fill the stack. */
	pthread_kill((pthread_t)a.pthread, wefti_os_preempt_signal());
	wefti_os_kthread_join(&a);
	CU_ASSERT(!load_seq_cst(&moved));
	wefti_os_kthread_create(&b, 64 * 1024, carry_second, &stayed, NULL);
	wefti_os_kthread_join(&b);
	CU_ASSERT(load_seq_cst(&moved));
	CU_ASSERT(stayed);
	CU_ASSERT(spinner.done);
	mini_free(&spinner);
	wefti_os_signal_preempt_end();
	sigaction(wefti_os_preempt_signal(), NULL, &after);
	CU_ASSERT(before.sa_handler == after.sa_handler);
}

static void count_preemption(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	ours++;
}

static void count_and_send_again(int signal, siginfo_t *info, void *context)
{
	static int runs;

	CU_ASSERT(!runs);
	runs = 1;
	count_preemption(signal, info, context);
	if (ours < 3)
		wefti_os_kthread_signal(wefti_os_gettid(), signal);
	runs = 0;
}

static void one_that_comes_during_the_handler_is_handled_after_it(void)
{
	ours = 0;
	wefti_os_signal_preempt(count_and_send_again, NULL);
	wefti_os_kthread_signal(wefti_os_gettid(), wefti_os_preempt_signal());
	wait_while(&ours, 0);
	CU_ASSERT(ours == 3);
	wefti_os_signal_preempt_end();
}

static void foreign_signal_of_that_number_is_the_programs(void)
{
	int number = wefti_os_preempt_signal();
	struct sigaction program = { .sa_handler = their_handler }, old;

	ours = theirs = 0;
	sigaction(number, &program, &old);
	wefti_os_signal_preempt(count_preemption, NULL);
	kill(getpid(), number);
	wait_while(&theirs, 0);
	CU_ASSERT(ours == 0 && theirs == 1);
	wefti_os_kthread_signal(wefti_os_gettid(), number);
	wait_while(&ours, 0);
	CU_ASSERT(ours == 1 && theirs == 1);
	wefti_os_signal_preempt_end();
	sigaction(number, &old, NULL);

	/* By default it is ignored, with our handler before it too. */
	wefti_os_signal_preempt(count_preemption, NULL);
	kill(getpid(), number);
	wefti_os_kthread_signal(wefti_os_gettid(), number);
	wait_while(&ours, 1);
	CU_ASSERT(ours == 2 && theirs == 1);
	wefti_os_signal_preempt_end();
}

static volatile sig_atomic_t asked[WEFTI_OS_OTHERS];
static int taker;		/* the number of the hook that takes it */

static int is_asked_first(const siginfo_t *info)
{
	asked[0] += info->si_signo == wefti_os_preempt_signal();
	return taker == 0;
}

static int is_asked_second(const siginfo_t *info)
{
	asked[1] += info->si_signo == wefti_os_preempt_signal();
	return taker == 1;
}

static void others_are_asked_in_their_order(void)
{
	const struct sigaction program = { .sa_handler = their_handler };
	struct sigaction old, now;
	int number = wefti_os_preempt_signal();

	ours = theirs = 0;
	wefti_os_signal_preempt(count_preemption, NULL);
	wefti_os_signal_preempt_action(&program, &old);
	CU_ASSERT(old.sa_handler == SIG_DFL);
	wefti_os_signal_others(WEFTI_OS_PROGRAMS, is_asked_second);
	wefti_os_signal_others(WEFTI_OS_ASKED, is_asked_first);
	for (taker = 0; taker < 3; taker++) {
		kill(getpid(), number);
		wait_while(&asked[0], taker);
		if (taker > 0)
			wait_while(&asked[1], taker - 1);
	}
	wait_while(&theirs, 0);
	CU_ASSERT(asked[0] == 3 && asked[1] == 2 && theirs == 1 && ours == 0);
	wefti_os_kthread_signal(wefti_os_gettid(), number);
	wait_while(&ours, 0);
	CU_ASSERT(asked[0] == 3 && theirs == 1);
	wefti_os_signal_others(WEFTI_OS_PROGRAMS, NULL);
	wefti_os_signal_others(WEFTI_OS_ASKED, NULL);

	/* Once more: what the program has is kept, and not our own. */
	wefti_os_signal_preempt(count_preemption, NULL);
	CU_ASSERT(wefti_os_signal_has_handler(number, NULL));
	wefti_os_signal_preempt_end();
	sigaction(number, NULL, &now);
	CU_ASSERT(now.sa_handler == their_handler);
	sigaction(number, &old, NULL);
}

static const struct test_case cases[] = {
	TEST(preempted_thread_returns_on_another_kernel_thread),
	TEST(one_that_comes_during_the_handler_is_handled_after_it),
	TEST(foreign_signal_of_that_number_is_the_programs),
	TEST(others_are_asked_in_their_order),
};

TEST_MAIN("os/preempt_signal", cases)
