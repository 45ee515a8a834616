/* SPDX-License-Identifier: MIT */
/* wait.c - scenarios: a thread parks while a waker and a timer come for it */
#include "model.h"

#include "sched/park.h"

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_thread thread;
static uint64_t seq;
static char context;			/* what is saved at a switch */
static char gift;			/* what the waker did before */
static _Atomic unsigned resolved;

static void init(void)
{
	store_relaxed(&thread.wait, (uint64_t)0);
	store_relaxed(&resolved, 0u);
	m_data_write(&context);
	m_data_write(&gift);
	seq = wefti_wait_begin(&thread, WEFTI_WAIT_TIMED);
}

/* Saves, commits on the next stack, and runs again when it is ready. */
static void park(void)
{
	enum wefti_cause cause;

	m_data_write(&context);
	if (wefti_wait_commit(&thread))
		m_block(0);
	cause = wefti_wait_cause(&thread);
	m_check(cause == WEFTI_CAUSE_WOKEN || cause == WEFTI_CAUSE_TIMEDOUT);
	if (cause == WEFTI_CAUSE_WOKEN)
		m_data_read(&gift);
	m_data_write(&context);
}

static void resolve(uint64_t with, enum wefti_cause cause)
{
	enum wefti_resolved was = wefti_wait_resolve(&thread, with, cause);

	if (was != WEFTI_LOST)
		fetch_add_relaxed(&resolved, 1u);
	if (was == WEFTI_WAS_PARKED) {
		m_data_read(&context);
		m_unblock(0);
	}
}

static void wake(void)
{
	m_data_write(&gift);
	resolve(seq, WEFTI_CAUSE_WOKEN);
}

static void time_out(void)
{
	resolve(seq, WEFTI_CAUSE_TIMEDOUT);
}

static void check(void)
{
	m_check(load_relaxed(&resolved) == 1);
}

SCENARIO(wait) = { init, { park, wake, time_out }, check };

/* A ticket of an episode that is over ends nothing. */

static void wake_and_again(void)
{
	wake();
	m_check(wefti_wait_resolve(&thread, seq, WEFTI_CAUSE_WOKEN) ==
		WEFTI_LOST);
}

static void park_twice(void)
{
	park();
	seq = wefti_wait_begin(&thread, 0);
	m_check(wefti_wait_commit(&thread));
	m_check(wefti_wait_resolve(&thread, seq - 1, WEFTI_CAUSE_WOKEN) ==
		WEFTI_LOST);
	m_check(wefti_wait_resolve(&thread, seq, WEFTI_CAUSE_TIMEDOUT) ==
		WEFTI_LOST);
}

SCENARIO(wait_old_ticket) = { init, { park_twice, wake }, check };
SCENARIO(wait_one_waker) = { init, { park, wake_and_again }, check };

/*
 * It begins PARKED, off its stack, and tells its ticket afterwards. A waker
 * gets that; a canceller goes by the word, and may be earlier.
 */
static _Atomic uint64_t told;

static void init_parked(void)
{
	init();
	store_relaxed(&thread.wait, (uint64_t)0);
	store_relaxed(&told, (uint64_t)0);
}

/* When the wait is over: which thread ended it, and what it gave. */
static void go_on(void)
{
	enum wefti_cause cause;

	m_block(0);
	cause = wefti_wait_cause(&thread);
	m_check(cause == WEFTI_CAUSE_WOKEN || cause == WEFTI_CAUSE_CANCELLED);
	if (cause == WEFTI_CAUSE_WOKEN)
		m_data_read(&gift);
	m_data_write(&context);
}

static void park_by(void)
{
	m_data_write(&context);
	store_release(&told, wefti_wait_begin_parked(&thread,
						     WEFTI_WAIT_CANCELLABLE));
	go_on();
}

static void wake_told(void)
{
	uint64_t ticket;

	m_data_write(&gift);
	while (!(ticket = load_acquire(&told)))
		m_yield();
	resolve(ticket, WEFTI_CAUSE_WOKEN);
}

