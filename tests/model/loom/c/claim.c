/* SPDX-License-Identifier: MIT */
/*
 * claim.c - scenarios: thread/wait.h; a thread parks, and others keep, claim or answer
 * its wait while its time may be over
 *
 * wait.c has the waits that one resolve ends.
 */
#include "model.h"

#include "thread/wait.h"

struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_thread thread;
static uint64_t seq;
static char context;			/* what is saved at a switch */
static char gift;			/* what the waker did before */
static int sleeps;			/* as a foreign thread does: in a futex */

struct wefti_thread *model_self(void)
{
	return &thread;
}

static void init_with(uint64_t flags)
{
	store_relaxed(&thread.wait, (uint64_t)0);
	m_data_write(&context);
	m_data_write(&gift);
	seq = wefti_wait_begin(&thread, flags);
	sleeps = 0;
}

static void init(void)
{
	init_with(WEFTI_WAIT_TIMED);
}

/* It may find that its wait is over before it is made ready. */
static void init_foreign(void)
{
	init_with(0);
	sleeps = 1;
}

static void sleep_foreign(void)
{
	uint64_t w;

	while (w = load_seq_cst(&thread.wait),
	       (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE)
		m_futex_wait(0, &thread.wait, (uint32_t)w);
}

static void park(void)
{
	enum wefti_cause cause;

	m_data_write(&context);
	if (wefti_wait_commit(&thread))
		sleeps ? sleep_foreign() : m_block(0);
	cause = wefti_wait_cause(&thread);
	m_check(cause == WEFTI_CAUSE_HANDED || cause == WEFTI_CAUSE_TIMEDOUT);
	if (cause == WEFTI_CAUSE_HANDED)
		m_data_read(&gift);
	m_data_write(&context);
}

static void make_ready(void)
{
	if (sleeps) {
		m_futex_wake(0);
		return;
	}
	m_data_read(&context);
	m_unblock(0);
}

static void time_out(void)
{
	if (wefti_wait_resolve(&thread, seq, WEFTI_CAUSE_TIMEDOUT) ==
	    WEFTI_WAS_PARKED)
		make_ready();
}

/* The caller alone has the thread, and ends its wait. */
static void hand(void)
{
	m_data_write(&gift);
	if (wefti_wait_finish(&thread, WEFTI_CAUSE_HANDED))
		make_ready();
}

static void keep(void)
{
	if (wefti_wait_keep(&thread, seq))
		hand();
}

static void claim(void)
{
	if (wefti_wait_claim(&thread, seq))
		hand();
}

/* A thread that is parked looks no more: the caller may have what it looked at. */
static void claim_parked(void)
{
	if (!wefti_wait_claim(&thread, seq))
		return;
	if (wefti_wait_is_parked(&thread))
		m_data_read(&context);
	hand();
}

static void answer(void)
{
	m_data_write(&gift);
	for (;;) {
		if (wefti_wait_resolve_parked(&thread, seq,
					      WEFTI_CAUSE_HANDED)) {
			make_ready();
			return;
		}
		if (wefti_wait_resolve_armed(&thread, seq, WEFTI_CAUSE_HANDED))
			return;
	}
}

static void check(void)
{
	m_check((load_relaxed(&thread.wait) & WEFTI_WAIT_PHASE) ==
		WEFTI_WAIT_IDLE);
}

SCENARIO(claim) = { init, { park, claim, time_out }, check };
SCENARIO(claim_foreign) = { init_foreign, { park, claim }, check };
SCENARIO(claim_two) = { init, { park, claim, claim }, check };
SCENARIO(claim_parked) = { init, { park, claim_parked }, check };
SCENARIO(keep) = { init, { park, keep, time_out }, check };
SCENARIO(answer) = { init, { park, answer }, check };
SCENARIO(answer_late) = { init, { park, answer, time_out }, check };
