/* SPDX-License-Identifier: MIT */
/*
 * pt_ceiling.c - scenarios: pthread/sync/ceiling.c, with its waiters in the lot
 *
 * A thread's priority is a number that the scenario gives; a raised one is not counted.
 */
#include "pt.h"

#include <sched.h>

#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/sync/ceiling.h"

#define HIGH	9
#define LOW	3

struct wefti_real wefti_real;

static pthread_mutex_t mutex;
static struct wefti_ceilings all_held[THREADS + 1];
static int8_t priority[THREADS + 1];
static char shared;

/* As in pthread/sync/ceiling.c. */
static _Atomic uint32_t *word(void)
{
	return (_Atomic uint32_t *)(void *)&mutex;
}

void wefti_cancel_act(void)
{
	m_fail("nobody is cancelled");
}

void wefti_signals_run(void)
{
	m_fail("there are no signals");
}

int wefti_guard(void)
{
	return 1;
}

int wefti_os_gettid(void)
{
	return 1;
}

int wefti_shared_wait(struct wefti_watch **watch, enum wefti_watch_kind kind,
		      _Atomic uint32_t *at, uint32_t value, int64_t deadline)
{
	(void)watch, (void)kind, (void)at, (void)value, (void)deadline;
	m_fail("no process shares it");
	return 0;
}

void wefti_shared_wake(const _Atomic uint32_t *at)
{
	(void)at;
	m_fail("no process shares it");
}

struct wefti_watch *wefti_watch_begin(_Atomic uint32_t *at, enum wefti_watch_kind kind)
{
	(void)at, (void)kind;
	m_fail("no process shares it");
	return NULL;
}

void wefti_watch_end(struct wefti_watch *watch)
{
	(void)watch;
}

struct wefti_schedule wefti_schedule_of(const struct wefti_pt *of)
{
	return (struct wefti_schedule){ .priority = priority[of - pt] };
}

int wefti_schedule_raise(int8_t ceiling)
{
	(void)ceiling;
	return 0;
}

static void init(void)
{
	const void *const keys[] = { word(), NULL };

	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	mutex.__data.__kind = WEFTI_MUTEX_PROTECT;
	init_pt(0, keys);
	memset(all_held, 0, sizeof(all_held));
	for (int i = 1; i <= THREADS; i++) {
		pt[i].id = i;
		pt[i].ceilings = &all_held[i];
		priority[i] = 0;
	}
	store_relaxed(word(), (uint32_t)HIGH << WEFTI_CEILING_SHIFT);
	store_relaxed((_Atomic int *)(void *)&mutex.__data.__owner, 0);
	m_data_write(&shared);
}

static void lock_and_unlock(void)
{
	m_check(wefti_ceiling_lock(&mutex, INT64_MAX) == 0);
	m_data_write(&shared);
	m_check(wefti_ceiling_unlock(&mutex) == 0);
}

static void lock_twice(void)
{
	lock_and_unlock();
	lock_and_unlock();
}

static void check_free(void)
{
	m_check((load_relaxed(word()) & ~WEFTI_CEILING_MASK) == 0);
	m_check(wefti_lot_wake(word(), 1, WEFTI_LOT_ANY) == 0);
	m_data_write(&shared);
}

/* Thread 1 has the mutex, and thread 0 a priority above the ceiling that it will set. */
static void init_owned(void)
{
	init();
	mutex.__data.__kind |= PTHREAD_MUTEX_RECURSIVE_NP;
	mutex.__data.__count = 1;
	mutex.__data.__nusers = 1;
	store_relaxed((_Atomic int *)(void *)&mutex.__data.__owner, 2);
	store_relaxed(word(), (uint32_t)HIGH << WEFTI_CEILING_SHIFT | 1);
	all_held[2].held[HIGH] = 1;
	priority[1] = LOW + 1;
}

static void lock_or_be_refused(void)
{
	const int error = wefti_ceiling_lock(&mutex, INT64_MAX);

	m_check(error == 0 || error == EINVAL);
	if (!error)
		m_check(wefti_ceiling_unlock(&mutex) == 0);
}

static void change_and_unlock(void)
{
	int old = 0;

	m_check(pthread_mutex_setprioceiling(&mutex, LOW, &old) == 0);
	m_check(wefti_lot_wake(word(), 1, WEFTI_LOT_ANY) == 0);
	m_check(wefti_ceiling_unlock(&mutex) == 0);
}

static void change_and_lock(void)
{
	int old = 0;

	m_check(pthread_mutex_setprioceiling(&mutex, LOW, &old) == 0);
	m_check(old == HIGH);
	lock_and_unlock();
}

SCENARIO(ceiling_lock) = { init, { lock_twice, lock_and_unlock }, check_free };
SCENARIO(ceiling_three) = {
	init, { lock_and_unlock, lock_and_unlock, lock_and_unlock }, check_free,
};
SCENARIO(ceiling_changed) = { init, { lock_twice, change_and_lock }, check_free };
/*
 * No thread waits under a ceiling that is no more: it may be refused under the new one, and
 * would take along a wake-up that another thread needs.
 */
SCENARIO(ceiling_refused) = {
	init_owned, { lock_or_be_refused, change_and_unlock }, check_free,
};
