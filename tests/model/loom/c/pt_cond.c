/* SPDX-License-Identifier: MIT */
/*
 * pt_cond.c - scenarios: pthread/sync/cond.c, with its waiters in the lot
 *
 * The mutex is one of pthread/core/hold.h.
 */
#include "pt.h"

#include <pthread.h>
#include <time.h>

#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/sync/cond_shared.h"
#include "pthread/sync/mutex.h"

#define POISON	77u

struct wefti_real wefti_real;

static pthread_cond_t cond;
static pthread_mutex_t mutex;
static char flag_is_guarded;
static int flag, handled;

/* As in pthread/sync/cond.c: count, missed, handling. */
static _Atomic uint32_t *words(void)
{
	return (_Atomic uint32_t *)(void *)&cond;
}

static _Atomic uint32_t *mutex_word(void)
{
	return (_Atomic uint32_t *)(void *)&mutex;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	(void)m;
	wefti_hold_lock(mutex_word());
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	(void)m;
	wefti_hold_unlock(mutex_word());
	return 0;
}

int wefti_mutex_may_wait_other(const pthread_mutex_t *m)
{
	(void)m;
	return 1;
}

void wefti_preempt_insist(struct wefti_thread *t)
{
	(void)t;
}

void wefti_cancel_act(void)
{
	m_fail("nobody is cancelled");
}

void wefti_signals_run(void)
{
	fetch_and_seq_cst(&model_pt()->urgent, ~WEFTI_URGENT_SIGNAL);
	handled = 1;
}

void wefti_unwound_again(void (*then)(void *arg), void *arg)
{
	(void)then, (void)arg;
	wefti_signals_run_any();
}

int wefti_cond_shared_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	(void)c, (void)m, (void)deadline;
	m_fail("no process shares it");
	return 0;
}

static int not_shared(void)
{
	m_fail("no process shares it");
	return 0;
}

int wefti_cond_shared_signal(pthread_cond_t *c)
{
	(void)c;
	return not_shared();
}

int wefti_cond_shared_broadcast(pthread_cond_t *c)
{
	(void)c;
	return not_shared();
}

int wefti_cond_shared_destroy(pthread_cond_t *c)
{
	(void)c;
	return not_shared();
}

static void init(void)
{
	const void *const keys[] = { &cond, NULL };

	memset(&cond, 0, sizeof(cond));
	memset(&mutex, 0, sizeof(mutex));
	init_pt(0, keys);
	for (int i = 1; i <= THREADS; i++) {
		store_relaxed(&pt[i].taking, 0);
		store_relaxed(&pt[i].told, 0);
	}
	for (int i = 0; i < 3; i++)
		store_relaxed(words() + i, 0u);
	store_relaxed(mutex_word(), 0u);
	flag = handled = 0;
	m_data_write(&flag_is_guarded);
}

static int is_set(void)
{
	m_data_read(&flag_is_guarded);
	return flag;
}

static void set(void)
{
	m_data_write(&flag_is_guarded);
	flag = 1;
}

static void wait_it(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_set())
		m_check(pthread_cond_wait(&cond, &mutex) == 0);
	pthread_mutex_unlock(&mutex);
}

static void wait_in_time(void)
{
	const struct timespec at = { 0, 1 };
	int error = 0;

	pthread_mutex_lock(&mutex);
	while (!is_set() && !error)
		error = pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &at);
	m_check(error == 0 || error == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

static void set_locked(void)
{
	pthread_mutex_lock(&mutex);
	set();
	pthread_mutex_unlock(&mutex);
}

static void set_and_signal(void)
{
	set_locked();
	m_check(pthread_cond_signal(&cond) == 0);
}

static void set_and_signal_twice(void)
{
	set_and_signal();
	m_check(pthread_cond_signal(&cond) == 0);
}

static void set_and_broadcast(void)
{
	set_locked();
	m_check(pthread_cond_broadcast(&cond) == 0);
}

/* Under the mutex, so that no thread begins to wait behind the broadcast. */
static void broadcast_and_destroy(void)
{
	pthread_mutex_lock(&mutex);
	set();
	m_check(pthread_cond_broadcast(&cond) == 0);
	m_check(pthread_cond_destroy(&cond) == 0);
	for (int i = 0; i < 3; i++)
		store_relaxed(words() + i, POISON);
	pthread_mutex_unlock(&mutex);
}

static void interrupt(void)
{
	wefti_pt_urge(&thread[1], WEFTI_URGENT_SIGNAL);
}

static void interrupt_and_broadcast(void)
{
	interrupt();
	set_and_broadcast();
}

static void check_words(uint32_t value)
{
	m_check(load_relaxed(words()) == value);
	m_check(load_relaxed(words() + 2) == value);
	m_check(load_relaxed(mutex_word()) == 0);
	m_check(wefti_lot_wake(&cond, 1, WEFTI_LOT_ANY) == 0);
	m_data_write(&flag_is_guarded);
}

static void check_none(void)
{
	check_words(0);
}

static void check_handled(void)
{
	check_none();
	if (load_relaxed(&pt[1].urgent) & WEFTI_URGENT_SIGNAL)
		m_check(!handled);
}

static void check_poison(void)
{
	check_words(POISON);
	m_check(load_relaxed(words() + 1) == POISON);
}

SCENARIO(pt_cond_one) = { init, { wait_it, set_and_signal }, check_none };
SCENARIO(pt_cond_two) = { init, { wait_it, wait_it, set_and_signal_twice }, check_none };
SCENARIO(pt_cond_all) = { init, { wait_it, wait_it, set_and_broadcast }, check_none };
SCENARIO(pt_cond_timed) = { init, { wait_in_time, set_and_signal }, check_none };
SCENARIO(pt_cond_timed_two) = {
	init, { wait_in_time, wait_it, set_and_signal_twice }, check_none,
};
/* A woken thread does not touch what the broadcaster has destroyed. */
SCENARIO(pt_cond_destroyed) = { init, { wait_it, broadcast_and_destroy }, check_poison };
/* A handler runs in the wait: no signal is lost meanwhile. */
SCENARIO(pt_cond_handler) = {
	init, { wait_it, interrupt, set_and_signal }, check_handled,
};
SCENARIO(pt_cond_handler_all) = {
	init, { wait_it, interrupt_and_broadcast }, check_handled,
};
