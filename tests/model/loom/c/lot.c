/* SPDX-License-Identifier: MIT */
/*
 * lot.c - scenarios: threads wait in pthread's lot, and take the lock of its buckets
 *
 * loom.sh marks the list of a bucket and the entries in it. An entry lies on
 * the stack of the waiting thread. It is written once more when the wait is
 * over, as if the stack were used for something else then. A wake-up that is
 * lost leaves a thread blocked.
 */
#include "pt.h"

#include "os/tls/tls_layout.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/signal.h"

struct wefti_tls_layout wefti_tls_layout;

static _Atomic uint32_t lock, flag;
static char key[2];			/* in two buckets */
static char shared, gift;
static _Atomic uint32_t queued[2];	/* at key[1]; at any other */
static unsigned woken;
static enum wefti_lot_end end[2];

static void init_with(unsigned kernel_threads)
{
	const void *const keys[] = { &flag, &lock, &key[0], &key[1], NULL };

	init_pt(kernel_threads, keys);
	store_relaxed(&lock, 0u);
	store_relaxed(&flag, 0u);
	store_relaxed(&queued[0], 0u);
	store_relaxed(&queued[1], 0u);
	m_data_write(&shared);
	m_data_write(&gift);
	woken = 0;
	end[0] = end[1] = WEFTI_LOT_CHANGED;
}

static void init_green(void)
{
	init_with(0);
}

static void init_kernel(void)
{
	init_with(~0u);
}

/* Thread 1 is a kernel thread. */
static void init_mixed(void)
{
	init_with(2);
}

/* The lock of pthread/core/hold.h. */

static void hold(void)
{
	wefti_hold_lock(&lock);
	m_data_write(&shared);
	wefti_hold_unlock(&lock);
}

static void hold_twice(void)
{
	hold();
	hold();
}

static void check_hold(void)
{
	m_check(load_relaxed(&lock) == 0);
	m_data_write(&shared);
}

SCENARIO(hold) = { init_green, { hold_twice, hold_twice }, check_hold };
SCENARIO(hold_three) = { init_green, { hold, hold, hold }, check_hold };

/* A waker writes the gift, says so, and wakes. */

static int is_clear(void *arg)
{
	return load_relaxed((_Atomic uint32_t *)arg) == 0;
}

static enum wefti_lot_end wait_at(void *at, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = at, .check = is_clear, .arg = &flag,
		.deadline = deadline, .count = &queued[at != &key[1]], .why = WEFTI_WHY_SEM,
	};

	return wefti_lot_wait(&w);
}

static void wait_for_flag(void)
{
	if (wait_at(&flag, INT64_MAX) == WEFTI_LOT_WOKEN)
		m_data_read(&gift);
}

static void wake_one(void)
{
	wefti_lot_wake(&flag, 1, WEFTI_LOT_ANY);
}

/*
 * An entry's word is the only order between the two, if the waiter does not take the
 * bucket's lock any more.
 */
static void give(void)
{
	m_data_write(&gift);
	store_relaxed(&flag, 1u);
	wake_one();
}

static void give_two(void)
{
	give();
	wake_one();
}

static void check_none(void)
{
	m_check(load_relaxed(&queued[0]) == 0 && load_relaxed(&queued[1]) == 0);
	m_check(wefti_lot_wake(&flag, 1, WEFTI_LOT_ANY) == 0);
	m_check(wefti_lot_wake(&key[0], 1, WEFTI_LOT_ANY) == 0);
	m_check(wefti_lot_wake(&key[1], 1, WEFTI_LOT_ANY) == 0);
}

SCENARIO(lot_wake) = { init_green, { wait_for_flag, give }, check_none };
SCENARIO(lot_wake_kernel) = { init_kernel, { wait_for_flag, give }, check_none };
SCENARIO(lot_wake_two) = {
	init_mixed, { wait_for_flag, wait_for_flag, give_two }, check_none,
};

/* Time is over at once, beside a waker: both say the same (I2). */

static void wait_in_time(void)
{
	end[0] = wait_at(&flag, 1);
}

static void wake_counted(void)
{
	woken += wefti_lot_wake(&flag, 1, WEFTI_LOT_ANY);
}

static void check_counted(void)
{
	m_check(end[0] != WEFTI_LOT_CHANGED && end[0] != WEFTI_LOT_HANDED);
	m_check(woken == (end[0] == WEFTI_LOT_WOKEN));
	check_none();
}

SCENARIO(lot_timed) = { init_green, { wait_in_time, wake_counted }, check_counted };
SCENARIO(lot_timed_kernel) = {
	init_kernel, { wait_in_time, wake_counted }, check_counted,
};

/* The time is over beside a waker. A thread that was woken sees the gift all the same. */

static void take_in_time(void)
{
	if (wait_at(&flag, 1) == WEFTI_LOT_WOKEN)
		m_data_read(&gift);
}

static void give_in_time(void)
{
	m_data_write(&gift);
	wake_one();
}

SCENARIO(lot_timed_gift) = { init_green, { take_in_time, give_in_time }, check_none };

/* Its entry goes to another bucket, beside a waker there, and the time-out. */

static void wait_to_be_moved(void)
{
	end[0] = wait_at(&key[0], 1);
}

static void wait_to_be_moved_back(void)
{
	end[1] = wait_at(&key[1], 1);
}

