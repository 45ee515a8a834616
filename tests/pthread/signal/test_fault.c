/* SPDX-License-Identifier: MIT */
/* test_fault.c - a program's handlers of faults: masks, stacks, and what they may do */
#include "compare.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE	4096
#define STACK	(64 * 1024)
#define THREADS	6

static _Atomic int handled;
static sem_t semaphore;


static char *make_page(void)
{
	char *p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* The instruction begins again then. */
static void let(void *at)
{
	mprotect((void *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1)), PAGE,
		 PROT_READ | PROT_WRITE);
}

static void set(int signal, void (*handler)(int, siginfo_t *, void *), int flags,
		int blocks)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | flags };

	if (blocks)
		sigaddset(&action.sa_mask, blocks);
	sigaction(signal, &action, NULL);
}

static void tell_mask(const char *when)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	printf("%s: SIGSEGV %d, SIGUSR1 %d, SIGUSR2 %d\n", when,
	       sigismember(&now, SIGSEGV), sigismember(&now, SIGUSR1),
	       sigismember(&now, SIGUSR2));
}

static void write_to(char *p)
{
	*(volatile char *)p = 1;
}

/* --- masks --------------------------------------------------------- */

static void tell_and_let(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	handled++;
	tell_mask("in the handler");
	printf("in the context: %d %d\n", sigismember(&uc->uc_sigmask, SIGSEGV),
	       sigismember(&uc->uc_sigmask, SIGUSR1));
	let(info->si_addr);
}

static void *fault(void *flags)
{
	sigset_t two;

	sigemptyset(&two);
	sigaddset(&two, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &two, NULL);
	set(SIGSEGV, tell_and_let, (int)(intptr_t)flags, SIGUSR1);
	write_to(make_page());
	tell_mask("afterwards");
	return NULL;
}

static void a_handler_is_told_its_mask(void)
{
	finish(start(fault, (void *)(intptr_t)0));
	finish(start(fault, (void *)(intptr_t)SA_NODEFER));
	fault((void *)(intptr_t)SA_ONSTACK);
}

static void count(int signal)
{
	handled += signal == SIGUSR1 ? 100 : 10;
}

/* The thread blocks SIGUSR1, and SIGUSR2 no more, from its return on. */
static void leave_mask(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	pthread_kill(pthread_self(), SIGUSR2);
	printf("in the handler %d\n", handled);
	sigaddset(&uc->uc_sigmask, SIGUSR1);
	sigdelset(&uc->uc_sigmask, SIGUSR2);
	let(info->si_addr);
}

static void *fault_for_mask(void *unused)
{
	sigset_t two, now;

	signal(SIGUSR1, count);
	signal(SIGUSR2, count);
	sigemptyset(&two);
	sigaddset(&two, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &two, NULL);
	set(SIGSEGV, leave_mask, 0, 0);
	write_to(make_page());
	printf("afterwards %d\n", handled);
	tell_mask("then");
	pthread_kill(pthread_self(), SIGUSR1);
	sigpending(&now);
	printf("SIGUSR1 waits %d, handled %d\n", sigismember(&now, SIGUSR1),
	       handled);
	return unused;
}

static void a_mask_in_the_context_is_the_threads(void)
{
	finish(start(fault_for_mask, NULL));
	tell_mask("of another");
}

/* --- waiting ------------------------------------------------------- */

static void wait_and_let(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	while (sem_wait(&semaphore) != 0)
		;
	for (int i = 0; i < 10; i++)
		sched_yield();
	let(info->si_addr);
	handled++;
}

static void *fault_and_go_on(void *unused)
{
	stack_t s = { .ss_sp = malloc(STACK), .ss_size = STACK }, now;

	sigaltstack(&s, NULL);
	for (long i = 0, n = scaled(50); i < n; i++)
		write_to(make_page());
	sigaltstack(NULL, &now);
	if (now.ss_sp != s.ss_sp || now.ss_flags != 0)
		printf("another stack\n");
	return unused;
}

static void *post(void *threads)
{
	for (long i = 0, n = scaled(50) * (intptr_t)threads; i < n; i++) {
		sem_post(&semaphore);
		sched_yield();
	}
	return NULL;
}

