/* SPDX-License-Identifier: MIT */
/* test_urgent.c - SIGURG, by which weft preempts, is the program's all the same */
#include "compare.h"

#include <signal.h>
#include <sys/wait.h>

/* The older calls are tested too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile sig_atomic_t handled;
static volatile int stop;
static volatile unsigned long turns[2];

static void count(int signal)
{
	handled += signal == SIGURG;
}

static void set(void (*handler)(int signal), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(SIGURG, &action, NULL);
}

/*
 * Two flags are left out: libc's restorer, and SA_INTERRUPT, which newer
 * kernels drop.
 */
static void tell(const char *when)
{
	struct sigaction now;

	sigaction(SIGURG, NULL, &now);
	printf("%s: %s, %#x\n", when, now.sa_handler == count ? "counts" :
	       now.sa_handler == SIG_IGN ? "ignored" :
	       now.sa_handler == SIG_DFL ? "default" : "another",
	       (unsigned)now.sa_flags & ~0x24000000u);
}

static void *spin(void *n)
{
	while (!stop)
		++*(volatile unsigned long *)n;
	return NULL;
}

/* Both go on, whoever runs: with one VCPU this needs preemption. */
static void two_spin(void)
{
	pthread_t t[2];

	stop = 0;
	for (int i = 0; i < 2; i++) {
		turns[i] = 0;
		t[i] = start(spin, (void *)&turns[i]);
	}
	while (!turns[0] || !turns[1])
		;
	stop = 1;
	for (int i = 0; i < 2; i++)
		finish(t[i]);
}

/* Another process, so that the kernel chooses the receiver. */
static void send_from_outside(void)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0)
		_exit(kill(parent, SIGURG) != 0);
	while (waitpid(child, NULL, 0) != child)
		;
}

static void wait_until_handled(int times)
{
	while (handled < times)
		usleep(1000);
	printf("handled %d\n", (int)handled);
}

static void a_handler_from_before_the_first_thread_stays(void)
{
	set(count, SA_RESTART);
	two_spin();
	tell("then");
	raise(SIGURG);
	wait_until_handled(1);
	pthread_kill(pthread_self(), SIGURG);
	wait_until_handled(2);
	kill(getpid(), SIGURG);
	wait_until_handled(3);
	send_from_outside();
	wait_until_handled(4);
}

static void a_handler_that_comes_later_leaves_preemption_alone(void)
{
	two_spin();
	tell("before");
	set(count, 0);
	tell("then");
	two_spin();
	raise(SIGURG);
	wait_until_handled(1);
	send_from_outside();
	wait_until_handled(2);
	set(SIG_IGN, 0);
	two_spin();
	raise(SIGURG);
	send_from_outside();
	tell("at last");
	printf("handled %d\n", (int)handled);
}

/* When the first thread is made, and later on. */
static void a_thread_that_blocks_it_is_preempted(void)
{
	sigset_t set_;

	set(count, SA_RESTART);
	sigemptyset(&set_);
	sigaddset(&set_, SIGURG);
	pthread_sigmask(SIG_BLOCK, &set_, NULL);
	two_spin();
	raise(SIGURG);
	printf("blocked, handled %d\n", (int)handled);
	pthread_sigmask(SIG_UNBLOCK, &set_, NULL);
	printf("let in, handled %d\n", (int)handled);
}

static void older_calls_set_it_too(void)
{
	two_spin();
	signal(SIGURG, count);
	tell("signal");
	siginterrupt(SIGURG, 1);
	tell("siginterrupt");
	siginterrupt(SIGURG, 0);
	tell("siginterrupt");
	sysv_signal(SIGURG, count);
	tell("sysv_signal");
	raise(SIGURG);
	wait_until_handled(1);
	tell("then");
	sigset(SIGURG, count);
	tell("sigset");
	sigignore(SIGURG);
	tell("sigignore");
	printf("%d\n", signal(SIGURG, SIG_ERR) == SIG_ERR);
	two_spin();
}

static void *wait_for_one(void *set)
{
	siginfo_t info;
	int signal = sigwaitinfo(set, &info);

	printf("%d: %d, %d\n", signal == SIGURG, info.si_code,
	       info.si_pid != getpid());
	return NULL;
}

static void the_thread_that_waits_for_it_gets_it(void)
{
	sigset_t set;
	pthread_t t;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	t = start(wait_for_one, &set);
	usleep(20000);
	send_from_outside();
	finish(t);
}

static void where_all_block_it_it_waits(void)
{
	sigset_t urgent, pending;

	set(count, 0);
	two_spin();
	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_BLOCK, &urgent, NULL);
	send_from_outside();
	do {
		usleep(1000);
		sigpending(&pending);
	} while (!sigismember(&pending, SIGURG));
	printf("handled %d\n", (int)handled);
	pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
	wait_until_handled(1);
}

static void a_childs_is_its_own(void)
{
	pid_t child;
	int status;

	set(count, SA_RESTART);
	two_spin();
	fflush(stdout);
	child = fork();
	if (child == 0) {
		tell("child");
		raise(SIGURG);
		wait_until_handled(1);
		two_spin();
		set(SIG_IGN, 0);
		raise(SIGURG);
		tell("child");
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("%d\n", status);
	child = vfork();
	if (child == 0) {
		set(SIG_DFL, 0);
		_exit(0);
	}
	waitpid(child, &status, 0);
	tell("parent");
	two_spin();
	raise(SIGURG);
	wait_until_handled(1);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_from_before_the_first_thread_stays),
	COMPARE(a_handler_that_comes_later_leaves_preemption_alone),
	COMPARE(a_thread_that_blocks_it_is_preempted),
	COMPARE(older_calls_set_it_too),
	COMPARE(the_thread_that_waits_for_it_gets_it),
	COMPARE(where_all_block_it_it_waits),
	COMPARE(a_childs_is_its_own),
};

COMPARE_MAIN(cases)
