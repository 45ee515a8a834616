/* SPDX-License-Identifier: MIT */
/* order_locks.h - how a thread waits for locks and for what is announced, and what ends it */
#ifndef WEFT_TESTS_ORDER_LOCKS_H
#define WEFT_TESTS_ORDER_LOCKS_H

#include "order_way.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- locks --------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust, shared, ceiling, inheriting;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static inline void lock(void)
{
	pthread_mutex_lock(&mutex);
}

static inline void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static inline void lock_and_unlock(void)
{
	lock();
	unlock();
}

static inline void lock_robust(void)
{
	pthread_mutex_lock(&robust);
}

static inline void unlock_robust(void)
{
	pthread_mutex_unlock(&robust);
}

static inline void wait_robust(void)
{
	lock_robust();
	unlock_robust();
}

static inline void lock_shared(void)
{
	pthread_mutex_lock(&shared);
}

static inline void unlock_shared(void)
{
	pthread_mutex_unlock(&shared);
}

static inline void wait_shared(void)
{
	lock_shared();
	unlock_shared();
}

/* libc refuses such a mutex to a thread without a real-time priority. */
static inline void lock_ceiling(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	pthread_mutex_lock(&ceiling);
}

static inline void unlock_ceiling(void)
{
	pthread_mutex_unlock(&ceiling);
}

static inline void wait_ceiling(void)
{
	lock_ceiling();
	unlock_ceiling();
}

static inline void lock_inheriting(void)
{
	pthread_mutex_lock(&inheriting);
}

static inline void unlock_inheriting(void)
{
	pthread_mutex_unlock(&inheriting);
}

static inline void wait_inheriting(void)
{
	lock_inheriting();
	unlock_inheriting();
}

static inline void lock_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
}

static inline void lock_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static inline void rw_unlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}

static inline void wait_to_write(void)
{
	lock_to_write();
	rw_unlock();
}

static inline void wait_to_read(void)
{
	lock_to_read();
	rw_unlock();
}

/* --- what is announced --------------------------------------------- */

static sem_t posted;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, shared_cond;
static pthread_barrier_t barrier;
static int is_told;
static _Atomic uint32_t word;

static inline void wait_post(void)
{
	take(&posted);
}

static inline void post(void)
{
	sem_post(&posted);
}

static inline void wait_told_by(pthread_cond_t *c)
{
	lock();
	while (!is_told)
		pthread_cond_wait(c, &mutex);
	is_told = 0;
	unlock();
}

static inline void wait_told(void)
{
	wait_told_by(&cond);
}

static inline void wait_told_shared(void)
{
	wait_told_by(&shared_cond);
}

static inline void set_told(void)
{
	lock();
	is_told = 1;
	unlock();
}

static inline void tell_all(void)
{
	set_told();
	pthread_cond_broadcast(&cond);
}

static inline void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static inline void wait_word(void)
{
	while (word == 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	word = 0;
}

static inline void set_word(void)
{
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ------------------------------------------------------------------- */

static inline void init_mutexes(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &attr);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attr, 1);
	pthread_mutex_init(&ceiling, &attr);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting, &attr);
}

static inline void init_objects(void)
{
	pthread_condattr_t attr;

	init_mutexes();
	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared_cond, &attr);
	pthread_barrier_init(&barrier, NULL, 2);
}

#endif
