/* SPDX-License-Identifier: MIT */
/*
 * model.h - what a scenario in C gets from the checker, and gives to it
 *
 * A scenario is a table of functions. In each execution the checker runs init,
 * then every thread at once, then check alone. All state is made in init: each
 * atomic object that a thread touches must have been stored to there, because
 * the checker keeps its value, not the memory (lockfree/atomic_model.h).
 *
 * What a violation is: m_fail(), a data race on m_data_*(), or threads that
 * are all blocked in m_block() or m_futex_wait().
 */
#ifndef WEFT_MODEL_H
#define WEFT_MODEL_H

#include "lockfree/atomic.h"

#define MODEL_THREADS	4

struct model_scenario {
	void (*init)(void);
	void (*thread[MODEL_THREADS])(void);	/* up to the first NULL */
	void (*check)(void);
};

/* The symbol that the checker looks for. */
#define SCENARIO(name)	const struct model_scenario scenario_##name

void m_fail(const char *what);

/* Which thread of the scenario runs, from 0. */
int m_self(void);

/* m_data_write(p), m_data_read(p): see lockfree/atomic_model.h. */

/* A binary semaphore for each number below 8: a parked thread. */
void m_block(int who);
void m_unblock(int who);

/* A futex for each number below 8, not one used above. */
void m_futex_wait(int who, const volatile void *p, uint32_t value);
void m_futex_wake(int who);		/* all that sleep */
void m_futex_wake_one(int who);

/* Goes round again until another thread has moved. */
void m_yield(void);

#define m_check(x)	((x) ? (void)0 : m_fail(#x))

#endif
