/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/once.c - pthread_once(): a function runs once
 *
 * Structure
 *   word  the count of forks << 2 | BUSY; or DONE; or 0
 *
 * States
 *   NEW   0: not done
 *   BUSY  a thread is running the function. OLD, if that was before a fork: the thread
 *         does not exist in the child, which runs the function again.
 *   DONE  the function has been run
 *
 *   NEW, OLD --pthread_once--> BUSY
 *   BUSY --end--> DONE
 *   BUSY --end, by an exception or a cancellation--> NEW (pthread/signal/unwound.c)
 *   BUSY --fork--> OLD, in the child
 *
 * Writers
 *   *attempt.word  end
 *   *word_of()  pthread_once
 *
 * Invariants
 *   I1  At most one thread of the process runs the function: the one whose CAS made it
 *       BUSY. Only that thread changes the word of a BUSY one.
 *   I2  A thread waits only while the word is BUSY, which it checks under the lot's lock.
 *       end() stores the result, then wakes all that wait.
 *
 * Linearization
 *   The run begins at pthread_once's CAS, and ends at the store in end(). Any other call
 *   returns at its load of DONE.
 *
 * Progress
 *   Wait-free once it is DONE: one load. A waiting thread waits for the function.
 *
 * ABA and reclamation
 *   NEW may come back after a failed run, and the CAS is right then. 2^30 forks, each in
 *   the child of the one before, would make an old word look BUSY. The store is end()'s
 *   last access to the word; the wake uses only the address.
 *
 * Pairs
 *   P1  end stores the result  ->  the next caller: what the function did
 *   Model: tests/model/loom/c/pt_once.c.
 *
 * Source
 *   The word and its values are glibc's (nptl/pthread_once.c).
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
	wefti_signals_run_any();
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

	if (unlikely(!wefti_real.pthread_once))		/* called by dlsym() */
		wefti_real_find_in_libc();
	wefti_unwound_call(call, &a, give_up);
	a.result = DONE;
	end(&a);
	wefti_signals_run_any();
}

EXPORT int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	_Atomic uint32_t *word = word_of(once);
	uint32_t busy = wefti_fork_count() << 2 | BUSY;

	if (wefti_is_aside())
		return REAL(pthread_once)(once, fn);
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