static void move_to_1(void)
{
	wefti_lot_requeue(&key[0], 0, &key[1], 1, NULL, NULL);
}

static void move_to_0(void)
{
	wefti_lot_requeue(&key[1], 0, &key[0], 1, NULL, NULL);
}

static void wake_moved(void)
{
	woken += wefti_lot_wake(&key[1], 1, WEFTI_LOT_ANY);
}

static void check_moved(void)
{
	m_check(woken == (end[0] == WEFTI_LOT_WOKEN));
	check_none();
}

SCENARIO(lot_requeue) = {
	init_green, { wait_to_be_moved, move_to_1, wake_moved }, check_moved,
};
SCENARIO(lot_requeue_kernel) = {
	init_kernel, { wait_to_be_moved, move_to_1, wake_moved }, check_moved,
};

/* Both buckets, from both sides. */
SCENARIO(lot_requeue_both) = {
	init_green,
	{ wait_to_be_moved, wait_to_be_moved_back, move_to_1, move_to_0 },
	check_none,
};

/* A lock with its waiters in the lot: pthread/sync/mutex.c in short. */

static int is_taken(void *arg)
{
	uint32_t taken = 1;

	(void)arg;
	return load_relaxed(&lock) == 2 || cas_relaxed(&lock, &taken, 2u);
}

static void lot_lock(void)
{
	const struct wefti_lot_wait w = {
		.key = &lock, .check = is_taken, .deadline = INT64_MAX,
		.why = WEFTI_WHY_MUTEX,
	};
	uint32_t to = 1, free = 0;

	while (!cas_acquire(&lock, &free, to)) {
		free = 0;
		to = 2;
		if (wefti_lot_wait(&w) == WEFTI_LOT_HANDED)
			return;
	}
}

static void lot_unlock(void)
{
	uint32_t taken = 1;

	if (!cas_release(&lock, &taken, 0u))
		wefti_lot_unlock(&lock);
}

static void lock_and_unlock(void)
{
	lot_lock();
	m_data_write(&shared);
	lot_unlock();
}

static void lock_twice(void)
{
	lock_and_unlock();
	lock_and_unlock();
}

/* Patience is over at each second look at the clock. */
static void init_impatient(void)
{
	init_green();
	tick = 600000;
}

SCENARIO(lot_lock) = { init_green, { lock_twice, lock_and_unlock }, check_hold };
SCENARIO(lot_lock_impatient) = {
	init_impatient, { lock_twice, lock_and_unlock }, check_hold,
};
SCENARIO(lot_lock_three) = {
	init_impatient, { lock_and_unlock, lock_and_unlock, lock_and_unlock },
	check_hold,
};

/*
 * A unit is in `flag`, for the thread that takes it first. Thread 0 is sent a signal, and
 * then a unit is posted. If the post wakes thread 0, that thread runs the handler before
 * it takes the unit. If the handler jumps out of the call, thread 1 gets the unit. A
 * thread that has taken it posts it again.
 */

static int jumps;
static void *out[5];

void wefti_preempt_insist(struct wefti_thread *t)
{
	(void)t;
}

void wefti_cancel_act(void)
{
	m_fail("no thread is cancelled");
}

void wefti_signals_run(void)
{
	m_check(m_self() == 0);
	fetch_and_seq_cst(&model_pt()->urgent, ~WEFTI_URGENT_SIGNAL);
	if (jumps)
		__builtin_longjmp(out, 1);
}

static int try_take(void)
{
	uint32_t n = load_relaxed(&flag);

	while (n)
		if (cas_weak_acquire(&flag, &n, n - 1))
			return 1;
	return 0;
}

static void take(void)
{
	const struct wefti_lot_wait w = {
		.key = &flag, .check = is_clear, .arg = &flag,
		.deadline = INT64_MAX, .urgent = WEFTI_URGENT_SIGNAL,
		.count = &queued[1], .why = WEFTI_WHY_SEM,
	};
	int was_woken = 0;

	while (!try_take()) {
		const enum wefti_lot_end how = wefti_lot_wait(&w);

		if (how == WEFTI_LOT_INTERRUPTED)
			wefti_signals_run();
		else if (how == WEFTI_LOT_WOKEN)
			wefti_lot_run_handlers(&flag);
		was_woken |= how == WEFTI_LOT_WOKEN;
	}
	m_check(!was_woken || !(load_relaxed(&model_pt()->urgent) & WEFTI_URGENT_SIGNAL));
	m_data_read(&gift);
}

static void post(void)
{
	fetch_add_release(&flag, 1u);
	wake_one();
}

static void take_and_post(void)
{
	take();
	post();
}

static void take_or_jump(void)
{
	if (__builtin_setjmp(out) == 0)
		take_and_post();
}

static void signal_and_post(void)
{
	wefti_pt_urge(&thread[1], WEFTI_URGENT_SIGNAL);
	m_data_write(&gift);
	post();
}

static void init_returns(void)
{
	init_green();
	jumps = 0;
}

static void init_jumps(void)
{
	init_green();
	jumps = 1;
}

static void check_taken(void)
{
	m_check(load_relaxed(&flag) == 1);
	check_none();
}

SCENARIO(lot_handlers_return) = {
	init_returns, { take_or_jump, take_and_post, signal_and_post }, check_taken,
};
SCENARIO(lot_handlers_jump) = {
	init_jumps, { take_or_jump, take_and_post, signal_and_post }, check_taken,
};
