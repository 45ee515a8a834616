/* SPDX-License-Identifier: MIT */
/* test_blocked.c - signals and cancellation meet threads that wait */
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "compare.h"

static sem_t handled;

static void on_signal(int signal)
{
	(void)signal;
	sem_post(&handled);
}

static void handle(int signal)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	sem_init(&handled, 0, 0);
	sigaction(signal, &action, NULL);
}

static sigset_t only(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

/* --- handlers run while their threads wait ------------------------- */

static pthread_barrier_t barrier;

static void *meet(void *arg)
{
	return (void *)(long)(pthread_barrier_wait(arg) ==
			      PTHREAD_BARRIER_SERIAL_THREAD);
}

static void barrier_lets_handlers_run(void)
{
	long serial = 0;
	pthread_t t;

	handle(SIGUSR1);
	pthread_barrier_init(&barrier, NULL, 2);
	for (int round = 0; round < 20; round++) {
		t = start(meet, &barrier);
		pthread_kill(t, SIGUSR1);
		sem_wait(&handled);
		serial += (long)meet(&barrier);
		serial += (long)finish(t);
	}
	show("destroy", pthread_barrier_destroy(&barrier));
	printf("serial: %ld\n", serial);
}

static void *wait_shared(void *sem)
{
	while (sem_wait(sem) != 0)
		;
	return NULL;
}

static void what_processes_share_lets_handlers_run(void)
{
	sem_t *sem = mmap(NULL, sizeof(*sem), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t t;

	handle(SIGUSR1);
	sem_init(sem, 1, 0);
	t = start(wait_shared, sem);
	usleep(20000);		/* most likely it waits */
	for (int i = 0; i < 10; i++) {
		pthread_kill(t, SIGUSR1);
		sem_wait(&handled);
	}
	sem_post(sem);
	finish(t);
	printf("handled\n");
}

/* --- signals that all block for a while ---------------------------- */

#define SENT	200

static volatile int sent, stop;

static void *send_again_and_again(void *arg)
{
	sigset_t set = only(SIGUSR1);

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!stop) {
		sem_wait(&handled);
		kill(getpid(), SIGUSR1);
		sent++;
	}
	return arg;
}

static void *let_in(void *arg)
{
	sigset_t set = only(SIGUSR1);

	(void)arg;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (sent < SENT)
		sched_yield();
	stop = 1;
	return NULL;
}

/* The sender waits for each handler: one that is lost would stop it. */
static void no_signal_is_lost_to_a_running_handler(void)
{
	sigset_t set = only(SIGUSR1);
	pthread_t receiver, sender;

	handle(SIGUSR1);
	sem_post(&handled);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	receiver = start(let_in, NULL);
	sender = start(send_again_and_again, NULL);
	finish(receiver);
	/* One may wait for a thread that lets it in. */
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	finish(sender);
	printf("sent all: %d\n", sent >= SENT);
}

static void *give_back(void *arg)
{
	return arg;
}

/* From a process that is not ours, so that the kernel knows the sender. */
static void a_signal_that_all_block_stays_as_it_was(void)
{
	sigset_t set = only(SIGUSR1), pending;
	siginfo_t info;
	pid_t child;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	finish(start(give_back, NULL));
	child = fork();
	if (child == 0) {
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	do
		sigpending(&pending);
	while (!sigismember(&pending, SIGUSR1));
	printf("%d\n", sigwaitinfo(&set, &info) == SIGUSR1);
	printf("from the child: %d\n", info.si_pid == child);
}

static void *look_at_pending(void *arg)
{
	sigset_t pending;

	(void)arg;
	sigpending(&pending);
	return (void *)(long)sigismember(&pending, SIGUSR1);
}

static void what_waits_for_main_waits_for_main_alone(void)
{
	sigset_t set = only(SIGUSR1);
	int signal;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	printf("thread: %ld\n", (long)finish(start(look_at_pending, NULL)));
	printf("main: %ld\n", (long)look_at_pending(NULL));
	sigwait(&set, &signal);
	printf("got it: %d\n", signal == SIGUSR1);
}

static void *hold_and_pause(void *arg)
{
	sem_t *ready = arg;

	sighold(SIGUSR1);
	sem_post(ready);
	show_errno("sigpause", sigpause(SIGUSR1));
	printf("blocked again: %ld\n",
	       (long)(sigset(SIGUSR1, SIG_HOLD) == SIG_HOLD));
	return NULL;
}

static void masks_of_system_v_are_the_thread_s(void)
{
	sem_t ready;
	pthread_t t;

	handle(SIGUSR1);
	sem_init(&ready, 0, 0);
	t = start(hold_and_pause, &ready);
	sem_wait(&ready);
	pthread_kill(t, SIGUSR1);
	sem_wait(&handled);
	finish(t);
}

/* --- cancellation at once ------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *lock_mutex(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(arg);
	pthread_mutex_lock(&mutex);
	return NULL;
}

static void *lock_rwlock(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(arg);
	pthread_rwlock_rdlock(&rwlock);
	return NULL;
}

static void asynchronous_cancellation_ends_a_wait_for_a_lock(void)
{
	void *(*const lock[])(void *arg) = { lock_mutex, lock_rwlock };

	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	for (int i = 0; i < 20; i++) {
		sem_t ready;
		pthread_t t;

		sem_init(&ready, 0, 0);
		t = start(lock[i % 2], &ready);
		sem_wait(&ready);
		pthread_cancel(t);
		if (finish(t) != PTHREAD_CANCELED)
			printf("%d: not cancelled\n", i);
	}
	show("mutex", pthread_mutex_unlock(&mutex));
	show("rwlock", pthread_rwlock_unlock(&rwlock));
}

/* --- new threads ----------------------------------------------------- */

static void *nothing(void *arg)
{
	return arg;
}

static void *until_handled(void *arg)
{
	while (sem_wait(&handled) != 0)
		;
	return arg;
}

/* A function that glibc has from 2.32 on. */
int pthread_attr_setsigmask_np(pthread_attr_t *attr, const sigset_t *mask)
	__attribute__((weak));

static void a_new_thread_takes_what_all_others_block(void)
{
	const sigset_t set = only(SIGUSR1);
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t none;

	if (!pthread_attr_setsigmask_np) {
		printf("libc has no pthread_attr_setsigmask_np()\n");
		return;
	}
	finish(start(nothing, NULL));
	handle(SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	sigemptyset(&none);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &none);
	show("create", pthread_create(&thread, &attr, until_handled, NULL));
	finish(thread);
}

static _Atomic int is_over;

static void *make_threads(void *arg)
{
	while (!is_over)
		finish(start(nothing, NULL));
	return arg;
}

/* Its default action would end the process. */
static void a_new_thread_blocks_before_others_find_it(void)
{
	const sigset_t set = only(SIGUSR1);
	const long times = scaled(1000);
	int signal = 0;
	pthread_t maker;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	maker = start(make_threads, NULL);
	for (long i = 0; i < times; i++) {
		kill(getpid(), SIGUSR1);
		usleep(50);	/* no thread waits for it: it may find a new one */
		sigwait(&set, &signal);
	}
	is_over = 1;
	finish(maker);
	printf("%d\n", signal == SIGUSR1);
}

/* --- when another thread acts at the same moment --------------------- */

#define LOW	8

static sem_t may_end;
static _Atomic long counted;
static _Thread_local int is_programs;
static _Atomic long strays;

static void count(int signal)
{
	(void)signal;
	counted++;
}

static void *end_when_told(void *arg)
{
	while (sem_wait(&may_end) != 0)
		;
	return arg;
}

/*
 * Short-lived threads let the signal in, and stand in the table before the thread that
 * makes them, which lets it in too. The sender sends the next when one was handled.
 */
static void a_thread_that_ends_leaves_it_to_others(void)
{
	const sigset_t set = only(SIGUSR1);
	const long times = scaled(1000);
	pthread_t low[LOW], maker;

	sem_init(&may_end, 0, 0);
	signal(SIGUSR1, count);
	for (int i = 0; i < LOW; i++)
		low[i] = start(end_when_told, NULL);
	maker = start(make_threads, NULL);
	for (int i = 0; i < LOW; i++)
		sem_post(&may_end);
	for (int i = 0; i < LOW; i++)
		finish(low[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (long i = 0; i < times; i++) {
		const long before = counted;

		kill(getpid(), SIGUSR1);
		while (counted == before)
			usleep(10);
	}
	is_over = 1;
	finish(maker);
	printf("each was handled: %d\n", counted >= times);
}

static void look_who_runs_it(int signal)
{
	(void)signal;
	strays += !is_programs;
}

static void *change_action(void *arg)
{
	is_programs = 1;
	while (!is_over) {
		signal(SIGWINCH, look_who_runs_it);
		signal(SIGWINCH, SIG_DFL);
	}
	return arg;
}

static void a_handler_that_comes_just_now_runs_in_a_thread(void)
{
	const long times = scaled(20000);
	pthread_t changer;
	pid_t child;

	is_programs = 1;
	changer = start(change_action, NULL);
	child = fork();
	if (child == 0) {
		for (long i = 0; i < times; i++) {
			kill(getppid(), SIGWINCH);
			if (i % 8 == 0)
				usleep(1);
		}
		_exit(0);
	}
	while (waitpid(child, NULL, 0) != child)
		;
	is_over = 1;
	finish(changer);
	printf("handlers elsewhere: %ld\n", (long)strays);
}

static const struct compare_case cases[] = {
	COMPARE(barrier_lets_handlers_run),
	COMPARE(what_processes_share_lets_handlers_run),
	COMPARE(no_signal_is_lost_to_a_running_handler),
	COMPARE(a_signal_that_all_block_stays_as_it_was),
	COMPARE(what_waits_for_main_waits_for_main_alone),
	COMPARE(masks_of_system_v_are_the_thread_s),
	COMPARE(a_new_thread_takes_what_all_others_block),
	COMPARE(a_new_thread_blocks_before_others_find_it),
	COMPARE(a_thread_that_ends_leaves_it_to_others),
	COMPARE(a_handler_that_comes_just_now_runs_in_a_thread),
	COMPARE(asynchronous_cancellation_ends_a_wait_for_a_lock),
};

COMPARE_MAIN(cases)
