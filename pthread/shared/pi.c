/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/pi.c - mutexes that processes share, and that inherit priorities
 *
 * These are mutexes with PTHREAD_PRIO_INHERIT that are PTHREAD_PROCESS_SHARED, or robust
 * (libc treats a robust mutex as shared, too). They have glibc's layout and use the
 * kernel's protocol, so processes without weft can share them with us:
 *
 *   __lock   the owner's kernel id, or 0. WAITERS: only the kernel can unlock it.
 *            OWNER_DIED.
 *   __owner  a robust mutex: INCONSISTENT after its owner died; NOTRECOVERABLE if the
 *            next owner unlocked it without making it consistent. Else any id.
 *   __list   a robust mutex: its links in the list of what one kernel thread holds
 *
 * The owner is the thread's deputy (pthread/shared/deputy.h). The thread itself takes a
 * free mutex, with the deputy's id. If the mutex is not free, the deputy waits in the
 * kernel while the thread is parked. If the mutex has waiters, the deputy unlocks it. If
 * the thread ends while it holds such a mutex, its deputy ends. If the process is
 * killed, all deputies end. So the kernel marks what they held, as it does for libc's
 * threads. The kernel lends priorities to the deputies, which need no CPU. The thread
 * itself gets no priority by that.
 *
 * A mutex that libc locked for the first thread before the runtime was started belongs
 * to the first kernel thread. That kernel thread never ends. It is sent on an errand to
 * unlock the mutex.
 *
 * A handler that interrupts a wait for such a mutex gets EAGAIN if it locks another.
 *
 * States of __lock; each may have the bit OWNER_DIED beside it
 *   FREE    0
 *   HELD    a kernel id: of a deputy, of the first kernel thread, or of libc's threads
 *   WAITED  a kernel id and WAITERS
 *
 *   FREE --lock, try--> HELD --unlock--> FREE
 *   HELD --FUTEX_LOCK_PI by a deputy or a thread of libc's: the kernel--> WAITED
 *   WAITED --FUTEX_UNLOCK_PI: the kernel--> HELD or WAITED by the waiter it chooses
 *   HELD, WAITED --the owner ends: the kernel--> OWNER_DIED, or given to a waiter with it
 *
 * Writers
 *   *word_of()  give_back, give_back_by_first, lock_word, own, release
 *
 * Invariants
 *   I1  Our code changes a word only from FREE to HELD, and from HELD by the caller's own
 *       deputy (or, for the first thread, its own kernel thread) to FREE, and clears
 *       OWNER_DIED of what its deputy owns. A WAITED word gets another owner from the kernel
 *       alone.
 *   I2  A robust mutex that has a deputy's id is on that deputy's list, or noted in its head
 *       as being changed.
 *   I3  A deputy that waits has one wait at a time: a handler that interrupts the wait gets
 *       EAGAIN. A thread that ends in such a wait leaves its deputy behind, which is not used
 *       again.
 *   I4  A thread has a deputy while it holds such a mutex or waits for one, and no longer.
 *   I5  Unlock's last access to the mutex is the one that releases it.
 *
 * Linearization
 *   At the CAS that finds FREE, or finds only the caller's id. Else at the kernel's change of
 *   the word.
 *
 * Progress
 *   Blocking. A FREE mutex is taken, and a HELD one unlocked, by one CAS. Else a thread parks
 *   until its deputy comes back from the kernel.
 *
 * ABA and reclamation
 *   An id in the word is given to another kernel thread only after its owner has ended.
 *   Before that, the kernel changes the word. Free deputies are kept until the process ends.
 *
 * Pairs
 *   P1  unlock stores 0  ->  lock_word's CAS: what the mutex protects. Where the kernel
 *       hands the mutex over, the system calls of the two deputies order that.
 *
 * Source
 *   Linux, Documentation/locking/pi-futex.rst. The deputy is ours.
 *
 * Rejected
 *   The guard as the owner (pthread/shared/robust.c): it cannot end for one thread
 *   alone, and it cannot wait.
 *   Binding the owner to the kernel thread that carries it: the owner could then not
 *   wait for anything of weft's.
 *   A word of weft's own for the waiting threads, as mutexes without the protocol have:
 *   if a thread of libc's waits as well, the kernel refuses its wait, and libc takes
 *   that for success.
 */
#include "pthread/shared/pi.h"

#include <errno.h>
#include <sys/syscall.h>

#include "os/call/tid.h"
#include "os/signal/errand.h"
#include "os/tls/tls_layout.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/shared/deputy.h"
#include "pthread/shared/mutex_owner.h"
#include "pthread/shared/robust.h"
#include "pthread/shared/robust_list.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
#include "syscall.h"
#include "weft/thread.h"

#define TRIES		1000	/* ten seconds: it may be stopped, or wait for a disk */

