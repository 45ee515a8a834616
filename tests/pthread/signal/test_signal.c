/* SPDX-License-Identifier: MIT */
/* test_signal.c - signals: masks, receivers, and what they interrupt */
#include "compare.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

static sem_t begun, never, posted;
static volatile sig_atomic_t got, in_thread;
static pthread_t target;

static void on_signal(int signal)
{
	got = signal;
	in_thread = pthread_equal(pthread_self(), target) != 0;
	sem_post(&posted);
}

static void handle(int signal, int flags)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = flags,
	};

	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
	sem_init(&begun, 0, 0);
	sem_init(&never, 0, 0);
	sem_init(&posted, 0, 0);
}

static sigset_t set_of(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

static volatile int over;

static void *wait_for_ever(void *arg)
{
	(void)arg;
	sem_post(&begun);
	show_errno("wait", sem_wait(&never));
	over = 1;
	return NULL;
}

/*
 * Signals the thread until its call is over: a signal that comes before the
 * call begins does not end it.
 */
static int interrupt(pthread_t t, int signal)
{
	int error = 0;

	sem_wait(&begun);
	while (!over && error == 0) {
		usleep(5000);
		error = pthread_kill(t, signal);
	}
	return error;
}

static void a_handler_runs_in_the_thread_and_ends_its_wait(void)
{
	int error;

	handle(SIGUSR1, 0);
	target = start(wait_for_ever, NULL);
	error = interrupt(target, SIGUSR1);
	finish(target);
	show("kill", error);
	printf("got %d, there %d\n", got == SIGUSR1, in_thread);
	show("signal 0", pthread_kill(pthread_self(), 0));
	show("no signal", pthread_kill(pthread_self(), 1000));
}

static volatile int stop;

static void *compute_until_got(void *arg)
{
	sem_post(&begun);
	while (!got)
		;
	return arg;
}

static void *compute(void *arg)
{
	sem_post(&begun);
	while (!stop)
		;
	return arg;
}

/* It is sent while the thread is at the end of a call, about to compute. */
static void a_signal_at_the_end_of_a_call_is_not_lost(void)
{
	for (int i = 0; i < 20; i++) {
		stop = got = 0;
		handle(SIGUSR1, SA_RESTART);
		target = start(compute_until_got, NULL);
		sem_wait(&begun);
		pthread_kill(target, SIGUSR1);
		finish(target);
	}
	printf("got %d\n", got == SIGUSR1);
}

static volatile int is_ending;

static void *end_at_once(void *arg)
{
	is_ending = 1;
	return arg;
}

static void *wait_to_be_interrupted(void *arg)
{
	while (sem_wait(&never) == 0)
		;
	over = 1;
	return arg;
}

/* Whoever comes after a thread has nothing of the signals that came at its end. */
static void one_that_came_too_late_is_in_nobodys_way(void)
{
	long rounds = scaled(5000), wrong = 0;

	for (long i = 0; i < rounds; i++) {
		handle(SIGUSR1, 0);
		is_ending = 0;
		target = start(end_at_once, NULL);
		while (!is_ending)
			sched_yield();
		for (int k = 0; k < 20; k++)
			wrong += pthread_kill(target, SIGUSR1) != 0;
		finish(target);
		over = 0;
		target = start(wait_to_be_interrupted, NULL);
		for (; !over; sched_yield())
			wrong += pthread_kill(target, SIGUSR1) != 0;
		finish(target);
	}
	printf("wrong %ld\n", wrong);
}

static void a_thread_that_computes_is_interrupted(void)
{
	handle(SIGUSR2, 0);
	target = start(compute, NULL);
	sem_wait(&begun);
	pthread_kill(target, SIGUSR2);
	while (sem_wait(&posted) != 0)
		;
	stop = 1;
	finish(target);
	printf("got %d, there %d\n", got == SIGUSR2, in_thread);
}

static FILE *from;
static volatile int computes;

static void *compute_after_reading(void *arg)
{
	sem_post(&begun);
	fgetc(from);		/* by libc's own read() */
	computes = 1;
	while (!got)
		;
	return arg;
}

/* While it is blocked, another thread is given its place on the CPU. */
static void a_blocked_thread_that_computes_is_interrupted(void)
{
	int ends[2];

	handle(SIGUSR1, SA_RESTART);
	if (pipe(ends) != 0)
		abort();
	from = fdopen(ends[0], "r");
	target = start(compute_after_reading, NULL);
	sem_wait(&begun);
	usleep(50000);
	(void)!write(ends[1], "x", 1);
	while (!computes)
		sched_yield();
	show("kill", pthread_kill(target, SIGUSR1));
	finish(target);
	printf("got %d, there %d\n", got == SIGUSR1, in_thread);
	fclose(from);
	close(ends[1]);
}

static void *sleep_through(void *arg)
{
	struct timespec time = { 1000, 0 }, rest = { 0, 0 };

	sem_post(&begun);
	show_errno("sleep", nanosleep(&time, &rest));
	printf("rest %d\n", rest.tv_sec > 900);
	over = 1;
	return arg;
}

static void a_sleep_is_cut_short(void)
{
	handle(SIGUSR1, SA_RESTART);
	target = start(sleep_through, NULL);
	show("kill", interrupt(target, SIGUSR1));
	finish(target);
}

static void *look_at_mask(void *arg)
{
	sigset_t set;

	(void)arg;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return (void *)(long)(sigismember(&set, SIGUSR1) +
			      2 * sigismember(&set, SIGUSR2));
}

static void masks_are_inherited_and_ones_own(void)
{
	sigset_t set = set_of(SIGUSR1), old;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	printf("%ld\n", (long)finish(start(look_at_mask, NULL)));
	set = set_of(SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &set, &old);
	printf("%ld, before %d\n", (long)finish(start(look_at_mask, NULL)),
	       sigismember(&old, SIGUSR1));
	show("bad", pthread_sigmask(77, &set, NULL));
}

static void a_blocked_signal_waits(void)
{
	sigset_t set = set_of(SIGUSR1), pending;

	handle(SIGUSR1, 0);
	finish(start(look_at_mask, NULL));
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	sigpending(&pending);
	printf("got %d, pending %d\n", (int)got,
	       sigismember(&pending, SIGUSR1));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	printf("got %d\n", got == SIGUSR1);
}

static void *wait_for_signal(void *arg)
{
	sigset_t set = set_of(SIGTERM);
	int signal = 0;

	sem_post(&begun);
	show("sigwait", sigwait(&set, &signal));
	printf("signal %d\n", signal == SIGTERM);
	return arg;
}

static void the_process_gets_a_signal_that_one_waits_for(void)
{
	sigset_t set = set_of(SIGTERM);
	struct timespec soon = { 0, 10000000 }, past = { -1, 0 };

	handle(SIGUSR1, 0);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	target = start(wait_for_signal, NULL);
	sem_wait(&begun);
	usleep(20000);
	kill(getpid(), SIGTERM);
	finish(target);
	show_errno("timed", sigtimedwait(&set, NULL, &soon));
	show_errno("of the past", sigtimedwait(&set, NULL, &past));
}

static void *let_it_in(void *arg)
{
	sigset_t set = set_of(SIGALRM);

	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	sem_post(&begun);
	while (sem_wait(&posted) != 0)
		;
	return arg;
}

static void a_signal_of_the_process_goes_to_who_lets_it_in(void)
{
	sigset_t set = set_of(SIGALRM);
	struct itimerval timer = { .it_value = { 0, 30000 } };

	handle(SIGALRM, 0);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	target = start(let_it_in, NULL);
	sem_wait(&begun);
	setitimer(ITIMER_REAL, &timer, NULL);
	finish(target);
	printf("got %d, there %d\n", got == SIGALRM, in_thread);
}

static void the_default_action_ends_the_process(void)
{
	finish(start(look_at_mask, NULL));
	printf("now\n");
	fflush(stdout);
	kill(getpid(), SIGTERM);
	pause();
}

static volatile int *volatile nowhere = (volatile int *)8;

static void a_fault_is_the_programs(void)
{
	finish(start(look_at_mask, NULL));
	printf("now\n");
	fflush(stdout);
	*nowhere = 1;
}

/* Pages that may not be touched until the handler has been there. */
#define FAR	65536
static char *pages;

/* The first page's waits, and others fault meanwhile. */
static void mend(int signal, siginfo_t *info, void *context)
{
	const sigset_t set = set_of(signal);
	const int saved = errno;

	(void)context;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (info->si_addr == pages) {
		sem_post(&begun);
		while (sem_wait(&posted) != 0)
			;
	}
	if (mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE) != 0)
		abort();
	errno = saved;
}