static void wait_in_handlers(int flags)
{
	pthread_t t[THREADS], p;

	sem_init(&semaphore, 0, 0);
	set(SIGSEGV, wait_and_let, flags, 0);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(fault_and_go_on, NULL);
	p = start(post, (void *)THREADS);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	finish(p);
	printf("all: %d\n", handled == scaled(50) * THREADS);
	handled = 0;
}

static void handlers_wait(void)
{
	wait_in_handlers(0);
	wait_in_handlers(SA_ONSTACK);
}

/* --- stacks -------------------------------------------------------- */

static sigjmp_buf before[THREADS];
static _Atomic int next_index;
static _Thread_local int thread_index;
static _Thread_local char *low;

static void leave(int signal, siginfo_t *info, void *context)
{
	char here;

	(void)info;
	(void)context;
	handled += signal == SIGSEGV && &here > low && &here < low + STACK;
	siglongjmp(before[thread_index], 1);
}

static volatile int forever = 1;

static __attribute__((noinline)) int recurse(volatile char *above)
{
	volatile char here[1024];

	here[0] = above ? above[0] : 1;
	return forever ? recurse(here) + here[0] : 0;
}

static void *overflow(void *unused)
{
	stack_t s = { .ss_size = STACK };

	s.ss_sp = low = malloc(STACK);
	thread_index = next_index++;
	sigaltstack(&s, NULL);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(before[thread_index], 1))
			recurse(NULL);
	return unused;
}

static void overflows_are_left(void)
{
	pthread_t t[THREADS];

	set(SIGSEGV, leave, SA_ONSTACK, 0);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(overflow, NULL);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	printf("on their stacks: %d\n", handled);
	tell_mask("at last");
}

/* --- what ends the program ----------------------------------------- */

static void fault_again(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (++handled == 1)
		write_to(make_page());
	let(info->si_addr);
}

static void *fault_once(void *unused)
{
	write_to(make_page());
	return unused;
}

static void *fault_blocked(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	write_to(make_page());
	return unused;
}

static void *fault_twice(void *unused)
{
	write_to(make_page());
	write_to(make_page());
	return unused;
}

static void in_child(const char *what, void *(*fn)(void *),
		     void (*handler)(int, siginfo_t *, void *), int flags)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		set(SIGSEGV, handler, flags, 0);
		finish(start(fn, NULL));
		_exit(handled);
	}
	waitpid(child, &status, 0);
	printf("%s: %s %d\n", what, WIFSIGNALED(status) ? "signal" : "exit",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
}

static void quietly_let(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	handled++;
	let(info->si_addr);
}

static void blocked_faults_end_the_program(void)
{
	in_child("in its handler", fault_once, fault_again, 0);
	in_child("in its handler, not deferred", fault_once, fault_again,
		 SA_NODEFER);
	in_child("blocked", fault_blocked, quietly_let, 0);
	in_child("reset", fault_twice, quietly_let, (int)SA_RESETHAND);
	in_child("twice", fault_twice, quietly_let, 0);
}

/* --- sent, as any other -------------------------------------------- */

static void count_sent(int signal, siginfo_t *info, void *context)
{
	(void)context;
	handled += (signal == SIGSEGV || signal == SIGILL) && info->si_code <= 0;
}

static void *send_them(void *unused)
{
	sigset_t set;

	pthread_kill(pthread_self(), SIGSEGV);
	printf("%d", handled);
	raise(SIGILL);
	printf(" %d", handled);
	kill(getpid(), SIGSEGV);
	while (handled < 3)
		sched_yield();
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(pthread_self(), SIGSEGV);
	printf(" %d", handled);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	printf(" %d\n", handled);
	return unused;
}

static void sent_ones_wait_as_any_other(void)
{
	set(SIGSEGV, count_sent, 0, 0);
	set(SIGILL, count_sent, SA_ONSTACK, 0);
	finish(start(send_them, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_is_told_its_mask),
	COMPARE(a_mask_in_the_context_is_the_threads),
	COMPARE(handlers_wait),
	COMPARE(overflows_are_left),
	COMPARE(blocked_faults_end_the_program),
	COMPARE(sent_ones_wait_as_any_other),
};

COMPARE_MAIN(cases)
