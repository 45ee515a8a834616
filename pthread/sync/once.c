/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/once.c - pthread_once(): a function runs once
 *
 *   0 not done, 2 done. Else the count of forks << 2 | 1: a thread is running it. If
 *   another thread was running it at a fork, the child runs it again.
 *
 * If a thread leaves the function by an exception, or is cancelled in it, the function
 * does not count as done (pthread/signal/unwound.c).
 *
 * Writers
 *   *attempt.word  end
 *   *word_of()  pthread_once
 *
 * Pairs
 *   P1  end stores the result  ->  the next caller: what the function did
 *   Model: tests/model/loom/c/pt_once.c.
 */
#include "pthread/core/second_names.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/unwound.h"
#include "pthread/wait/lot.h"

#define DONE	2u
#define BUSY	1u

static _Atomic uint32_t *word_of(pthread_once_t *once)
{
	return (_Atomic uint32_t *)(void *)once;
}

struct attempt {
	_Atomic uint32_t *word;
	uint32_t result;	/* what the word becomes */
	void (*fn)(void);
};

static void end(struct attempt *a)
{
	store_release(a->word, a->result);	/* P1 */
	wefti_lot_wake(a->word, UINT32_MAX, WEFTI_LOT_ANY);
}

static int is_busy(void *arg)
{
	return load_seq_cst((_Atomic uint32_t *)arg) & BUSY;
}

static void wait_for(_Atomic uint32_t *word)
{
	const struct wefti_lot_wait w = {
		.key = word, .check = is_busy, .arg = word,
		.deadline = INT64_MAX, .urgent = WEFTI_URGENT_SIGNAL,
		.why = WEFTI_WHY_ONCE,
	};

	wefti_lot_wait(&w);
	wefti_signals_look();
}

static void call(void *attempt)
{
	((struct attempt *)attempt)->fn();
}

static void give_up(void *attempt)
{
	end(attempt);
}

static void attempt(_Atomic uint32_t *word, void (*fn)(void))
{
	struct attempt a = { word, 0, fn };

	wefti_unwound_call(call, &a, give_up);
	a.result = DONE;
	end(&a);
}

EXPORT int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	_Atomic uint32_t *word = word_of(once);
	uint32_t busy = wefti_fork_count() << 2 | BUSY;

	for (;;) {
		uint32_t w = load_acquire(word);	/* P1 */

		if (likely(w == DONE))
			return 0;
		if (w == busy)
			wait_for(word);
		else if (cas_seq_cst(word, &w, busy))
			attempt(word, fn);
	}
}

SECOND_NAME(pthread_once, __pthread_once);

EXPORT void call_once(once_flag *flag, void (*fn)(void))
{
	pthread_once((pthread_once_t *)(void *)flag, fn);
}
