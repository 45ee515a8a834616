/* SPDX-License-Identifier: MIT */
/* test_thread_timer.c - timers that send their signal to one thread */
#include "compare.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

#define MS	1000000L

static _Thread_local volatile int got;
static _Thread_local int value;
static _Atomic int wrong, ready;
static pthread_t receiver;

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_code != SI_TIMER)
		wrong++;
	got++;
	value = info->si_value.sival_int;
}

static void install(int signal)
{
	struct sigaction a = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	sigaction(signal, &a, NULL);
}

static struct sigevent event_for(pid_t id, int signal, int number)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = signal };

	e.sigev_value.sival_int = number;
	e.sigev_notify_thread_id = id;
	return e;
}

static void set(timer_t timer, long first_ms, long each_ms)
{
	struct itimerspec t = {
		.it_value = { first_ms / 1000, first_ms % 1000 * MS },
		.it_interval = { each_ms / 1000, each_ms % 1000 * MS },
	};

	show_errno("set", timer_settime(timer, 0, &t, NULL));
}

static sigset_t one(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

/* --- one thread ------------------------------------------------------ */

static void *wait_for_it(void *signal)
{
	const int number = (int)(long)signal;
	struct sigevent e = event_for(gettid(), number, 42);
	struct timespec for_ever = { 100000, 0 };
	sigset_t s = one(number);
	siginfo_t info;
	timer_t timer;

	pthread_sigmask(SIG_BLOCK, &s, NULL);
	show_errno("create", timer_create(CLOCK_MONOTONIC, &e, &timer));
	set(timer, 2, 0);
	printf("got %d\n", sigtimedwait(&s, &info, &for_ever) == number);
	printf("code %d value %d overrun %d\n", info.si_code == SI_TIMER,
	       info.si_value.sival_int, info.si_overrun);
	printf("overrun %d\n", timer_getoverrun(timer));
	show_errno("delete", timer_delete(timer));
	return NULL;
}

static void a_thread_waits_for_its_timer(void)
{
	finish(start(wait_for_it, (void *)(long)SIGALRM));
	finish(start(wait_for_it, (void *)(long)SIGRTMIN));
	finish(start(wait_for_it, (void *)(long)SIGURG));
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void the_first_thread_waits_for_its_timer(void)
{
	finish(start(do_nothing, NULL));
	wait_for_it((void *)(long)SIGALRM);
}

/* A child has no timers, and may make some. */
static void a_child_waits_for_its_timer(void)
{
	int status;

	finish(start(wait_for_it, (void *)(long)SIGALRM));
	fflush(stdout);
	if (fork() == 0) {
		finish(start(wait_for_it, (void *)(long)SIGUSR1));
		exit(0);
	}
	wait(&status);
	printf("%d\n", status);
}

static void *be_interrupted(void *unused)
{
	struct sigevent e = event_for(gettid(), SIGALRM, 1);
	const sigset_t s = one(SIGALRM);
	sigset_t before;
	timer_t timer;

	show_errno("create", timer_create(CLOCK_MONOTONIC, &e, &timer));
	pthread_sigmask(SIG_BLOCK, &s, &before);
	set(timer, 2, 0);
	while (!got)
		sigsuspend(&before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	printf("handled %d value %d\n", got, value);
	got = 0;
	set(timer, 1, 1);
	while (got < 5)
		;
	show_errno("delete", timer_delete(timer));
	show_errno("again", timer_delete(timer));
	return unused;
}

static void handlers_run_in_the_thread(void)
{
	install(SIGALRM);
	finish(start(be_interrupted, NULL));
	printf("wrong %d, elsewhere %d\n", wrong, got);
}

static void *sleep_through(void *unused)
{
	struct sigevent e = event_for(gettid(), SIGALRM, 1);
	struct timespec for_ever = { 100000, 0 };
	timer_t timer;

	timer_create(CLOCK_REALTIME, &e, &timer);
	set(timer, 5, 5);	/* the first may come before the sleep */
	show_errno("sleep", nanosleep(&for_ever, NULL));
	timer_delete(timer);
	return unused;
}

static void a_sleep_ends(void)
{
	install(SIGALRM);
	finish(start(sleep_through, NULL));
}

/*
 * A signal that comes while one waits is counted. The thread that takes the one
 * is told the count.
 */
static void *come_late(void *signal)
{
	const int number = (int)(long)signal;
	struct sigevent e = event_for(gettid(), number, 3);
	const struct timespec nap = { 0, 20 * MS };
	sigset_t s = one(number), pending;
	siginfo_t info;
	timer_t timer;

	pthread_sigmask(SIG_BLOCK, &s, NULL);
	timer_create(CLOCK_MONOTONIC, &e, &timer);
	set(timer, 1, 1);
	do {
		do {
			nanosleep(&nap, NULL);
			sigpending(&pending);
		} while (!sigismember(&pending, number));
		if (sigwaitinfo(&s, &info) != number)
			abort();
	} while (info.si_overrun <= 10);
	printf("the same: %d\n", timer_getoverrun(timer) >= 10);
	show_errno("delete", timer_delete(timer));
	return NULL;
}

static void overruns_are_counted(void)
{
	finish(start(come_late, (void *)(long)SIGALRM));
	finish(start(come_late, (void *)(long)(SIGRTMIN + 1)));
}

/* --- several --------------------------------------------------------- */

static void *have_own(void *number)
{
	struct sigevent e = event_for(gettid(), SIGALRM, (int)(long)number);
	const long times = scaled(100);
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &e, &timer) != 0)
		abort();
	struct itimerspec t = { { 0, MS / 2 }, { 0, MS } };

	timer_settime(timer, 0, &t, NULL);
	while (got < times) {
		if (got % 2)
			usleep(1000);
		if (got && value != (int)(long)number)
			abort();
	}
	timer_delete(timer);
	return NULL;
}

static void each_has_its_own(void)
{
	pthread_t threads[8];

	install(SIGALRM);
	for (long i = 0; i < 8; i++)
		threads[i] = start(have_own, (void *)(i + 1));
	for (int i = 0; i < 8; i++)
		finish(threads[i]);
	printf("wrong %d, elsewhere %d\n", wrong, got);
}

/* Timers that are never set. */
static void *make_many(void *by_call)
{
	struct sigevent e = event_for(gettid(), SIGALRM, 1);
	timer_t timer;
	int id;

	for (long i = 0; i < scaled(200); i++) {
		if (timer_create(CLOCK_MONOTONIC, &e, &timer) != 0 ||
		    timer_getoverrun(timer) != 0 || timer_delete(timer) != 0)
			wrong++;
		if (!by_call)
			continue;
		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &id) != 0 ||
		    syscall(SYS_timer_getoverrun, id) != 0 ||
		    syscall(SYS_timer_delete, id) != 0)
			wrong++;
	}
	return by_call;
}

