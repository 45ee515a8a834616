/* SPDX-License-Identifier: MIT */
/*
 * kernel_call.c - scenarios: a thread waits for the kernel, and another takes what
 * that has done
 *
 * The kernel gives the call's address to the taker at once, so it may be done
 * before its thread parks, or while it is about to.
 */
#include "model.h"

#include "io/kernel_call.h"

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_thread thread;
static struct wefti_kernel_call call;

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	m_check(deadline == INT64_MAX);
	if (wefti_wait_cause(self) == WEFTI_CAUSE_NONE &&
	    wefti_wait_commit(self))
		m_block(0);
	return wefti_wait_cause(self);
}

int wefti_unpark(struct wefti_thread *t, uint64_t seq, enum wefti_cause cause)
{
	enum wefti_resolved was = wefti_wait_resolve(t, seq, cause);

	m_check(was != WEFTI_LOST);
	if (was == WEFTI_WAS_PARKED)
		m_unblock(0);
	return 1;
}

static void init(void)
{
	store_relaxed(&call.state, WEFTI_CALL_BEGUN);
	store_relaxed(&thread.wait, (uint64_t)0);
	store_relaxed(&thread.waits_for, NULL);
	m_data_write(&call.result);
	m_data_write(&call.thread);
}

static void waiter(void)
{
	m_check(wefti_kernel_call_wait(&call, &thread) == 7);
	/* Its memory is for something else now. */
	m_data_write(&call.result);
	m_data_write(&call.thread);
}

static void taker(void)
{
	wefti_kernel_call_done(&call, 7);
}

static void check(void)
{
	m_check(load_relaxed(&call.state) != WEFTI_CALL_BEGUN);
}

SCENARIO(kernel_call) = { init, { waiter, taker }, check };
