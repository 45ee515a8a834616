/* SPDX-License-Identifier: MIT */
/* test_profile.c - handlers that timers call often, and at any moment; abort() */
#include "compare.h"

#include <malloc.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>

#define THREADS	4

static _Atomic long handled;
static _Atomic int stop;
static sem_t first, second;

static void set(int signal, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	sigaction(signal, &action, NULL);
}

/* By the clock, so that it comes however much is run. */
static timer_t begin_timer(int signal, long ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = signal };
	struct itimerspec every = { { 0, ns }, { 0, ns } };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &every, NULL) != 0)
		abort();
	return timer;
}

static volatile int counted;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	handled += signal == counted;
}

static void *nothing(void *arg)
{
	return arg;
}

/* --- all threads block it ------------------------------------------ */

static void blocked_by_all(int signal)
{
	sigset_t set_, pending;
	timer_t timer;

	set(signal, count);
	finish(start(nothing, NULL));
	sigemptyset(&set_);
	sigaddset(&set_, signal);
	pthread_sigmask(SIG_BLOCK, &set_, NULL);
	counted = signal;
	handled = 0;
	timer = begin_timer(signal, 1000000);
	do {
		sigpending(&pending);
	} while (!sigismember(&pending, signal));
	usleep(20000);
	printf("blocked: %ld\n", handled);
	pthread_sigmask(SIG_UNBLOCK, &set_, NULL);
	/* Whoever takes the signals for all may have to leave it to this thread yet. */
	while (handled == 0)
		usleep(1000);
	timer_delete(timer);
	printf("let in\n");
}

static void handlers_do_not_run_where_all_block_them(void)
{
	blocked_by_all(SIGPROF);
	blocked_by_all(SIGVTALRM);
	blocked_by_all(SIGABRT);
	blocked_by_all(SIGPIPE);
	blocked_by_all(SIGALRM);
}

/* --- on top of what a thread does ---------------------------------- */

static void post_both(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)signal;
	(void)info;
	(void)context;
	handled++;
	sem_post(&first);
	sem_post(&second);
	errno = saved;
}

static void *take(void *semaphore)
{
	long n = 0;

	do {
		while (sem_wait(semaphore) != 0)
			;
		n++;
	} while (!stop);
	return (void *)n;
}

/* What was posted was taken, or is there. */
static void handlers_post(void)
{
	const long enough = scaled(20000);
	pthread_t t[2];
	timer_t timer;
	long posted = 0, taken[2];
	int rest;

	sem_init(&first, 0, 0);
	sem_init(&second, 0, 0);
	t[0] = start(take, &first);
	t[1] = start(take, &second);
	set(SIGPROF, post_both);
	timer = begin_timer(SIGPROF, 50000);
	while (handled < enough) {
		sem_post(&first);
		posted++;
		sched_yield();
	}
	timer_delete(timer);
	stop = 1;
	sem_post(&first);
	sem_post(&second);
	taken[0] = (long)finish(t[0]);
	taken[1] = (long)finish(t[1]);
	signal(SIGPROF, SIG_IGN);	/* one may still have come since */
	sem_getvalue(&first, &rest);
	printf("first: %ld\n", posted + handled + 1 - taken[0] - rest);
	sem_getvalue(&second, &rest);
	printf("second: %ld\n", handled + 1 - taken[1] - rest);
}

static void burn(int signal, siginfo_t *info, void *context)
{
	static volatile long sink;

	(void)signal;
	(void)info;
	(void)context;
	for (long i = 0; i < 20000; i++)
		sink = sink + i;
	handled++;
}

static void *allocate(void *seed)
{
	unsigned x = (unsigned)(uintptr_t)seed;
	void *block[64] = { NULL };

	while (!stop) {
		unsigned i, bytes;

		x = x * 1103515245 + 12345;
		i = x >> 26;
		bytes = 1 + (x >> 8) % 9000;
		block[i] = realloc(block[i], bytes);
		memset(block[i], (int)i, bytes < 64 ? bytes : 64);
		if (x % 4096 == 0)
			malloc_trim(0);
	}
	for (int i = 0; i < 64; i++)
		free(block[i]);
	return NULL;
}

/* Each handler takes longer than the thread below it needs to give malloc's lock back. */
static void threads_allocate(void)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	const long enough = scaled(1000);
	pthread_t t[THREADS];

	set(SIGPROF, burn);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(allocate, (void *)(intptr_t)(i + 1));
	setitimer(ITIMER_PROF, &every, NULL);
	while (handled < enough)
		usleep(1000);
	setitimer(ITIMER_PROF, &never, NULL);
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	printf("all allocated\n");
}

/* --- where it was -------------------------------------------------- */

static _Atomic long in_text;

static __attribute__((noinline)) void *compute(void *unused)
{
	volatile long n = 0;

	while (!stop)
		n = n + 1;
	return unused;
}

