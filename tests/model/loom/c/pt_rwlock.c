/* SPDX-License-Identifier: MIT */
/*
 * pt_rwlock.c - scenarios: pthread/sync/rwlock.c, with its waiters in the lot
 *
 * Readers read what the lock protects, writers write it.
 */
#include "pt.h"

#include <pthread.h>
#include <time.h>

#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"

struct wefti_real wefti_real;

static pthread_rwlock_t lock;
static char shared;

/* As in pthread/sync/rwlock.c. */
static _Atomic uint32_t *word(void)
{
	return (_Atomic uint32_t *)(void *)&lock;
}

void wefti_cancel_act(void)
{
	m_fail("nobody is cancelled");
}

void wefti_signals_run(void)
{
	m_fail("there are no signals");
}

static void init_kind(int kind)
{
	const void *const keys[] = { word(), word() + 1, NULL };

	lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	lock.__data.__flags = (unsigned)kind;
	init_pt(0, keys);
	for (int i = 1; i <= THREADS; i++)
		pt[i].id = i;
	store_relaxed(word(), 0u);
	store_relaxed((_Atomic int *)word() + 2, 0);
	m_data_write(&shared);
}

static void init(void)
{
	init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
}

/* What thread 0 has locked already. */
static void init_written(void)
{
	init();
	m_check(pthread_rwlock_wrlock(&lock) == 0);
}

static void init_read(void)
{
	init_kind(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	m_check(pthread_rwlock_rdlock(&lock) == 0);
}

static void unlock(void)
{
	m_check(pthread_rwlock_unlock(&lock) == 0);
}

static void unlock_written(void)
{
	m_data_write(&shared);
	unlock();
}

static void unlock_read(void)
{
	m_data_read(&shared);
	unlock();
}

static void read_it(void)
{
	m_check(pthread_rwlock_rdlock(&lock) == 0);
	unlock_read();
}

static void write_it(void)
{
	m_check(pthread_rwlock_wrlock(&lock) == 0);
	unlock_written();
}

static void write_twice(void)
{
	write_it();
	write_it();
}

static void write_in_time(void)
{
	const struct timespec at = { 0, 1 };
	int error = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &at);

	m_check(error == 0 || error == ETIMEDOUT);
	if (!error)
		unlock_written();
}

/* A hint may be left that writers wait: see the head of rwlock.c. */
static void check(void)
{
	m_check((load_relaxed(word()) & ~4u) == 0);
	m_check(wefti_lot_wake(word(), 1, WEFTI_LOT_ANY) == 0);
	m_check(wefti_lot_wake(word() + 1, 1, WEFTI_LOT_ANY) == 0);
	m_data_write(&shared);
}

/* A reader has had it all the time. */
static void check_read(void)
{
	unlock();
	check();
}

SCENARIO(rw_write) = { init, { write_twice, write_it }, check };
SCENARIO(rw_read) = { init, { read_it, write_it }, check };
SCENARIO(rw_readers) = { init, { write_it, read_it, read_it }, check };
SCENARIO(rw_writers) = { init_written, { unlock_written, write_it, write_it }, check };
SCENARIO(rw_written) = { init_written, { unlock_written, read_it, write_it }, check };
SCENARIO(rw_timed) = { init_read, { unlock_read, write_in_time, read_it }, check };
SCENARIO(rw_left) = { init_read, { write_in_time, read_it }, check_read };
