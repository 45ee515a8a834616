/* SPDX-License-Identifier: MIT */
/* lock.c - scenarios: threads that compete for a lock, and sleep for it */
#include "model.h"

#include "lockfree/lock.h"
#include "os/call/futex.h"

static _Atomic uint32_t word;
static char data;

int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	(void)deadline;
	m_futex_wait(0, w, value);
	return 0;
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	(void)w;
	m_check(count == 1);
	m_futex_wake_one(0);
	return 0;
}

static void init(void)
{
	store_relaxed(&word, 0u);
	m_data_write(&data);
}

static void section(void)
{
	wefti_lock_lock(&word, WEFTI_LOCK_PRIVATE);
	m_data_write(&data);
	wefti_lock_unlock(&word, WEFTI_LOCK_PRIVATE);
}

static void two_sections(void)
{
	section();
	section();
}

/* Unlocked, with nobody inside; woken may be left over by nobody. */
static void check(void)
{
	m_data_read(&data);
	m_check((load_relaxed(&word) & ~WEFTI_LOCK_WOKEN) == 0);
	section();
	m_check(load_relaxed(&word) == 0);
}

SCENARIO(lock) = { init, { two_sections, section }, check };
SCENARIO(lock_three) = { init, { section, section, section }, check };