static _Atomic uint32_t *word_of(const pthread_mutex_t *m)
{
	return (_Atomic uint32_t *)(uintptr_t)&m->__data.__lock;
}

static int is_robust(const pthread_mutex_t *m)
{
	return m->__data.__kind & WEFTI_MUTEX_ROBUST;
}

/* Also true inside the runtime, where a condition variable's wait unlocks the mutex. */
static int is_green(void)
{
	return wefti_self() && wefti_self()->kind != WEFTI_KIND_FOREIGN;
}

static int is_deputys(uint32_t word)
{
	return wefti_pt.deputy && (word & FUTEX_TID_MASK) == wefti_pt.deputy->tid;
}

static int is_first_kernel_threads(uint32_t word)
{
	return wefti_self() == wefti_rt.main &&
	       (word & FUTEX_TID_MASK) == (uint32_t)wefti_pt_pid();
}

int wefti_pi_is_mine(const pthread_mutex_t *m)
{
	const uint32_t word = load_relaxed(word_of(m));

	if (!wefti_guard() || !is_green())
		return (word & FUTEX_TID_MASK) == (uint32_t)wefti_os_gettid();
	return is_deputys(word) || is_first_kernel_threads(word);
}

/* --- the caller's deputy --------------------------------------------- */

/* NULL: none can be created, or the caller is a handler that interrupted its wait. */
static struct wefti_deputy *have_deputy(void)
{
	if (!wefti_pt.deputy) {
		wefti_pt.deputy = wefti_deputy_take();
		return wefti_pt.deputy;
	}
	return wefti_deputy_is_busy(wefti_pt.deputy) ? NULL : wefti_pt.deputy;
}

static void have_none_if_idle(void)
{
	if (wefti_pt.pi_held || !wefti_pt.deputy)
		return;
	wefti_deputy_free(wefti_pt.deputy);
	wefti_pt.deputy = NULL;
}

void wefti_pi_thread_ends(void)
{
	struct wefti_deputy *d = wefti_pt.deputy;

	wefti_pt.deputy = NULL;
	if (!d || wefti_deputy_is_busy(d))
		return;
	if (wefti_pt.pi_held)
		wefti_deputy_end(d);
	else
		wefti_deputy_free(d);
	wefti_pt.pi_held = 0;
}

void wefti_pi_forget(void)
{
	wefti_pt.deputy = NULL;
	wefti_pt.pi_held = 0;
	wefti_deputies_forget();
}

/* --- taking it ------------------------------------------------------- */

/* libc's threads also wait until the deadline where nobody can give them the mutex. */
static int wait_in_vain(int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = &wefti_pt.pi_held, .deadline = deadline,
		.why = WEFTI_WHY_FUTEX, .urgent = wefti_cancel_urgent(),
	};

	while (wefti_lot_wait(&w) != WEFTI_LOT_TIMEDOUT) {
		wefti_cancel_point_async();
		wefti_signals_run();
	}
	wefti_signals_run_any();
	return ETIMEDOUT;
}

/*
 * Returns 0 or an error number. After 0 *word is the value of the lock's word, which the
 * deputy now owns.
 */
static int lock_word(pthread_mutex_t *m, struct wefti_deputy *d,
		     int64_t deadline, uint32_t *word)
{
	int error;

	*word = 0;
	if (cas_acquire(word_of(m), word, d->tid))	/* P1 */
		return 0;
	if (deadline != WEFT_NO_WAIT)
		error = wefti_deputy_wait(d, FUTEX_LOCK_PI, word_of(m), deadline);
	else if (*word & FUTEX_OWNER_DIED)
		error = wefti_deputy_call(d, FUTEX_TRYLOCK_PI, word_of(m));
	else
		error = EBUSY;
	*word = load_seq_cst(word_of(m));
	return error == EAGAIN && deadline == WEFT_NO_WAIT ? EBUSY : error;
}

static void give_back(_Atomic uint32_t *word, struct wefti_deputy *d)
{
	uint32_t mine = d->tid;

	if (!cas_release(word, &mine, 0))	/* P1 */
		(void)wefti_deputy_call(d, FUTEX_UNLOCK_PI, word);
}

/* The deputy owns the word. Returns 0, EOWNERDEAD or ENOTRECOVERABLE. */
static int own(pthread_mutex_t *m, struct wefti_deputy *d, uint32_t word)
{
	const int died = (word & FUTEX_OWNER_DIED) != 0;

	if (died)
		fetch_and_seq_cst(word_of(m), ~(uint32_t)FUTEX_OWNER_DIED);
	if (!died && is_robust(m) && m->__data.__owner == WEFTI_NOTRECOVERABLE) {
		m->__data.__count = 0;
		give_back(word_of(m), d);
		wefti_robust_set_pending(&d->held, NULL, WEFTI_ROBUST_PI);
		have_none_if_idle();
		return ENOTRECOVERABLE;
	}
	m->__data.__count = 1;
	m->__data.__owner = died ? WEFTI_INCONSISTENT : (int)d->tid;
	if (is_robust(m)) {
		wefti_robust_enqueue(&d->held, m, WEFTI_ROBUST_PI);
		wefti_robust_set_pending(&d->held, NULL, WEFTI_ROBUST_PI);
	}
	if (!died)
		m->__data.__nusers++;	/* else the dead owner is still counted */
	wefti_pt.pi_held++;
	return died ? EOWNERDEAD : 0;
}

