/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/robust.c - robust mutexes: the owner may end, or be killed, with them
 *
 * They have glibc's layout, so processes without weft can share them with us:
 *
 *   __lock    the owner's kernel id, or 0; WAITERS; OWNER_DIED
 *   __owner   INCONSISTENT after the owner died; NOTRECOVERABLE if the next owner
 *             unlocked it without making it consistent. Else any id.
 *   __list    its links in the list of what one kernel thread holds
 *   __nusers  which of our threads owns it. Only weft reads it here; libc does not.
 *
 * When a kernel thread ends, the kernel marks the mutexes on its list that carry its
 * id. A green thread changes kernel threads. So there is one list for all that our
 * threads hold: the list of the guard (pthread/shared/shared.h), and the mutexes carry
 * the guard's id. The guard ends when the process does, however that happens. If a
 * thread of ours ends while it holds mutexes, we mark them, as the kernel would.
 *
 * One lock protects the list, and every change that we make to a mutex. So only one
 * mutex at a time is noted for the kernel as being changed (list_op_pending). And a
 * thread that checks whether it owns a mutex never sees a half-made change.
 *
 * In a process that is being killed, a thread may run for some more microseconds on
 * another CPU after the guard has ended. A thread of libc's would not run when its own
 * kernel thread has ended. That is the price of the one list.
 *
 * Rejected
 *   Each thread's list in its own control block, told to the kernel at each switch.
 *   That is a system call for each switch, and the id in the mutex would still be
 *   another kernel thread's.
 *   Binding the owner to its kernel thread: the owner could then not wait for anything
 *   of weft's.
 *
 * States of __lock; each may have the bit WAITERS beside it
 *   FREE  0
 *   HELD  the guard's id, or the kernel id of another process's thread
 *   DIED  OWNER_DIED
 *
 *   FREE, DIED --lock, try--> HELD
 *   HELD --a thread that will wait--> HELD, WAITERS
 *   HELD --unlock--> FREE, and one waiting thread is woken
 *   HELD --the owner ends: we, or the kernel--> DIED, and one waiting thread is woken
 *   HELD --lock of a mutex that is not recoverable--> FREE, and one waiting thread is woken
 *
 * Writers
 *   lock  wefti_robust_forget
 *   *word_of()  give_up_one, own, pass, release, try_lock_held, wefti_robust_lock
 *
 * Invariants
 *   I1  A mutex that has the guard's id is on the guard's list, or is noted in the list's
 *       head as being changed. So the kernel finds it, whenever the process is killed.
 *   I2  The guard's id is put into a word, and taken out of it, under the lock, and so are
 *       __nusers and __owner written. Only the bit WAITERS is set without it.
 *   I3  While threads wait, the word has WAITERS, or one of them was woken. The woken thread
 *       sets the bit again when it takes the mutex. If it finds a mutex that is not
 *       recoverable, it wakes the next one.
 *   I4  Unlock's last access to the mutex is the one that releases it. The mutex is noted
 *       until the wake-up has been made: if the process is killed in between, the kernel
 *       makes it.
 *
 * Linearization
 *   lock: at the CAS in try_lock_held. unlock: at the exchange in release. The end of an
 *   owner: at the CAS in give_up_one, or at the kernel's.
 *
 * Progress
 *   Blocking. Each call takes the lock of the list, for a few operations without a wait and
 *   for the wake-up. The last mutexes of a thread that ends are found by a walk over the list.
 *
 * ABA and reclamation
 *   Each CAS decides by the whole word. The list's links lie in the mutexes. They are
 *   followed under the lock, and a program does not free a mutex that it holds.
 *
 * Pairs
 *   P1  unlock stores 0, or marks it  ->  try_lock's CAS: what the mutex protects
 *
 * Source
 *   Linux, Documentation/locking/robust-futex-ABI.rst, for the list and what the kernel does
 *   with it. The one list for all threads is ours.
 */
#include "pthread/shared/robust.h"

#include <errno.h>
#include <sys/syscall.h>

#include "os/tls/tls_layout.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/shared/mutex_owner.h"
#include "pthread/shared/robust_list.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/signal.h"
#include "syscall.h"
#include "weft/thread.h"

/* The guard's list; under the lock. A list's head is a pair of links too. */
static struct {
	struct robust_list *unused;
	struct robust_list_head head;
} guards;
#define held	guards.head
static _Atomic uint32_t lock;			/* pthread/core/hold.h */

static _Atomic uint32_t *word_of(const pthread_mutex_t *m)
{
	return (_Atomic uint32_t *)(uintptr_t)&m->__data.__lock;
}

