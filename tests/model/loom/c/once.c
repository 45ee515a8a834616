/* SPDX-License-Identifier: MIT */
/* once.c - scenarios: sync/once.c; the first runs may fail */
#include "listed.h"

#include "weft/once.h"

static struct weft_once once;
static char made;
static int runs, failures;

static _Atomic uint64_t *word(void)
{
	return (_Atomic uint64_t *)(void *)&once;
}

static void init_failing(int times)
{
	init_threads();
	once = (struct weft_once){ { 0 } };
	store_relaxed(word(), (uint64_t)0);
	store_relaxed((_Atomic uint64_t *)&once + 3, (uint64_t)0);	/* runner */
	m_data_write(&once);
	m_data_write(&made);
	runs = 0;
	failures = times;
}

static void init(void)
{
	init_failing(0);
}

static void init_fails(void)
{
	init_failing(1);
}

static int make(void *arg)
{
	(void)arg;
	m_data_write(&made);
	return ++runs <= failures ? -EIO : 0;
}

static void call(void)
{
	int error = weft_once(&once, make, NULL);

	m_check(error == 0 || (failures && error == -EIO));
	if (!error)
		m_data_read(&made);
}

static void call_in_time(void)
{
	int error = weft_once_until(&once, make, NULL, LATER);

	m_check(error == 0 || error == -ETIMEDOUT || (failures && error == -EIO));
	if (!error)
		m_data_read(&made);
}

/* A run that failed is not tried again by a thread whose time is over. */
static void check_timed(void)
{
	m_check(runs <= failures + 1);
	m_check(load_relaxed(word()) == (runs > failures ? 0x10 : 0));
	check_nodes();
}

static void check(void)
{
	m_check(runs == failures + 1);
	m_check(load_relaxed(word()) == 0x10);	/* DONE */
	check_nodes();
}

SCENARIO(once) = { init, { call, call }, check };
SCENARIO(once_three) = { init, { call, call, call }, check };
SCENARIO(once_fails) = { init_fails, { call, call, call }, check };
SCENARIO(once_timed) = { init, { call_in_time, call, clock }, check };
SCENARIO(once_fails_timed) = { init_fails, { call_in_time, call, clock }, check_timed };
