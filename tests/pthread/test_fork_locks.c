/* SPDX-License-Identifier: MIT */
/*
 * test_fork_locks.c - a process forks while its threads take the library's own locks; its
 * child takes each of them
 *
 * Each use takes one lock (pthread/core/hold.h). The locks are those of signal actions,
 * queued signals, thread timers, owners of descriptors and robust mutexes. Others are those
 * of deputies, of what processes share, and of the lot.
 */
#include "compare.h"

#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FORKS	80

static _Atomic int stop;

static void must(int ok)
{
	if (!ok)
		abort();
}

static void set_action(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	must(sigaction(SIGUSR2, &ignore, NULL) == 0);
}

/* To itself, so that no signal is left. */
static void queue_signal(void)
{
	const struct timespec now = { 0, 0 };
	const int signal = SIGRTMIN + 1;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	must(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	must(pthread_sigqueue(pthread_self(), signal, (union sigval){ 1 }) == 0);
	must(sigtimedwait(&set, NULL, &now) == signal);
}

static void make_timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2,
	};
	timer_t timer;

	event._sigev_un._tid = gettid();
	must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	must(timer_delete(timer) == 0);
}

static void own_descriptor(void)
{
	struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	int ends[2];

	must(pipe2(ends, O_CLOEXEC) == 0);
	must(fcntl(ends[0], F_SETOWN_EX, &owner) == 0);
	must(fcntl(ends[0], F_GETOWN_EX, &owner) == 0);
	close(ends[0]);
	close(ends[1]);
}

static void lock_mutex(int robust, int protocol, int shared)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setpshared(&attr, shared);
	must(pthread_mutex_init(&m, &attr) == 0);
	must(pthread_mutex_lock(&m) == 0);
	must(pthread_mutex_unlock(&m) == 0);
	pthread_mutex_destroy(&m);
	pthread_mutexattr_destroy(&attr);
}

static void lock_robust(void)
{
	lock_mutex(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
}

/* A thread's first one gets it a deputy. */
static void *inherit(void *unused)
{
	lock_mutex(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, PTHREAD_PROCESS_SHARED);
	return unused;
}

static void inherit_by_another(void)
{
	finish(start(inherit, NULL));
}

static void wait_for_semaphore(int shared)
{
	const struct timespec then = soon(CLOCK_REALTIME, 1);
	sem_t sem;

	must(sem_init(&sem, shared, 0) == 0);
	must(sem_timedwait(&sem, &then) == -1 && errno == ETIMEDOUT);
	sem_destroy(&sem);
}

static void wait_shared(void)
{
	wait_for_semaphore(1);
}

static void wait_private(void)
{
	wait_for_semaphore(0);
}

static void (*const uses[])(void) = {
	set_action, queue_signal, make_timer, own_descriptor, lock_robust,
	inherit_by_another, wait_shared, wait_private,
};

#define USES	((int)(sizeof(uses) / sizeof(*uses)))

/* It yields, as on few VCPUs threads that begin and end leave others little time. */
static void *go_on_using(void *use)
{
	while (!stop) {
		uses[(long)use]();
		sched_yield();
	}
	return NULL;
}

static void *use_each(void *unused)
{
	for (int i = 0; i < USES; i++)
		uses[i]();
	return unused;
}

/* A thread of the child, since the runtime is off until it makes one. */
static int is_child_well(void)
{
	const pid_t child = fork();
	int status = -1;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		finish(start(use_each, NULL));
		_exit(0);
	}
	must(child > 0 && waitpid(child, &status, 0) == child);
	return status == 0;
}

/* Two threads at a time take the same lock, beside the one that forks. */
static void a_child_takes_every_lock(void)
{
	for (long use = 0; use < USES; use++) {
		pthread_t t[2];
		int well = 0, all = (int)scaled(FORKS) / USES + 1;

		stop = 0;
		for (int i = 0; i < 2; i++)
			t[i] = start(go_on_using, (void *)use);
		for (int i = 0; i < all; i++)
			well += is_child_well();
		stop = 1;
		for (int i = 0; i < 2; i++)
			finish(t[i]);
		printf("%ld: %d\n", use, well == all);
		fflush(stdout);
	}
}

/* --- no lock, but values that change at the fork ----------------------- */

static void note(int signal)
{
	(void)signal;
}

static void *change_actions(void *arg)
{
	while (!stop) {
		signal(SIGWINCH, note);
		signal(SIGWINCH, SIG_DFL);
	}
	return arg;
}

/* The child reads all actions, to give them back to the kernel. */
static void a_child_reads_an_action_that_was_changing(void)
{
	const long forks = scaled(100);
	pthread_t changer;
	long well = 0;

	stop = 0;
	changer = start(change_actions, NULL);
	for (long i = 0; i < forks; i++) {
		const pid_t child = fork();
		int status = -1;

		if (child == 0)
			_exit(0);
		must(child > 0 && waitpid(child, &status, 0) == child);
		well += status == 0;
	}
	stop = 1;
	finish(changer);
	printf("%d\n", well == forks);
}

static const struct compare_case cases[] = {
	COMPARE(a_child_takes_every_lock),
	COMPARE(a_child_reads_an_action_that_was_changing),
};

COMPARE_MAIN(cases)