void wefti_robust_guard(void)
{
	held.list.next = &held.list;
	held.futex_offset = ROBUST_FUTEX_OFFSET;
	held.list_op_pending = NULL;
	/* An emulator may lack this call. Then a kill is not noticed. */
	(void)wefti_arch_syscall(SYS_set_robust_list, (long)&held,
				 sizeof(held), 0, 0, 0, 0);
}

void wefti_robust_forget(void)
{
	store_seq_cst(&lock, 0);
	wefti_pt.robust_held = 0;
}

/* --- a thread ends ------------------------------------------------- */

/* Takes one mutex from the caller, and marks it without owner, as the kernel would. */
static pthread_mutex_t *give_up_one(uint32_t *was)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	pthread_mutex_t *m = NULL;

	for (struct robust_list *e = held.list.next; e != &held.list;
	     e = e->next) {
		m = wefti_robust_mutex(e);
		if (m->__data.__nusers == (unsigned)wefti_pt_id())
			break;
		m = NULL;
	}
	if (m) {
		wefti_robust_set_pending(&held, m, 0);
		wefti_robust_dequeue(&held, m);
		m->__data.__nusers = 0;
		*was = load_relaxed(word_of(m));
		while (!cas_release(word_of(m), was, FUTEX_OWNER_DIED |
				    (*was & FUTEX_WAITERS)))	/* P1 */
			;
		wefti_robust_set_pending(&held, NULL, 0);
	}
	wefti_hold_leave(&lock, h);
	return m;
}

void wefti_robust_thread_ends(void)
{
	pthread_mutex_t *m;
	uint32_t was;

	while (wefti_pt.robust_held && (m = give_up_one(&was)) != NULL) {
		wefti_pt.robust_held--;
		if (was & FUTEX_WAITERS)
			wefti_shared_wake(word_of(m));
	}
	wefti_pt.robust_held = 0;
}

/* --- taking it ----------------------------------------------------- */

/*
 * Under the lock. Does the caller own m? The guard's id is not enough: all ours use it.
 */
static int is_callers(const pthread_mutex_t *m, uint32_t word)
{
	return (word & FUTEX_TID_MASK) == (uint32_t)wefti_guard() &&
	       m->__data.__nusers == (unsigned)wefti_pt_id();
}

/* The guard's id is in the word. Returns 0, EOWNERDEAD or ENOTRECOVERABLE. */
static int own(pthread_mutex_t *m, uint32_t before)
{
	int died = (before & FUTEX_OWNER_DIED) != 0;

	if (m->__data.__owner == WEFTI_NOTRECOVERABLE) {
		m->__data.__count = 0;
		before = xchg_release(word_of(m), 0);	/* P1 */
		wefti_robust_set_pending(&held, NULL, 0);
		if (before & FUTEX_WAITERS)
			wefti_shared_wake(word_of(m));
		return ENOTRECOVERABLE;
	}
	m->__data.__count = 1;
	m->__data.__nusers = (unsigned)wefti_pt_id();
	m->__data.__owner = died ? WEFTI_INCONSISTENT : wefti_pt_id();
	wefti_robust_enqueue(&held, m, 0);
	wefti_robust_set_pending(&held, NULL, 0);
	wefti_pt.robust_held++;
	return died ? EOWNERDEAD : 0;
}

/*
 * Under the lock. waiters is WAITERS if the caller has waited: others may wait too, and
 * the bit may have been cleared. EBUSY: the mutex has an owner; *seen is its word.
 */
static int try_lock_held(pthread_mutex_t *m, uint32_t waiters, uint32_t *seen)
{
	uint32_t word = load_relaxed(word_of(m)), new;

	if (is_callers(m, word)) {
		const int error = wefti_mutex_own_again(m);

		*seen = word;
		return error < 0 ? EBUSY : error;	/* a deadlock, as with libc */
	}
	wefti_robust_set_pending(&held, m, 0);		/* I1 */
	do {
		if (word != 0 && !(word & FUTEX_OWNER_DIED)) {
			wefti_robust_set_pending(&held, NULL, 0);
			*seen = word;
			return EBUSY;
		}
		new = (uint32_t)wefti_guard() | waiters |
		      (word & FUTEX_WAITERS);
	} while (!cas_acquire(word_of(m), &word, new));		/* P1 */
	return own(m, word);
}

/*
 * libc makes each robust mutex one that processes may share. Returns 0 (look again) or
 * ETIMEDOUT.
 */
static int wait_for(pthread_mutex_t *m, uint32_t value, int64_t deadline,
		    struct wefti_watch **watch)
{
	if (!*watch)
		*watch = wefti_watch_begin(word_of(m), WEFTI_WATCH_ROBUST);
	return wefti_shared_wait(watch, WEFTI_WATCH_ROBUST, word_of(m), value,
				 deadline);
}

