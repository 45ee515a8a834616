/* SPDX-License-Identifier: MIT */
/* test_handler_forks.c - a handler forks: the child goes on where its thread was */
#include "compare.h"
#include "tasks.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static volatile sig_atomic_t has_forked, is_child, handled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static _Atomic int is_there, tid;
static sem_t sem;
static int ends[2];

static void note(int signal)
{
	(void)signal;
	handled++;
}

static void fork_here(int signal)
{
	(void)signal;
	is_child = fork() == 0;
	has_forked = 1;
}

static void fork_there(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	fork_here(signal);
}

/* --- where the thread is ------------------------------------------- */

static void compute(void)
{
	while (!has_forked)
		;
}

static void yield(void)
{
	while (!has_forked)
		sched_yield();
}

static void read_one(void)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		abort();
}

static void poll_pipe(void)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	(void)poll(&p, 1, 300);
}

static void wait_sem(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 300);

	(void)sem_timedwait(&sem, &at);
}

static void wait_cond(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 300);

	pthread_mutex_lock(&mutex);
	(void)pthread_cond_timedwait(&cond, &mutex, &at);
	pthread_mutex_unlock(&mutex);
}

static void wait_mutex(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 300);

	(void)pthread_mutex_timedlock(&taken, &at);
}

static void nap(void)
{
	usleep(300000);
}

static void raise_it(void)
{
	raise(SIGUSR1);
}

static const struct way {
	const char *name;
	void (*be)(void);
	int sleeps;
} ways[] = {
	{ "computes", compute, 0 },
	{ "yields", yield, 0 },
	{ "read", read_one, 1 },
	{ "poll", poll_pipe, 1 },
	{ "sem_timedwait", wait_sem, 1 },
	{ "pthread_cond_timedwait", wait_cond, 1 },
	{ "pthread_mutex_timedlock", wait_mutex, 1 },
	{ "usleep", nap, 1 },
	{ "raise", raise_it, -1 },
};

/* ------------------------------------------------------------------- */

static void *give_back(void *arg)
{
	return arg;
}

/* In the child: what it can do, a bit each. */
static int do_all(void)
{
	sigset_t mask;
	int does = 0;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	does |= !sigismember(&mask, SIGUSR1);
	raise(SIGUSR2);
	does |= (handled == 1) << 1;
	does |= (finish(start(give_back, &does)) == &does) << 2;
	raise(SIGUSR2);
	does |= (handled == 2) << 3;
	return does;
}

static void *be_there(void *arg)
{
	const struct way *way = arg;
	int status;

	tid = (int)syscall(SYS_gettid);
	is_there = 1;
	way->be();
	if (is_child)
		_exit(do_all());
	if (wait(&status) < 0)
		abort();
	printf("%s: %s %d\n", way->name, WIFSIGNALED(status) ? "signal" : "does",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
	return arg;
}

static void go_through(const struct way *way)
{
	pthread_t t;

	has_forked = handled = 0;
	is_there = 0;
	t = start(be_there, (void *)(uintptr_t)way);
	while (!is_there)
		usleep(1000);
	for (int i = 0; way->sleeps > 0 && i < 100 && !task_sleeps(tid); i++)
		usleep(1000);
	if (way->sleeps >= 0)
		pthread_kill(t, SIGUSR1);
	while (!has_forked)
		usleep(1000);
	if (way->be == read_one && write(ends[1], "xx", 2) != 2)
		abort();
	finish(t);
}

static void go_through_all(const struct sigaction *action)
{
	const struct sigaction other = { .sa_handler = note };

	sem_init(&sem, 0, 0);
	if (pipe(ends) != 0)
		abort();
	pthread_mutex_lock(&taken);
	sigaction(SIGUSR1, action, NULL);
	sigaction(SIGUSR2, &other, NULL);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		go_through(&ways[i]);
}

static void the_child_goes_on(void)
{
	const struct sigaction action = { .sa_handler = fork_here,
					  .sa_flags = SA_RESTART };

	go_through_all(&action);
}

static void so_it_does_with_a_context(void)
{
	const struct sigaction action = { .sa_sigaction = fork_there,
					  .sa_flags = SA_RESTART | SA_SIGINFO };

	go_through_all(&action);
}

static const struct compare_case cases[] = {
	COMPARE(the_child_goes_on),
	COMPARE(so_it_does_with_a_context),
};

COMPARE_MAIN(cases)