static void *touch(void *arg)
{
	*(volatile char *)arg = 1;
	return arg;
}

static void a_handler_of_a_fault_may_wait_while_others_fault(void)
{
	struct sigaction action = {
		.sa_sigaction = mend, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	pthread_t first;

	handle(SIGUSR1, 0);
	sigfillset(&action.sa_mask);
	pages = mmap(NULL, (size_t)9 * FAR, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	finish(start(look_at_mask, NULL));	/* weft's own handler is there */
	sigaction(SIGSEGV, &action, NULL);
	first = start(touch, pages);
	while (sem_wait(&begun) != 0)
		;
	for (int i = 1; i < 9; i++)
		finish(start(touch, pages + (size_t)i * FAR));
	sem_post(&posted);
	printf("%d\n", finish(first) == pages);
}

static void sigsuspend_waits_with_another_mask(void)
{
	sigset_t set = set_of(SIGUSR1), none, now;

	handle(SIGUSR1, SA_RESTART);
	finish(start(look_at_mask, NULL));
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	sigemptyset(&none);
	show_errno("suspend", sigsuspend(&none));
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	printf("got %d, blocked %d\n", got == SIGUSR1,
	       sigismember(&now, SIGUSR1));
}

static void *compute_until_told(void *arg)
{
	const struct itimerval timer = { .it_value.tv_usec = 20000 };

	target = pthread_self();
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	while (!got)
		;
	return arg;
}

/* The first thread lets it in as well, and waits. */
static void the_clock_of_the_cpus_is_for_who_computes(void)
{
	handle(SIGVTALRM, 0);
	for (int i = 0; i < 5; i++) {
		got = 0;
		finish(start(compute_until_told, NULL));
		printf("%d %d\n", got == SIGVTALRM, in_thread);
	}
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_runs_in_the_thread_and_ends_its_wait),
	COMPARE(a_signal_at_the_end_of_a_call_is_not_lost),
	COMPARE(one_that_came_too_late_is_in_nobodys_way),
	COMPARE(a_thread_that_computes_is_interrupted),
	COMPARE(a_blocked_thread_that_computes_is_interrupted),
	COMPARE(a_sleep_is_cut_short),
	COMPARE(masks_are_inherited_and_ones_own),
	COMPARE(a_blocked_signal_waits),
	COMPARE(the_process_gets_a_signal_that_one_waits_for),
	COMPARE(a_signal_of_the_process_goes_to_who_lets_it_in),
	COMPARE(the_clock_of_the_cpus_is_for_who_computes),
	ENDS_BY(SIGTERM, the_default_action_ends_the_process),
	ENDS_BY(SIGSEGV, a_fault_is_the_programs),
	COMPARE(a_handler_of_a_fault_may_wait_while_others_fault),
	COMPARE(sigsuspend_waits_with_another_mask),
};

COMPARE_MAIN(cases)