static int try_lock(pthread_mutex_t *m, uint32_t waiters, uint32_t *seen)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	int error;

	error = try_lock_held(m, waiters, seen);
	wefti_hold_leave(&lock, h);
	return error;
}

int wefti_robust_lock(pthread_mutex_t *m, int64_t deadline)
{
	struct wefti_watch *watch = NULL;
	uint32_t waiters = 0, seen = 0;
	int error;

	if (!wefti_pt.robust_held)
		wefti_robust_watch_end();
	for (;;) {
		error = try_lock(m, waiters, &seen);
		if (error != EBUSY || deadline == WEFT_NO_WAIT)
			break;
		if (!(seen & FUTEX_WAITERS) &&
		    !cas_relaxed(word_of(m), &seen, seen | FUTEX_WAITERS))
			continue;
		waiters = FUTEX_WAITERS;			/* I3 */
		error = wait_for(m, seen | FUTEX_WAITERS, deadline, &watch);
		if (error)
			break;
	}
	if (watch)
		wefti_watch_end(watch);
	if (waiters)
		wefti_signals_run_any();
	return error;
}

/* --- unlocking it -------------------------------------------------- */

/*
 * Under the lock. Returns 0 or libc's error. *was is the word before: its WAITERS bit
 * says whether to wake. Until that is done, m stays noted as being changed.
 */
static int release(pthread_mutex_t *m, uint32_t *was)
{
	uint32_t word = load_relaxed(word_of(m));

	*was = 0;
	if (!is_callers(m, word))
		return EPERM;
	if ((m->__data.__kind & WEFTI_MUTEX_KIND_MASK) ==
	    PTHREAD_MUTEX_RECURSIVE_NP &&
	    --m->__data.__count != 0)
		return m->__data.__owner == WEFTI_INCONSISTENT ? ENOTRECOVERABLE : 0;
	wefti_robust_set_pending(&held, m, 0);
	wefti_robust_dequeue(&held, m);
	m->__data.__owner = m->__data.__owner == WEFTI_INCONSISTENT ?
			    WEFTI_NOTRECOVERABLE : 0;
	m->__data.__nusers = 0;
	m->__data.__count = 0;
	*was = xchg_release(word_of(m), 0);	/* P1 */
	wefti_pt.robust_held--;
	return 0;
}

int wefti_robust_unlock(pthread_mutex_t *m)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	_Atomic uint32_t *word = word_of(m);
	uint32_t was;
	int error;

	error = release(m, &was);
	/* I4: the mutex may be gone by now; only its address is used. */
	if (was & FUTEX_WAITERS)
		wefti_shared_wake(word);
	wefti_robust_set_pending(&held, NULL, 0);
	wefti_hold_leave(&lock, h);
	wefti_signals_run_any();
	return error;
}

int wefti_robust_is_mine(const pthread_mutex_t *m)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	int mine;

	mine = is_callers(m, load_relaxed(word_of(m)));
	wefti_hold_leave(&lock, h);
	return mine;
}

/* --- from libc's list to ours -------------------------------------- */

static struct robust_list_head *libcs(void)
{
	return wefti_tls_field(wefti_arch_tp_get(),
			       wefti_tls_layout.pthread_robust);
}

/* Under the lock. For a moment m is on neither list, but pending in both heads. */
static void pass(pthread_mutex_t *m, struct robust_list_head *from)
{
	uint32_t word = load_relaxed(word_of(m));

	wefti_robust_set_pending(from, m, 0);
	wefti_robust_set_pending(&held, m, 0);
	while (!cas_seq_cst(word_of(m), &word, (uint32_t)wefti_guard() |
			    (word & FUTEX_WAITERS)))
		;
	wefti_robust_dequeue(from, m);
	wefti_robust_enqueue(&held, m, 0);
	wefti_robust_set_pending(from, NULL, 0);
	wefti_robust_set_pending(&held, NULL, 0);
	m->__data.__nusers = (unsigned)wefti_pt_id();
	wefti_pt.robust_held++;
}

/* Mutexes that inherit priorities stay on libc's list: pthread/shared/pi.c. */
void wefti_robust_adopt(void)
{
	struct robust_list_head *h = libcs();

	for (struct robust_list *e = h->list.next, *next;
	     wefti_robust_clean(e) != &h->list; e = next) {
		struct wefti_hold hold = wefti_hold_begin();

		next = wefti_robust_clean(e)->next;
		wefti_hold_lock(&lock);
		if (wefti_robust_clean(e) == e)
			pass(wefti_robust_mutex(e), h);
		wefti_hold_unlock(&lock);
		wefti_hold_end(hold);
		wefti_robust_watch_end();
	}
}
