/* SPDX-License-Identifier: MIT */
/*
 * os/signal/errand.c - a call on another kernel thread
 *
 * There is one place for all errands. Its turn says how often it has been used.
 *
 * States of the word, beside the turn
 *   FREE	no errand
 *   WRITTEN	a sender is writing the errand down
 *   POSTED	it is written. tid may take it, the sender may take it back.
 *   TAKEN	tid is running it
 *   DONE	the result is there
 *
 *   FREE --send--> WRITTEN --send--> POSTED --run, of tid--> TAKEN --tid--> DONE
 *   DONE --send--> FREE, POSTED --send, in vain--> FREE: with the next turn
 *
 * Writers
 *   answer  wefti_os_errand_run
 *   argument  wefti_os_errand
 *   for_tid  wefti_os_errand
 *   function  wefti_os_errand
 *   place  change, claim, wefti_os_errand, wefti_os_errand_forget,
 *       wefti_os_errand_run
 *
 * Invariants
 *   I1  The errand's fields change only in WRITTEN, and only its sender writes them.
 *   I2  fn runs between TAKEN and DONE, once a turn, on `tid`.
 *
 * Linearization points: the CAS to TAKEN, or the CAS of a sender that takes it back.
 *
 * `run` reads the word, then the fields, then tries the CAS. The CAS succeeds only if
 * the turn is the same, so the fields were of this errand (no ABA within 2^29 turns).
 * Nothing is freed. `run` is wait-free except for fn. `send` waits for tid, and for the
 * senders before it, so it is for rare operations.
 *
 * Pairs (all seq_cst)
 *   P1  the fields are written, then POSTED; POSTED is read, then the fields.
 *   P2  the result is written, then DONE; DONE is read, then the result.
 *   Model: tests/model/loom/c/errand.c.
 */
#include "os/signal/errand.h"

#include <errno.h>
#include <stdint.h>

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/signal/signal.h"

enum { FREE, WRITTEN, POSTED, TAKEN, DONE };

#define STATE(word)	((word) & 7)
#define WITH(word, to)	(((word) & ~7u) | (to))
#define NEXT_TURN(word)	(((word) & ~7u) + 8)

#define ASK_AGAIN_NS	INT64_C(10000000)	/* the signal may have been lost */

static _Atomic uint32_t place;			/* a futex */

/* The errand's fields. `run` may read them while the next errand is written: I1. */
static _Atomic int for_tid;
static _Atomic(wefti_os_errand_fn *) function;
static _Atomic(void *) argument;
static _Atomic long answer;

static void change(uint32_t to)
{
	store_seq_cst(&place, to);				/* P2 */
	wefti_os_futex_wake(&place, INT32_MAX);
}

void wefti_os_errand_run(void)
{
	uint32_t seen = load_seq_cst(&place);		/* P1 */
	wefti_os_errand_fn *fn;
	void *arg;

	if (likely(STATE(seen) != POSTED) ||
	    load_relaxed(&for_tid) != wefti_os_gettid())
		return;
	fn = load_relaxed(&function);
	arg = load_relaxed(&argument);
	if (!cas_seq_cst(&place, &seen, WITH(seen, TAKEN)))
		return;
	store_relaxed(&answer, fn(arg));
	change(WITH(seen, DONE));
}

/* FREE -> WRITTEN. Returns the new word. */
static uint32_t claim(void)
{
	for (;;) {
		uint32_t seen = load_seq_cst(&place);

		if (STATE(seen) != FREE)
			wefti_os_futex_wait(&place, seen, INT64_MAX);
		else if (cas_seq_cst(&place, &seen, WITH(seen, WRITTEN)))
			return WITH(seen, WRITTEN);
	}
}

/* Waits until the word is no longer POSTED. Returns 0, -ESRCH or -ETIME. */
static int ask(int tid, uint32_t posted, unsigned tries)
{
	int error = 0;

	while (tries-- && load_seq_cst(&place) == posted && !error) {
		error = wefti_os_kthread_signal(tid, wefti_os_preempt_signal());
		if (error == -EAGAIN)
			error = 0;
		if (!error)
			wefti_os_futex_wait(&place, posted, wefti_os_now_ns() +
					    ASK_AGAIN_NS);
	}
	return error ? error : -ETIME;
}

int wefti_os_errand(int tid, wefti_os_errand_fn *fn, void *arg, unsigned tries,
		    long *result)
{
	const uint32_t written = claim(), posted = WITH(written, POSTED);
	uint32_t seen = posted;
	int error;

	store_relaxed(&for_tid, tid);
	store_relaxed(&function, fn);
	store_relaxed(&argument, arg);
	store_seq_cst(&place, posted);			/* P1 */
	error = ask(tid, posted, tries);
	if (cas_seq_cst(&place, &seen, NEXT_TURN(posted))) {
		wefti_os_futex_wake(&place, INT32_MAX);
		return error;
	}
	while (STATE(seen = load_seq_cst(&place)) != DONE)	/* P2 */
		wefti_os_futex_wait(&place, seen, INT64_MAX);
	*result = load_relaxed(&answer);
	change(NEXT_TURN(posted));
	return 0;
}

void wefti_os_errand_forget(void)
{
	store_seq_cst(&place, NEXT_TURN(load_seq_cst(&place)));
}