static void cancel(void)
{
	uint64_t w = load_relaxed(&thread.wait);

	if (w & WEFTI_WAIT_CANCELLABLE)
		resolve(w >> WEFTI_WAIT_SEQ_SHIFT, WEFTI_CAUSE_CANCELLED);
}

SCENARIO(wait_parked) = { init_parked, { park_by, wake_told, cancel }, check };

/*
 * A SOLE wait: the waker ends it by a store, unless it sees a cancellation. The
 * canceller marks before it looks. The thread itself looks when it has told its
 * ticket. In the second wait TAKEN is still there from the first.
 */
struct wefti_thread *model_self(void)
{
	return &thread;
}

void wefti_membarrier_heavy(void)
{
	fence_seq_cst();
}

void wefti_ready(struct wefti_thread *t)
{
	(void)t;
	fetch_add_relaxed(&resolved, 1u);
	m_data_read(&context);
	m_unblock(0);
}

int wefti_unpark(struct wefti_thread *t, uint64_t with, enum wefti_cause cause)
{
	if (wefti_wait_resolve(t, with, cause) != WEFTI_WAS_PARKED)
		return 0;
	wefti_ready(t);
	return 1;
}

static void init_sole(void)
{
	init_parked();
	thread.slot = 1;
	thread.node.thread = &thread;
	store_relaxed(&thread.node.data, (uint64_t)0);
	store_relaxed(&thread.gen, 1u);
	store_relaxed(&thread.cancel, 0);
}

static void init_sole_again(void)
{
	init_sole();
	store_relaxed(&thread.node.data, (uint64_t)WEFTI_NODE_TAKEN);
}

static void park_sole(void)
{
	uint64_t with;

	m_data_write(&context);
	with = wefti_wait_begin_parked(&thread, WEFTI_WAIT_CANCELLABLE |
				       WEFTI_WAIT_SOLE);
	thread.node.seq = with;
	store_relaxed(&thread.node.data, (uint64_t)0);
	store_release(&told, with);
	wefti_park_end_if_cancelled(&thread, wefti_ticket(&thread, with));
	go_on();
}

static void wake_sole(void)
{
	m_data_write(&gift);
	if (load_acquire(&told))
		wefti_unpark_sole(&thread.node, WEFTI_CAUSE_WOKEN);
}

/* As life/cancel.c does. */
static void cancel_sole(void)
{
	uint64_t w;

	store_seq_cst(&thread.cancel, wefti_cancel_mark(1));
	wefti_membarrier_heavy();
	w = load_seq_cst(&thread.wait);
	if (w & WEFTI_WAIT_CANCELLABLE)
		wefti_park_cancel(&thread, w >> WEFTI_WAIT_SEQ_SHIFT);
}

SCENARIO(wait_sole) = { init_sole, { park_sole, wake_sole, cancel_sole }, check };
SCENARIO(wait_sole_again) = {
	init_sole_again, { park_sole, wake_sole, cancel_sole }, check,
};

/*
 * The canceller is first. The thread ends, and the cancellation is cleared for the next
 * thread in the struct. A late waker finds none, and then sees that the wait is over.
 */
static void init_parked_sole(void)
{
	init_sole();
	thread.node.seq = wefti_wait_begin_parked(&thread,
				WEFTI_WAIT_CANCELLABLE | WEFTI_WAIT_SOLE);
}

static void wake_late(void)
{
	wefti_unpark_sole(&thread.node, WEFTI_CAUSE_WOKEN);
}

/* As life/spawn.c does. */
static void cancel_and_spawn(void)
{
	cancel_sole();
	if (wefti_wait_cause(&thread) == WEFTI_CAUSE_CANCELLED)
		store_release(&thread.cancel, 0);
}

SCENARIO(wait_sole_gone) = {
	init_parked_sole, { wake_late, cancel_and_spawn }, check,
};
