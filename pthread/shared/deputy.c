/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/deputy.c - kernel threads that own mutexes for green threads
 *
 * Structure
 *   A deputy is a kernel thread, and the struct by which a green thread asks it. Free ones
 *   are in a list, `unused`, under a lock. `wanted` and `made` count all that were wanted,
 *   and all that were made or could not be made. A free deputy is kept for the next thread.
 *   So there are as many deputies as there were threads that held or wanted such a mutex at
 *   the same time. The receiver of signals creates them, because libc copies from the TLS of
 *   the creating kernel thread.
 *
 * States of a deputy
 *   IDLE   the deputy sleeps. It is in the free list, or belongs to a green thread.
 *   ASKED  the deputy has been asked to make a system call, or is making it
 *   DONE   the call's result is there
 *   ENDS   the deputy has been asked to end
 *
 *   IDLE --its thread--> ASKED --deputy--> DONE --its thread--> IDLE
 *   IDLE --its thread--> ENDS
 *
 * Writers
 *   deputy.state  answer, ask, deputy_main, wefti_deputy_end
 *   lock  wefti_deputies_forget
 *   made  tell_made, wefti_deputies_forget
 *   wanted  have_one_made, wefti_deputies_forget
 *
 * Invariants
 *   I1  A deputy is in the free list, or one green thread's alone. Only that thread takes
 *       it from IDLE and from DONE, and only the deputy takes it from ASKED. So the state
 *       needs no RMW. A handler that interrupts the thread's wait finds the deputy busy
 *       (of pi.c: I3).
 *   I2  The thread writes the request while the deputy is IDLE. The deputy writes the result
 *       while it is ASKED.
 *   I3  After DONE the deputy uses its own struct alone, which lives until its kernel thread
 *       has ended. A woken sleeper finds in the state why it was woken.
 *   I4  Each deputy that is wanted is made, or counts as made. So a thread that waits for
 *       `made` to change goes on. It looks into the list again, as another may be faster.
 *
 * Linearization
 *   take and free: under the lock. A request: at the deputy's system call.
 *
 * Progress
 *   Blocking: a thread waits for its deputy, and the deputy for the kernel. The lock is held
 *   for a few instructions.
 *
 * ABA and reclamation
 *   The list is under a lock. A struct is freed when the kernel knows its id no more. If
 *   another kernel thread of the process got the same id between two looks, the thread that
 *   frees it would wait for that one, too. The kernel gives an id again only after all others.
 *
 * Pairs (all seq_cst)
 *   P1  the request is written, then ASKED; ASKED is read, then the request.
 *   P2  the result is written, then DONE; DONE is read, then the result.
 *
 * Source
 *   Ours. A server that makes one call for each client is as old as remote procedure calls.
 */
#include "pthread/shared/deputy.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/missing.h"
#include "os/call/newer.h"
#include "os/call/tid.h"
#include "os/tls/tls_layout.h"
#include "pthread/core/hold.h"
#include "pthread/core/time.h"
#include "pthread/shared/mutex_layout.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
#include "syscall.h"

#define STACK_BYTES	(64 * 1024)

enum { IDLE, ASKED, DONE, ENDS };

static _Atomic uint32_t lock;		/* pthread/core/hold.h */
static struct wefti_deputy *unused;	/* under it */
static _Atomic uint32_t wanted, made;	/* totals; a failure counts as made */
static uint32_t begun;			/* how many of wanted; only the receiver's */

/* --- the deputy itself ----------------------------------------------- */

static long ask_kernel(const struct wefti_deputy *d, int op, int64_t time)
{
	struct timespec at = { .tv_sec = time / WEFTI_NS, .tv_nsec = time % WEFTI_NS };

	return wefti_arch_syscall(SYS_futex, (long)d->word, op, 0,
				  time == INT64_MAX ? 0 : (long)&at, 0, 0);
}

/*
 * Before Linux 5.14 the kernel takes a deadline by CLOCK_REALTIME only. If EPERM is the
 * kernel's own answer, and not a filter's, the second call has it too.
 */
static long lock_in_time(const struct wefti_deputy *d)
{
	const int64_t time = d->deadline < 0 ? 0 : d->deadline;
	long error = ask_kernel(d, FUTEX_LOCK_PI2, time);
	struct timespec now;

	if (!wefti_os_is_missing(error))
		return error;
	clock_gettime(CLOCK_REALTIME, &now);
	return ask_kernel(d, FUTEX_LOCK_PI, wefti_time_ns(&now) + time -
			  wefti_os_now_ns());
}

static void do_it(struct wefti_deputy *d)
{
	long error = d->op == FUTEX_LOCK_PI && d->deadline != INT64_MAX ?
		     lock_in_time(d) : ask_kernel(d, d->op, INT64_MAX);

	d->error = error < 0 ? (int)-error : 0;
}

static void add(struct wefti_deputy *d)
{
	struct wefti_hold h = wefti_hold_enter(&lock);

	d->next = unused;
	unused = d;
	wefti_hold_leave(&lock, h);
}

