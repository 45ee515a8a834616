/* SPDX-License-Identifier: MIT */
/*
 * mpi/lock.c - the one lock: MPI's calls of the library, and its lists of waiters
 *
 * Structure
 *   users  the owner and the threads that wait or are about to. 0: free
 *   turn   a semaphore: each unlock posts it once if others wait
 *   owner  the address of the owner's thread-local variable. In a native program the owner
 *          is not preempted, so no light thread that shares this variable runs meanwhile.
 *          Under weft run each thread has a variable of its own.
 *
 * Writers
 *   users  wefti_mpi_lock, wefti_mpi_lock_forget, wefti_mpi_unlock,
 *       wait_for_turn
 *   owner  wefti_mpi_lock, wefti_mpi_lock_forget, wefti_mpi_unlock
 *
 * Invariants
 *   I1  The thread that changed users from 0 to 1, or took a post of turn, owns the lock.
 *   I2  owner is the own variable's address only while this thread owns the lock: no other
 *       thread stores that address.
 *
 * Linearization
 *   The lock: at the increment from 0, or at the take of a post. The unlock: at the
 *   decrement.
 *
 * Progress
 *   Blocking: the owner is inside MPI, which does not wait for other threads there. Under
 *   weft run the owner may be preempted, and the others wait for its next slice.
 *
 * ABA and reclamation
 *   None: the lock lives as long as the process.
 *
 * Pairs
 *   P1  unlock's decrement, or post -> lock's increment from 0, or take
 *
 * Source
 *   The "benaphore" of BeOS: a counter in front of a semaphore.
 */
#include "lock.h"

#include <pthread.h>
#include <stddef.h>

#include "lockfree/atomic.h"
#include "threads.h"

#define QUICK_CALLS	64u		/* between two looks at the clock */
#define YIELD_NS	1000000

static _Atomic unsigned users;
static union wefti_mpi_sem turn;	/* all zero is a value of 0, for both kinds */
static _Atomic(void *) owner;
static void *held;			/* the owner's, for weft_preempt_on() */
static int cancel_state;		/* the owner's, for pthread_setcancelstate() */

/* Not inlined: a thread that has parked may find its variable at another address. */
static __attribute__((noinline)) void *own_place(void)
{
	static _Thread_local char place __attribute__((tls_model("initial-exec")));
	char *p = &place;

	__asm__ volatile("" : "+r"(p));
	return p;
}

static void *preempt_off(void)
{
	return wefti_mpi_is_native() ? weft_preempt_off() : NULL;
}

static void preempt_on(void *was)
{
	if (wefti_mpi_is_native())
		weft_preempt_on(was);
}

static void *wait_for_turn(void *off)
{
	preempt_on(off);
	if (fetch_add_seq_cst(&users, 1) > 0) {	/* P1 */
		int state = wefti_mpi_hold();

		while (wefti_mpi_sem_wait(&turn, WEFT_FOREVER) != 0)
			;
		wefti_mpi_release(state);
	}
	return preempt_off();
}

void wefti_mpi_lock(void)
{
	void *off = preempt_off();
	unsigned none = 0;

	if (!cas_seq_cst(&users, &none, 1))	/* P1 */
		off = wait_for_turn(off);
	store_relaxed(&owner, own_place());
	held = off;
	if (!wefti_mpi_is_native())
		cancel_state = wefti_mpi_hold();
}

int wefti_mpi_hold_locked(void)
{
	int state = cancel_state;

	if (wefti_mpi_is_native())
		return wefti_mpi_hold();
	cancel_state = PTHREAD_CANCEL_DISABLE;
	return state;
}

int wefti_mpi_lock_is_mine(void)
{
	void *off = preempt_off();
	int mine = load_relaxed(&owner) == own_place();

	preempt_on(off);
	return mine;
}

void wefti_mpi_unlock(void)
{
	void *off = held;
	int state = cancel_state;

	store_relaxed(&owner, NULL);
	if (fetch_sub_seq_cst(&users, 1) > 1)	/* P1 */
		wefti_mpi_sem_post(&turn);
	preempt_on(off);
	if (!wefti_mpi_is_native())
		wefti_mpi_release(state);
}

void wefti_mpi_leave_quick(void)
{
	static unsigned calls;		/* the lock protects them */
	static int64_t yielded_at;
	int yields = 0;

	if (++calls % QUICK_CALLS == 0) {
		int64_t now = wefti_mpi_now_ns();

		yields = now - yielded_at > YIELD_NS;
		if (yields)
			yielded_at = now;
	}
	wefti_mpi_unlock();
	if (yields)
		wefti_mpi_yield();
}

void wefti_mpi_lock_forget(void)
{
	store_relaxed(&users, 0);
	store_relaxed(&owner, NULL);
}