static void several_threads_make_them(void)
{
	pthread_t t[4];

	for (long i = 0; i < 4; i++)
		t[i] = start(make_many, (void *)(i % 2));
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	printf("wrong %d\n", wrong);
}

static _Atomic int id_of_other;

static void *be_the_other(void *unused)
{
	id_of_other = gettid();
	while (!got)
		usleep(1000);
	printf("value %d\n", value);
	return unused;
}

static void another_thread_makes_it(void)
{
	struct sigevent e;
	timer_t timer;

	install(SIGUSR1);
	receiver = start(be_the_other, NULL);
	while (!id_of_other)
		usleep(1000);
	e = event_for(id_of_other, SIGUSR1, 7);
	show_errno("create", timer_create(CLOCK_MONOTONIC, &e, &timer));
	set(timer, 1, 0);
	finish(receiver);
	printf("elsewhere %d\n", got);
	show_errno("delete", timer_delete(timer));
}

/* Its signals go to nobody; the timer stays. */
static void *make_and_end(void *timer)
{
	struct sigevent e = event_for(gettid(), SIGUSR1, 7);

	show_errno("create", timer_create(CLOCK_MONOTONIC, &e, timer));
	ready = gettid();
	return NULL;
}

static void its_thread_has_ended(void)
{
	struct sigevent e;
	timer_t timer, more;

	install(SIGUSR1);
	finish(start(make_and_end, &timer));
	set(timer, 1, 1);
	usleep(10000);
	printf("got %d\n", got);
	show_errno("delete", timer_delete(timer));
	/* libc's join returns before the kernel has forgotten the id. */
	while (tgkill(getpid(), ready, 0) == 0)
		sched_yield();
	e = event_for(ready, SIGUSR1, 7);
	show_errno("of none", timer_create(CLOCK_MONOTONIC, &e, &more));
}

/* --- what is refused, and by which way ------------------------------- */

static void *ask_wrongly(void *unused)
{
	struct sigevent e = event_for(gettid(), 0, 0);
	timer_t timer;

	show_errno("no signal", timer_create(CLOCK_MONOTONIC, &e, &timer));
	e.sigev_signo = 65;
	show_errno("no signal", timer_create(CLOCK_MONOTONIC, &e, &timer));
	e = event_for(1, SIGUSR1, 0);
	show_errno("another's", timer_create(CLOCK_MONOTONIC, &e, &timer));
	e = event_for(0, SIGUSR1, 0);
	show_errno("no thread", timer_create(CLOCK_MONOTONIC, &e, &timer));
	e = event_for(gettid(), SIGUSR1, 0);
	show_errno("no clock", timer_create(77, &e, &timer));
	return unused;
}

static void wrong_ones_are_refused(void)
{
	finish(start(ask_wrongly, NULL));
}

static void *ask_the_kernel(void *unused)
{
	struct sigevent e = event_for((pid_t)syscall(SYS_gettid), SIGUSR1, 9);
	struct itimerspec t = { .it_value = { 0, MS } };
	sigset_t s = one(SIGUSR1);
	siginfo_t info;
	int id = -1;

	pthread_sigmask(SIG_BLOCK, &s, NULL);
	show_errno("create", syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &id));
	show_errno("set", syscall(SYS_timer_settime, id, 0, &t, NULL));
	sigwaitinfo(&s, &info);
	printf("value %d, its id %d\n", info.si_value.sival_int,
	       info.si_timerid == id);
	printf("overrun %ld\n", syscall(SYS_timer_getoverrun, id));
	show_errno("delete", syscall(SYS_timer_delete, id));
	show_errno("again", syscall(SYS_timer_delete, id));
	return unused;
}

static void system_calls_do_the_same(void)
{
	finish(start(ask_the_kernel, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(a_thread_waits_for_its_timer),
	COMPARE(the_first_thread_waits_for_its_timer),
	COMPARE(a_child_waits_for_its_timer),
	COMPARE(handlers_run_in_the_thread),
	COMPARE(a_sleep_ends),
	COMPARE(overruns_are_counted),
	COMPARE(each_has_its_own),
	COMPARE(several_threads_make_them),
	COMPARE(another_thread_makes_it),
	COMPARE(its_thread_has_ended),
	COMPARE(wrong_ones_are_refused),
	COMPARE(system_calls_do_the_same),
};

COMPARE_MAIN(cases)
