/* SPDX-License-Identifier: MIT */
/*
 * test_order_wake.c - a signal that comes while its thread wakes another
 *
 * The first thread wakes another one, which sends it a signal at once and then posts a
 * semaphore. Behind its next call, which takes the semaphore without a wait, the handler
 * must have run.
 */
#include "compare.h"

#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#define ROUNDS	1000

struct way {
	const char *name;
	void (*hold)(void);	/* by the first thread, before the other waits; or NULL */
	void (*wait)(void);	/* by the other thread */
	void (*wake)(void);	/* by the first thread */
};

static pthread_t first;
static volatile int handled;
static sem_t posted, answered;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust, shared;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, shared_cond;
static int is_told;
static _Atomic uint32_t word;
static _Atomic int waits;	/* the other thread is about to */

static void take(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
}

static void wait_post(void)
{
	take(&posted);
}

static void post(void)
{
	sem_post(&posted);
}

static void lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static void wait_lock(void)
{
	lock();
	unlock();
}

static void lock_robust(void)
{
	pthread_mutex_lock(&robust);
}

static void unlock_robust(void)
{
	pthread_mutex_unlock(&robust);
}

static void wait_robust(void)
{
	lock_robust();
	unlock_robust();
}

static void lock_shared(void)
{
	pthread_mutex_lock(&shared);
}

static void unlock_shared(void)
{
	pthread_mutex_unlock(&shared);
}

static void wait_shared(void)
{
	lock_shared();
	unlock_shared();
}

static void lock_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
}

static void lock_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static void rw_unlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}

static void wait_to_write(void)
{
	lock_to_write();
	rw_unlock();
}

static void wait_to_read(void)
{
	lock_to_read();
	rw_unlock();
}

static void wait_told_by(pthread_cond_t *c)
{
	lock();
	while (!is_told)
		pthread_cond_wait(c, &mutex);
	is_told = 0;
	unlock();
}

static void wait_told(void)
{
	wait_told_by(&cond);
}

static void wait_told_shared(void)
{
	wait_told_by(&shared_cond);
}

static void set_told(void)
{
	lock();
	is_told = 1;
	unlock();
}

static void tell(void)
{
	set_told();
	pthread_cond_signal(&cond);
}

static void tell_all(void)
{
	set_told();
	pthread_cond_broadcast(&cond);
}

static void tell_shared(void)
{
	set_told();
	pthread_cond_signal(&shared_cond);
}

static void wait_word(void)
{
	while (word == 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	word = 0;
}

static void set_word(void)
{
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const struct way ways[] = {
	{ "sem_post", NULL, wait_post, post },
	{ "pthread_mutex_unlock", lock, wait_lock, unlock },
	{ "... of a robust one", lock_robust, wait_robust, unlock_robust },
	{ "... of one of processes", lock_shared, wait_shared, unlock_shared },
	{ "pthread_rwlock_unlock by a writer", lock_to_write, wait_to_read, rw_unlock },
	{ "... by a reader", lock_to_read, wait_to_write, rw_unlock },
	{ "pthread_cond_signal", NULL, wait_told, tell },
	{ "pthread_cond_broadcast", NULL, wait_told, tell_all },
	{ "... of one of processes", NULL, wait_told_shared, tell_shared },
	{ "FUTEX_WAKE", NULL, wait_word, set_word },
};

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void *answer(void *arg)
{
	const struct way *way = arg;

	for (int i = 0; i < scaled(ROUNDS); i++) {
		while (waits)
			sched_yield();
		waits = 1;
		way->wait();
		pthread_kill(first, SIGUSR1);
		sem_post(&answered);
	}
	return NULL;
}

static int is_late(const struct way *way)
{
	int late;

	if (way->hold)
		way->hold();
	waits = 0;
	while (!waits)
		sched_yield();
	usleep(60);		/* it waits by now */
	way->wake();
	take(&answered);
	late = !handled;
	while (!handled)
		;
	handled = 0;
	return late;
}

/*
 * The kernel, too, may need a moment until it has interrupted a thread on another CPU. So
 * one in four hundred is none. Where a call did not look for signals at its end, one in a
 * hundred was late.
 */
static void go_through(const struct way *way)
{
	const int rounds = scaled(ROUNDS);
	pthread_t t;
	int late = 0;

	waits = 1;
	t = start(answer, (void *)(uintptr_t)way);
	for (int i = 0; i < rounds; i++)
		late += is_late(way);
	finish(t);
	printf("%s: %s\n", way->name, late * 400 > rounds ? "late" : "in time");
}

static void begin(void)
{
	const struct sigaction action = { .sa_handler = count };
	pthread_mutexattr_t attr;
	pthread_condattr_t cond_attr;

	first = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &attr);
	pthread_condattr_init(&cond_attr);
	pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared_cond, &cond_attr);
}

static void a_signal_to_a_thread_that_wakes_another_is_handled_at_once(void)
{
	begin();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		go_through(&ways[i]);
}

static const struct compare_case cases[] = {
	COMPARE(a_signal_to_a_thread_that_wakes_another_is_handled_at_once),
};

COMPARE_MAIN(cases)
