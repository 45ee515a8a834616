/* SPDX-License-Identifier: MIT */
/*
 * pt_once.c - scenarios: pthread/sync/once.c, with its waiters in the lot
 *
 * loom.sh has an attempt ask here what has become of it: the first may be one that
 * was left by a cancellation.
 */
#include "pt.h"

#include <pthread.h>

#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"

struct wefti_real wefti_real = { .pthread_once = pthread_once };

static pthread_once_t once;
static char made;
static int runs, failures;

static _Atomic uint32_t *word(void)
{
	return (_Atomic uint32_t *)(void *)&once;
}

void wefti_signals_run(void)
{
	m_fail("there are no signals");
}

void wefti_real_find_in_libc(void)
{
	m_fail("libc's functions have been found");
}

/* No function is left halfway: see loom.sh. */
void wefti_unwound_call(void (*fn)(void *arg), void *arg, void (*then)(void *arg))
{
	(void)then;
	fn(arg);
}

uint32_t wefti_fork_count(void)
{
	return 1;
}

uint32_t model_result(uint32_t done)
{
	return runs <= failures ? 0 : done;
}

static void init(void)
{
	const void *const keys[] = { &once, NULL };

	init_pt(0, keys);
	store_relaxed(word(), 0u);
	m_data_write(&made);
	runs = failures = 0;
}

static void init_fails(void)
{
	init();
	failures = 1;
}

/* Another thread was at it when the process was forked. */
static void init_forked(void)
{
	init();
	store_relaxed(word(), 1u);
}

static void make(void)
{
	m_data_write(&made);
	runs++;
}

static void call(void)
{
	m_check(pthread_once(&once, make) == 0);
	m_data_read(&made);
}

static void check(void)
{
	m_check(runs == failures + 1);
	m_check(wefti_lot_wake(&once, 1, WEFTI_LOT_ANY) == 0);
}

SCENARIO(pt_once) = { init, { call, call }, check };
SCENARIO(pt_once_three) = { init, { call, call, call }, check };
SCENARIO(pt_once_fails) = { init_fails, { call, call, call }, check };
SCENARIO(pt_once_forked) = { init_forked, { call, call }, check };