static void tell_made(void)
{
	fetch_add_seq_cst(&made, 1);
	wefti_lot_wake(&made, UINT32_MAX, WEFTI_LOT_ANY);
}

static void deputy_main(void *arg)
{
	struct wefti_deputy *d = arg;
	uint32_t state;

	d->tid = (uint32_t)wefti_os_gettid();
	d->held.list.next = &d->held.list;
	d->held.futex_offset = ROBUST_FUTEX_OFFSET;
	(void)wefti_arch_syscall(SYS_set_robust_list, (long)&d->held,
				 sizeof(d->held), 0, 0, 0, 0);
	add(d);
	tell_made();
	while ((state = load_seq_cst(&d->state)) != ENDS) {	/* P1 */
		if (state != ASKED) {
			wefti_os_futex_wait(&d->state, state, INT64_MAX);
			continue;
		}
		do_it(d);
		store_seq_cst(&d->state, DONE);		/* P2 */
		wefti_os_futex_wake(&d->state, 1);
		wefti_lot_wake(&d->state, 1, WEFTI_LOT_ANY);
	}
}

static int make(void)
{
	struct wefti_deputy *d = calloc(1, sizeof(*d));

	if (!d)
		return ENOMEM;
	if (wefti_os_kthread_create(&d->kthread, STACK_BYTES, deputy_main, d,
				    "weft-deputy") == 0) {
		wefti_os_kthread_detach(&d->kthread);
		return 0;
	}
	free(d);
	return EAGAIN;
}

void wefti_deputies_make(void)
{
	for (; unlikely(begun != load_seq_cst(&wanted)); begun++)
		if (make() != 0)
			tell_made();
}

/* --- the deputy's thread --------------------------------------------- */

static struct wefti_deputy *take(void)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct wefti_deputy *d;

	d = unused;
	if (d)
		unused = d->next;
	wefti_hold_leave(&lock, h);
	return d;
}

struct not_made {
	uint32_t before;
};

static int is_not_made(void *arg)
{
	const struct not_made *n = arg;

	return load_seq_cst(&made) == n->before;
}

static void have_one_made(void)
{
	struct not_made n = { load_seq_cst(&made) };
	const struct wefti_lot_wait w = {
		.key = &made, .check = is_not_made, .arg = &n,
		.deadline = INT64_MAX, .why = WEFTI_WHY_FUTEX,
	};

	fetch_add_seq_cst(&wanted, 1);
	wefti_signals_wake_receiver();
	(void)wefti_lot_wait(&w);
}

struct wefti_deputy *wefti_deputy_take(void)
{
	struct wefti_deputy *d = take();

	/* Another thread may take the new deputy first, but hardly eight times. */
	for (int i = 0; !d && i < 8; i++) {
		have_one_made();
		d = take();
	}
	return d;
}

void wefti_deputy_free(struct wefti_deputy *d)
{
	add(d);
}

int wefti_deputy_is_busy(const struct wefti_deputy *d)
{
	return load_seq_cst(&d->state) != IDLE;
}

static void ask(struct wefti_deputy *d, int op, _Atomic uint32_t *word,
		int64_t deadline)
{
	d->op = op;
	d->word = word;
	d->deadline = deadline;
	store_seq_cst(&d->state, ASKED);	/* P1 */
	wefti_os_futex_wake(&d->state, 1);
}

static int answer(struct wefti_deputy *d)
{
	int error = d->error;

	store_seq_cst(&d->state, IDLE);
	return error;
}

static int is_asked(void *arg)
{
	return load_seq_cst(&((struct wefti_deputy *)arg)->state) == ASKED; /* P2 */
}

int wefti_deputy_wait(struct wefti_deputy *d, int op, _Atomic uint32_t *word,
		      int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = &d->state, .check = is_asked, .arg = d,
		.deadline = INT64_MAX, .why = WEFTI_WHY_FUTEX,
		.urgent = WEFTI_URGENT_SIGNAL,
	};

	ask(d, op, word, deadline);
	while (is_asked(d))
		if (wefti_lot_wait(&w) == WEFTI_LOT_INTERRUPTED)
			wefti_signals_run();
	return answer(d);
}

int wefti_deputy_call(struct wefti_deputy *d, int op, _Atomic uint32_t *word)
{
	ask(d, op, word, INT64_MAX);
	while (is_asked(d))
		wefti_os_futex_wait(&d->state, ASKED, INT64_MAX);
	return answer(d);
}

/*
 * When a kernel thread ends, the kernel walks its robust list before it frees the id. So
 * the id is polled here. The deputy is not joined: libc's join is for libc's own kernel
 * threads.
 */
void wefti_deputy_end(struct wefti_deputy *d)
{
	const int tid = (int)d->tid;

	store_seq_cst(&d->state, ENDS);
	wefti_os_futex_wake(&d->state, 1);
	while (wefti_os_kthread_signal(tid, 0) == 0)
		wefti_os_nap();
	free(d);
}

void wefti_deputies_forget(void)
{
	unused = NULL;
	store_seq_cst(&lock, 0);
	store_seq_cst(&wanted, 0);
	store_seq_cst(&made, 0);
	begun = 0;
}
