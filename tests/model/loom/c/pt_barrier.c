/* SPDX-License-Identifier: MIT */
/* pt_barrier.c - scenarios: pthread/sync/barrier.c, with its waiters in the lot */
#include "pt.h"

#include <pthread.h>

#include "pthread/core/real.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"

#define POISON	77u

struct wefti_real wefti_real;

static pthread_barrier_t barrier;
static char part[THREADS];
static int serial[THREADS];

/* As in pthread/sync/barrier.c: in, round, count, shared, inside. */
static _Atomic uint32_t *words(void)
{
	return (_Atomic uint32_t *)(void *)&barrier;
}

void wefti_cancel_act(void)
{
	m_fail("nobody is cancelled");
}

void wefti_signals_run(void)
{
	m_fail("there are no signals");
}

static void init_of(uint32_t count)
{
	const void *const keys[] = { words(), words() + 4, NULL };

	memset(&barrier, 0, sizeof(barrier));
	init_pt(0, keys);
	((uint32_t *)(void *)&barrier)[2] = count;
	store_relaxed(words() + 1, 0u);
	store_relaxed(words() + 4, 0u);
	for (int i = 0; i < THREADS; i++)
		m_data_write(&part[i]), serial[i] = 0;
}

static void init_two(void)
{
	init_of(2);
}

static void init_three(void)
{
	init_of(3);
}

static void meet(void)
{
	const int r = pthread_barrier_wait(&barrier);

	m_check(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
	serial[m_self()] += r != 0;
}

/* Each writes its part before, and reads the next one's behind. */
static void round_of(int count)
{
	const int me = m_self();

	m_data_write(&part[me]);
	meet();
	m_data_read(&part[(me + 1) % count]);
}

static void round_of_two(void)
{
	round_of(2);
}

static void round_of_three(void)
{
	round_of(3);
}

static void two_rounds(void)
{
	round_of(2);
	meet();
	round_of(2);
}

static void meet_and_destroy(void)
{
	round_of(2);
	m_check(pthread_barrier_destroy(&barrier) == 0);
	store_relaxed(words() + 1, POISON);
	store_relaxed(words() + 4, POISON);
}

static int served(void)
{
	int n = 0;

	for (int i = 0; i < THREADS; i++)
		n += serial[i];
	return n;
}

static void check_one(void)
{
	m_check(load_relaxed(words() + 1) == 1);
	m_check(load_relaxed(words() + 4) == 0);
	m_check(served() == 1);
}

static void check_three_rounds(void)
{
	m_check(load_relaxed(words() + 1) == 3);
	m_check(load_relaxed(words() + 4) == 0);
	m_check(served() == 3);
}

static void check_poison(void)
{
	m_check(load_relaxed(words() + 1) == POISON);
	m_check(load_relaxed(words() + 4) == POISON);
	m_check(served() == 1);
}

SCENARIO(pt_barrier_two) = { init_two, { round_of_two, round_of_two }, check_one };
SCENARIO(pt_barrier_three) = {
	init_three, { round_of_three, round_of_three, round_of_three }, check_one,
};
SCENARIO(pt_barrier_again) = { init_two, { two_rounds, two_rounds }, check_three_rounds };
SCENARIO(pt_barrier_destroyed) = {
	init_two, { meet_and_destroy, round_of_two }, check_poison,
};
