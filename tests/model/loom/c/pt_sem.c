/* SPDX-License-Identifier: MIT */
/* pt_sem.c - scenarios: pthread/sync/sem.c, with its waiters in the lot */
#include "pt.h"

#include <semaphore.h>
#include <time.h>

#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"

struct wefti_real wefti_real;

static sem_t sem;
static char shared, gift;
static int taken;

static _Atomic uint64_t *word(void)
{
	return (_Atomic uint64_t *)(void *)&sem;
}

void wefti_cancel_act(void)
{
	m_fail("nobody is cancelled");
}

void wefti_signals_run(void)
{
	m_fail("there are no signals");
}

static void init_value(uint64_t value)
{
	const void *const keys[] = { &sem, NULL };

	memset(&sem, 0, sizeof(sem));
	init_pt(0, keys);
	store_relaxed(word(), value);
	m_data_write(&shared);
	m_data_write(&gift);
	taken = 0;
}

static void init_lock(void)
{
	init_value(1);
}

static void init_empty(void)
{
	init_value(0);
}

static void lock_and_unlock(void)
{
	m_check(sem_wait(&sem) == 0);
	m_data_write(&shared);
	m_check(sem_post(&sem) == 0);
}

static void lock_twice(void)
{
	lock_and_unlock();
	lock_and_unlock();
}

static void wait_it(void)
{
	m_check(sem_wait(&sem) == 0);
}

static void wait_for_gift(void)
{
	wait_it();
	m_data_read(&gift);
}

static void wait_in_time(void)
{
	const struct timespec at = { 0, 1 };

	taken = sem_clockwait(&sem, CLOCK_MONOTONIC, &at) == 0;
}

static void post(void)
{
	m_check(sem_post(&sem) == 0);
}

static void give(void)
{
	m_data_write(&gift);
	post();
}

static void post_twice(void)
{
	post();
	post();
}

static void check_value(uint64_t value)
{
	m_check(load_relaxed(word()) == value);
	m_check(wefti_lot_wake(&sem, 1, WEFTI_LOT_ANY) == 0);
}

static void check_lock(void)
{
	check_value(1);
	m_data_write(&shared);
}

static void check_empty(void)
{
	check_value(0);
}

static void check_one(void)
{
	check_value((uint64_t)(1 - taken));
}

SCENARIO(pt_sem_one) = { init_empty, { wait_for_gift, give }, check_empty };
SCENARIO(pt_sem_lock) = { init_lock, { lock_twice, lock_and_unlock }, check_lock };
SCENARIO(pt_sem_two) = { init_empty, { wait_it, wait_it, post_twice }, check_empty };
SCENARIO(pt_sem_two_posters) = { init_empty, { wait_it, wait_it, post, post }, check_empty };
SCENARIO(pt_sem_timed) = { init_empty, { wait_in_time, post }, check_one };
/* The one that times out does not take the wake-up along. */
SCENARIO(pt_sem_timed_two) = {
	init_empty, { wait_in_time, wait_it, post_twice }, check_one,
};
