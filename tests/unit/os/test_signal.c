/* SPDX-License-Identifier: MIT */
/*
 * test_signal.c - os/signal: handlers before ours, masks, alternate stacks,
 * and a handler that preempts
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "fiber.h"
#include "lockfree/atomic.h"
#include "os/kthread.h"
#include "os/signal.h"
#include "os/vm.h"
#include "support.h"

static volatile sig_atomic_t ours, theirs, on_altstack;
static void *altstack;

static void their_handler(int signal)
{
	(void)signal;
	theirs++;
}

static void their_siginfo(int signal, siginfo_t *info, void *context)
{
	theirs += signal == info->si_signo && context != NULL;
}

static struct sigaction before_ours;

static void our_handler(int signal, siginfo_t *info, void *context)
{
	ours++;
	wefti_os_signal_forward(signal, info, context, &before_ours);
}

static void handler_before_ours_is_called_by_forward(void)
{
	struct sigaction plain = { .sa_handler = their_handler };
	struct sigaction full = { .sa_sigaction = their_siginfo,
				  .sa_flags = SA_SIGINFO };
	struct sigaction ignored = { .sa_handler = SIG_IGN }, now;

	ours = theirs = 0;
	sigaction(SIGUSR1, &plain, NULL);
	wefti_os_signal_install(SIGUSR1, our_handler, 0, &before_ours);
	raise(SIGUSR1);
	CU_ASSERT(ours == 1 && theirs == 1);
	wefti_os_signal_restore(SIGUSR1, &before_ours);
	sigaction(SIGUSR1, &full, NULL);
	wefti_os_signal_install(SIGUSR1, our_handler, 0, &before_ours);
	raise(SIGUSR1);
	CU_ASSERT(ours == 2 && theirs == 2);
	wefti_os_signal_restore(SIGUSR1, &before_ours);
	sigaction(SIGUSR1, &ignored, NULL);
	wefti_os_signal_install(SIGUSR1, our_handler, 0, &before_ours);
	raise(SIGUSR1);
	CU_ASSERT(ours == 3 && theirs == 2);
	wefti_os_signal_restore(SIGUSR1, &before_ours);
	sigaction(SIGUSR1, NULL, &now);
	CU_ASSERT(now.sa_handler == SIG_IGN);
}

/* How a child that runs f() ends; -1000 when not by a signal. */
static int ends_by(void (*f)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		f();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1000;
}

static void fault_and_forward(void)
{
	char *p = wefti_os_vm_reserve_inaccessible(wefti_os_page_size());

	signal(SIGSEGV, SIG_DFL);
	wefti_os_signal_install(SIGSEGV, our_handler, 0, &before_ours);
	*(volatile char *)p = 1;
}

static void fault_ends_the_program_after_forward(void)
{
	CU_ASSERT_EQUAL(ends_by(fault_and_forward), SIGSEGV);
}

static void raise_quit(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	signal(SIGTERM, their_handler);
	wefti_os_raise_default(SIGTERM);
}

static void raise_default_passes_handlers_and_masks(void)
{
	CU_ASSERT_EQUAL(ends_by(raise_quit), SIGTERM);
}

static void mask_is_restored_and_essential_signals_stay(void)
{
	sigset_t before, during, after;
	uint64_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	mask = wefti_os_signals_block();
	pthread_sigmask(SIG_BLOCK, NULL, &during);
	CU_ASSERT(sigismember(&during, SIGTERM));
	CU_ASSERT(!sigismember(&during, SIGSEGV));
	CU_ASSERT(!sigismember(&during, wefti_os_preempt_signal()));
	wefti_os_signal_unblock(SIGTERM);
	pthread_sigmask(SIG_BLOCK, NULL, &during);
	CU_ASSERT(!sigismember(&during, SIGTERM));
	wefti_os_signals_restore(mask);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CU_ASSERT_EQUAL(memcmp(&before, &after, 8), 0);
}

/* By libc's own sleep, in which ThreadSanitizer runs handlers. */
static void wait_while(volatile sig_atomic_t *word, int value)
{
	while (*word == value)
		usleep(10);
}