/* A profiler looks at the context, and at the stack from there on. */
static void look(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const unsigned long *word = (const unsigned long *)&uc->uc_mcontext;

	(void)signal;
	(void)info;
	for (size_t i = 0; i < sizeof(uc->uc_mcontext) / sizeof(*word); i++)
		if (word[i] >= (uintptr_t)compute &&
		    word[i] < (uintptr_t)compute + 64) {
			in_text++;
			break;
		}
	handled++;
}

static void a_handler_is_told_where(int signal, int which)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	pthread_t t;

	stop = 0;
	in_text = 0;
	set(signal, look);
	t = start(compute, NULL);
	setitimer(which, &every, NULL);
	while (in_text < 20)
		usleep(1000);
	setitimer(which, &never, NULL);
	stop = 1;
	finish(t);
	printf("it was seen\n");
}

static void profilers_see_what_runs(void)
{
	a_handler_is_told_where(SIGPROF, ITIMER_PROF);
	a_handler_is_told_where(SIGVTALRM, ITIMER_VIRTUAL);
}

/* --- what handlers do ---------------------------------------------- */

static sigjmp_buf place;
static pthread_t jumper;

static void jump(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	if (!pthread_equal(pthread_self(), jumper))
		return;
	handled++;
	siglongjmp(place, 1);
}

static void *be_thrown(void *unused)
{
	static long enough;	/* a jump leaves it */
	sigset_t set_;

	enough = scaled(200);

	jumper = pthread_self();
	if (sigsetjmp(place, 1) == 0 || handled < enough) {
		sigemptyset(&set_);
		sigaddset(&set_, SIGPROF);
		pthread_sigmask(SIG_UNBLOCK, &set_, NULL);
		for (;;)
			;
	}
	pthread_sigmask(SIG_BLOCK, NULL, &set_);
	printf("blocked %d\n", sigismember(&set_, SIGPROF));
	return unused;
}

static void handlers_jump_out(void)
{
	sigset_t set_;
	timer_t timer;
	pthread_t t;

	sigemptyset(&set_);
	sigaddset(&set_, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &set_, NULL);
	set(SIGPROF, jump);
	timer = begin_timer(SIGPROF, 500000);
	t = start(be_thrown, NULL);
	finish(t);
	timer_delete(timer);
	printf("done\n");
}

static volatile sig_atomic_t inner;

static void wait_for_inner(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	handled++;
	while (!inner)
		;
}

static void run_inner(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	inner = 1;
}

static void a_handler_runs_on_top_of_another(void)
{
	pthread_t t;

	set(SIGPROF, wait_for_inner);
	set(SIGUSR1, wait_for_inner);
	set(SIGUSR2, run_inner);
	for (int i = 0; i < 2; i++) {
		stop = 0;
		handled = inner = 0;
		t = start(compute, NULL);
		pthread_kill(t, i ? SIGPROF : SIGUSR1);
		while (!handled)
			sched_yield();
		pthread_kill(t, SIGUSR2);
		while (!inner)
			sched_yield();
		stop = 1;
		finish(t);
	}
	printf("both have run\n");
}

/* --- abort() ------------------------------------------------------- */

static pthread_t aborter;

static void tell_and_return(int signal)
{
	printf("handler of %d, in the thread %d\n", signal,
	       pthread_equal(pthread_self(), aborter) != 0);
	fflush(stdout);
}

static void jump_away(int signal)
{
	tell_and_return(signal);
	siglongjmp(place, 1);
}

static void *abort_here(void *blocks)
{
	sigset_t set_;

	aborter = pthread_self();
	sigemptyset(&set_);
	sigaddset(&set_, SIGABRT);
	if (blocks)
		pthread_sigmask(SIG_BLOCK, &set_, NULL);
	if (sigsetjmp(place, 1) == 0)
		abort();
	pthread_sigmask(SIG_BLOCK, NULL, &set_);
	printf("left, blocked %d\n", sigismember(&set_, SIGABRT));
	fflush(stdout);
	return NULL;
}

static void try_abort(const char *what, void (*handler)(int), int blocks)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		signal(SIGABRT, handler);
		start(compute, NULL);
		finish(start(abort_here, blocks ? "" : NULL));
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("%s: %s %d\n", what, WIFSIGNALED(status) ? "signal" : "exit",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void abort_is_handled_where_it_was_called(void)
{
	for (int blocks = 0; blocks < 2; blocks++) {
		try_abort("by default", SIG_DFL, blocks);
		try_abort("ignored", SIG_IGN, blocks);
		try_abort("handled", tell_and_return, blocks);
		try_abort("left", jump_away, blocks);
	}
}

static const struct compare_case cases[] = {
	COMPARE(handlers_do_not_run_where_all_block_them),
	COMPARE(handlers_post),
	COMPARE(threads_allocate),
	COMPARE(profilers_see_what_runs),
	COMPARE(handlers_jump_out),
	COMPARE(a_handler_runs_on_top_of_another),
	COMPARE(abort_is_handled_where_it_was_called),
};

COMPARE_MAIN(cases)