static int lock_by_deputy(pthread_mutex_t *m, int64_t deadline)
{
	struct wefti_deputy *d = have_deputy();
	uint32_t word;
	int error;

	if (!d)
		return EAGAIN;
	if (!wefti_pt.pi_held)
		wefti_robust_watch_end();
	if (is_robust(m))
		wefti_robust_set_pending(&d->held, m, WEFTI_ROBUST_PI);
	error = lock_word(m, d, deadline, &word);
	if (!error)
		return own(m, d, word);
	wefti_robust_set_pending(&d->held, NULL, WEFTI_ROBUST_PI);
	have_none_if_idle();
	return error;
}

/* The caller is a kernel thread of libc's. */
static int lock_by_libc(pthread_mutex_t *m, int64_t deadline)
{
	const struct timespec at = {
		.tv_sec = deadline / WEFTI_NS, .tv_nsec = deadline % WEFTI_NS,
	};

	if (deadline == WEFT_NO_WAIT)
		return REAL(pthread_mutex_trylock)(m);
	if (deadline == INT64_MAX)
		return REAL(pthread_mutex_lock)(m);
	return REAL(pthread_mutex_clocklock)(m, CLOCK_MONOTONIC, &at);
}

int wefti_pi_lock(pthread_mutex_t *m, int64_t deadline)
{
	int error = -1;
	uint8_t held;

	if (!is_green())
		return lock_by_libc(m, deadline);
	if (wefti_pi_is_mine(m)) {
		error = wefti_mutex_own_again(m);
		if (error >= 0)
			return error;
		error = deadline == WEFT_NO_WAIT ? EBUSY : EDEADLK;
	} else {
		held = wefti_cancel_hold();
		error = lock_by_deputy(m, deadline);
		wefti_cancel_release(held);
		wefti_signals_run_any();
	}
	return error == EDEADLK || error == ESRCH ? wait_in_vain(deadline) : error;
}

/* --- unlocking it ---------------------------------------------------- */

static long ask_kernel(void *word)
{
	return wefti_arch_syscall(SYS_futex, (long)word, FUTEX_UNLOCK_PI, 0, 0, 0, 0);
}

static void give_back_by_first(_Atomic uint32_t *word)
{
	uint32_t mine = (uint32_t)wefti_pt_pid();
	struct wefti_hold h;
	long result;

	if (cas_release(word, &mine, 0))	/* P1 */
		return;
	h = wefti_hold_begin();
	if (wefti_os_gettid() == wefti_pt_pid() ||
	    wefti_os_errand(wefti_pt_pid(), ask_kernel, word, TRIES, &result) != 0)
		(void)ask_kernel(word);
	wefti_hold_end(h);
}

static struct robust_list_head *libcs_list(void)
{
	return wefti_tls_field(wefti_arch_tp_get(), wefti_tls_layout.pthread_robust);
}

static void release(pthread_mutex_t *m, int owner)
{
	struct wefti_deputy *d = is_deputys(load_relaxed(word_of(m))) ?
				 wefti_pt.deputy : NULL;
	struct robust_list_head *list = d ? &d->held : libcs_list();
	const int robust = is_robust(m);

	if (robust) {
		wefti_robust_set_pending(list, m, WEFTI_ROBUST_PI);
		wefti_robust_dequeue(list, m);
	}
	m->__data.__owner = owner;
	m->__data.__nusers--;
	if (d)
		give_back(word_of(m), d);
	else
		give_back_by_first(word_of(m));
	if (robust)
		wefti_robust_set_pending(list, NULL, WEFTI_ROBUST_PI);
	if (d) {
		wefti_pt.pi_held--;
		have_none_if_idle();
	}
}

int wefti_pi_unlock(pthread_mutex_t *m)
{
	int is_lost;

	if (!is_green())
		return REAL(pthread_mutex_unlock)(m);
	if (!wefti_pi_is_mine(m))
		return EPERM;
	is_lost = is_robust(m) && m->__data.__owner == WEFTI_INCONSISTENT;
	if (wefti_mutex_kind(m) == PTHREAD_MUTEX_RECURSIVE_NP &&
	    --m->__data.__count != 0)
		return is_lost ? ENOTRECOVERABLE : 0;
	release(m, is_lost ? WEFTI_NOTRECOVERABLE : 0);
	wefti_signals_run_any();
	return 0;
}