static void where_am_i(int signal, siginfo_t *info, void *context)
{
	stack_t now;

	(void)signal;
	(void)info;
	(void)context;
	sigaltstack(NULL, &now);
	on_altstack = (now.ss_flags & SS_ONSTACK) != 0;
}

static void use_altstack(void *arg)
{
	struct sigaction old;
	void *second;

	wefti_os_altstack_install(&altstack);
	wefti_os_altstack_install(&second);
	*(int *)arg = altstack != NULL && second == NULL;
	wefti_os_signal_install(SIGUSR2, where_am_i, SA_ONSTACK, &old);
	wefti_os_signal_unblock(SIGUSR2);
	wefti_os_kthread_signal(wefti_os_gettid(), SIGUSR2);
	wait_while(&on_altstack, -1);
	wefti_os_signal_restore(SIGUSR2, &old);
	wefti_os_altstack_remove(altstack);
}

/*
 * AddressSanitizer installs alternate stacks of its own, ThreadSanitizer runs
 * handlers later and elsewhere.
 */
static void handler_runs_on_the_alternate_stack(void)
{
	struct wefti_os_kthread k;
	int installed = 0;

	on_altstack = -1;
	wefti_os_kthread_create(&k, 64 * 1024, use_altstack, &installed, NULL);
	wefti_os_kthread_join(&k);
#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
	CU_ASSERT(installed);
	CU_ASSERT_EQUAL(on_altstack, 1);
#endif
}

/*
 * A handler interrupts a thread with its own TLS, switches away, and returns
 * on another kernel thread.
 */
static struct fiber spinner;
static _Atomic int spins, moved, preempt_count;

static void preempting(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	/* A second one meanwhile comes afterwards, and does nothing. */
	if (fetch_add_seq_cst(&preempt_count, 1) != 0)
		return;
	wefti_os_kthread_signal(wefti_os_gettid(), wefti_os_preempt_signal());
	fiber_yield(&spinner);
	wefti_os_altstack_patch(context, altstack);
	store_seq_cst(&moved, 1);
}

static void spin_until_moved(struct fiber *self)
{
	(void)self;
	store_seq_cst(&spins, 1);
	while (!load_seq_cst(&moved))
		;
}

static void carry_first(void *arg)
{
	(void)arg;
	fiber_run(&spinner);
}

static void carry_second(void *arg)
{
	sigset_t mask, mask_after;
	stack_t now;

	wefti_os_altstack_install(&altstack);
	wefti_os_signal_unblock(SIGUSR2);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	fiber_run(&spinner);
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
		CU_ASSERT_PTR_NOT_NULL(strstr(wefti_tls_reason(), "sanitizer"));
		return;
	}
	sigaction(wefti_os_preempt_signal(), NULL, &before);
	wefti_os_signal_preempt(preempting);
	fiber_make(&spinner, 1, spin_until_moved);
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
	fiber_free(&spinner);
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
	wefti_os_signal_preempt(count_and_send_again);
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
	wefti_os_signal_preempt(count_preemption);
	kill(getpid(), number);
	wait_while(&theirs, 0);
	CU_ASSERT(ours == 0 && theirs == 1);
	wefti_os_kthread_signal(wefti_os_gettid(), number);
	wait_while(&ours, 0);
	CU_ASSERT(ours == 1 && theirs == 1);
	wefti_os_signal_preempt_end();
	sigaction(number, &old, NULL);

	/* By default it is ignored, with our handler before it too. */
	wefti_os_signal_preempt(count_preemption);
	kill(getpid(), number);
	wefti_os_kthread_signal(wefti_os_gettid(), number);
	wait_while(&ours, 1);
	CU_ASSERT(ours == 2 && theirs == 1);
	wefti_os_signal_preempt_end();
}

static const struct test_case cases[] = {
	TEST(handler_before_ours_is_called_by_forward),
	TEST(fault_ends_the_program_after_forward),
	TEST(raise_default_passes_handlers_and_masks),
	TEST(mask_is_restored_and_essential_signals_stay),
	TEST(handler_runs_on_the_alternate_stack),
	TEST(preempted_thread_returns_on_another_kernel_thread),
	TEST(one_that_comes_during_the_handler_is_handled_after_it),
	TEST(foreign_signal_of_that_number_is_the_programs),
};

TEST_MAIN("os/signal", cases)
