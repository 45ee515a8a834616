/* SPDX-License-Identifier: MIT */
/* test_wait.c - thread/wait.h: an episode is ended once, by its own ticket */
#include "thread/wait.h"

#include <pthread.h>
#include <sched.h>

#include "support.h"

#define WOKEN		WEFTI_CAUSE_WOKEN
#define TIMEDOUT	WEFTI_CAUSE_TIMEDOUT
#define CANCELLED	WEFTI_CAUSE_CANCELLED
#define BOTH_FLAGS	(WEFTI_WAIT_TIMED | WEFTI_WAIT_CANCELLABLE)

static struct wefti_thread t;

static uint64_t phase(void)
{
	return load_relaxed(&t.wait) & WEFTI_WAIT_PHASE;
}

static void a_wait_is_armed_then_parked_then_over(void)
{
	uint64_t seq = wefti_wait_begin(&t, 0);

	CU_ASSERT_EQUAL(phase(), WEFTI_WAIT_ARMED);
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_NONE);
	CU_ASSERT_FALSE(wefti_wait_is_parked(&t));
	CU_ASSERT_TRUE(wefti_wait_is_open(&t, seq));
	CU_ASSERT_TRUE(wefti_wait_commit(&t));
	CU_ASSERT_EQUAL(phase(), WEFTI_WAIT_PARKED);
	CU_ASSERT_TRUE(wefti_wait_is_parked(&t));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, WOKEN), WEFTI_WAS_PARKED);
	CU_ASSERT_EQUAL(phase(), WEFTI_WAIT_IDLE);
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WOKEN);
	CU_ASSERT_FALSE(wefti_wait_is_open(&t, seq));
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, WOKEN), WEFTI_LOST);
	CU_ASSERT_EQUAL(wefti_wait_begin(&t, 0), seq + 1);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq + 1, WOKEN),
			WEFTI_WAS_ARMED);
}

static void what_is_resolved_on_its_stack_is_not_parked(void)
{
	uint64_t seq = wefti_wait_begin(&t, 0);

	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, WEFTI_CAUSE_HANDED),
			WEFTI_WAS_ARMED);
	CU_ASSERT_FALSE(wefti_wait_commit(&t));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_HANDED);
}

static void a_wait_begins_parked_too(void)
{
	uint64_t seq = load_relaxed(&t.wait) >> WEFTI_WAIT_SEQ_SHIFT;

	CU_ASSERT_EQUAL(wefti_wait_begin_parked(&t, WEFTI_WAIT_CANCELLABLE),
			seq + 1);
	CU_ASSERT_TRUE(wefti_wait_is_parked(&t));
	CU_ASSERT_FALSE(wefti_wait_commit(&t));
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, WOKEN), WEFTI_LOST);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq + 1, TIMEDOUT), WEFTI_LOST);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq + 1, CANCELLED),
			WEFTI_WAS_PARKED);
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), CANCELLED);
}

/* The flags say which others may end a wait. */
static void a_wait_is_timed_out_or_cancelled_only_if_it_may_be(void)
{
	static const enum wefti_cause cause[] = { TIMEDOUT, CANCELLED };
	static const uint64_t flag[] = {
		WEFTI_WAIT_TIMED, WEFTI_WAIT_CANCELLABLE,
	};

	for (int i = 0; i < 2; i++) {
		for (int parked = 0; parked < 2; parked++) {
			uint64_t seq = wefti_wait_begin(&t, flag[i]);

			CU_ASSERT_TRUE(!parked || wefti_wait_commit(&t));
			CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq,
						cause[!i]), WEFTI_LOST);
			CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, cause[i]),
					parked ? WEFTI_WAS_PARKED :
					WEFTI_WAS_ARMED);
			CU_ASSERT_EQUAL(wefti_wait_cause(&t), cause[i]);
		}
	}
}

static void a_caller_that_wants_it_parked_leaves_it_armed(void)
{
	uint64_t seq = wefti_wait_begin(&t, 0);

	CU_ASSERT_FALSE(wefti_wait_resolve_parked(&t, seq, WOKEN));
	CU_ASSERT_TRUE(wefti_wait_commit(&t));
	CU_ASSERT_FALSE(wefti_wait_resolve_parked(&t, seq - 1, WOKEN));
	CU_ASSERT_TRUE(wefti_wait_resolve_parked(&t, seq, WOKEN));
	CU_ASSERT_FALSE(wefti_wait_resolve_parked(&t, seq, WOKEN));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WOKEN);
}

static void what_is_kept_is_ended_by_its_keeper(void)
{
	uint64_t seq = wefti_wait_begin(&t, BOTH_FLAGS);

	CU_ASSERT_FALSE(wefti_wait_keep(&t, seq - 1));
	CU_ASSERT_TRUE(wefti_wait_keep(&t, seq));
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, TIMEDOUT), WEFTI_LOST);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq, CANCELLED), WEFTI_LOST);
	CU_ASSERT_TRUE(wefti_wait_is_open(&t, seq));
	CU_ASSERT_TRUE(wefti_wait_keep(&t, seq));	/* and again */
	CU_ASSERT_FALSE(wefti_wait_finish(&t, WOKEN));	/* it was ARMED */
	CU_ASSERT_FALSE(wefti_wait_commit(&t));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WOKEN);
	CU_ASSERT_FALSE(wefti_wait_keep(&t, seq));

	seq = wefti_wait_begin(&t, WEFTI_WAIT_TIMED);
	CU_ASSERT_TRUE(wefti_wait_keep(&t, seq));
	CU_ASSERT_TRUE(wefti_wait_commit(&t));
	CU_ASSERT_TRUE(wefti_wait_finish(&t, WEFTI_CAUSE_SIGNALLED));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_SIGNALLED);
}

static void what_is_claimed_is_the_claimers_alone(void)
{
	uint64_t seq = wefti_wait_begin(&t, BOTH_FLAGS);

	CU_ASSERT_FALSE(wefti_wait_claim(&t, seq + 1));
	CU_ASSERT_TRUE(wefti_wait_claim(&t, seq));
	CU_ASSERT_FALSE(wefti_wait_claim(&t, seq));
	CU_ASSERT_FALSE(wefti_wait_is_open(&t, seq));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_NONE);
	for (int cause = WOKEN; cause <= WEFTI_CAUSE_SIGNALLED; cause++)
		CU_ASSERT_EQUAL(wefti_wait_resolve(&t, seq,
				(enum wefti_cause)cause), WEFTI_LOST);
	CU_ASSERT_TRUE(wefti_wait_commit(&t));
	CU_ASSERT_TRUE(wefti_wait_is_parked(&t));
	CU_ASSERT_FALSE(wefti_wait_resolve_parked(&t, seq, WOKEN));
	CU_ASSERT_TRUE(wefti_wait_finish(&t, WEFTI_CAUSE_HANDED));
	CU_ASSERT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_HANDED);
	CU_ASSERT_FALSE(wefti_wait_claim(&t, seq));
}

/* 40 bits of the number are in a ticket; the 16 above do not matter. */
static void tickets_are_told_apart_when_their_number_wraps(void)
{
	const uint64_t last = WEFTI_TICKET_SEQ_MASK;
	uint64_t seq, ticket;

	t.slot = 0xabcdef;
	store_relaxed(&t.wait, (last - 1) << WEFTI_WAIT_SEQ_SHIFT);
	seq = wefti_wait_begin(&t, 0);
	CU_ASSERT_EQUAL(seq, last);
	ticket = wefti_ticket(&t, seq);
	CU_ASSERT_EQUAL(ticket >> WEFTI_TICKET_SEQ_BITS, t.slot);
	CU_ASSERT_EQUAL(ticket & WEFTI_TICKET_SEQ_MASK, last);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, ticket, WOKEN),
			WEFTI_WAS_ARMED);
	seq = wefti_wait_begin(&t, 0);
	CU_ASSERT_EQUAL(seq, last + 1);
	CU_ASSERT_EQUAL(wefti_wait_resolve(&t, ticket, WOKEN), WEFTI_LOST);
	CU_ASSERT_FALSE(wefti_wait_claim(&t, ticket));
	ticket = wefti_ticket(&t, seq);
	CU_ASSERT_EQUAL(ticket & WEFTI_TICKET_SEQ_MASK, 0);
	CU_ASSERT_TRUE(wefti_wait_claim(&t, ticket));
	CU_ASSERT_FALSE(wefti_wait_finish(&t, WOKEN));
	CU_ASSERT_EQUAL(load_relaxed(&t.wait) >> WEFTI_WAIT_SEQ_SHIFT, seq);
}

/* --- one waits; a waker, a claimer, a timer and a canceller come for it */

#define COMERS	4

static struct {
	size_t episodes;
	_Atomic uint64_t ticket;	/* UINT64_MAX: no more */
	_Atomic uint32_t ready;
	_Atomic size_t ended[WEFTI_CAUSE_SIGNALLED + 1];
} race;

static void ends(enum wefti_cause cause, int was_parked)
{
	fetch_add_relaxed(&race.ended[cause], 1);
	if (was_parked)
		fetch_add_seq_cst(&race.ready, 1u);
}

static void come(enum wefti_cause cause, uint64_t ticket)
{
	enum wefti_resolved was;

	if (cause == WEFTI_CAUSE_HANDED) {
		if (wefti_wait_claim(&t, ticket))
			ends(cause, wefti_wait_finish(&t, cause));
		return;
	}
	was = wefti_wait_resolve(&t, ticket, cause);
	if (was != WEFTI_LOST)
		ends(cause, was == WEFTI_WAS_PARKED);
}

static void *comer(void *arg)
{
	enum wefti_cause cause = (enum wefti_cause)(uintptr_t)arg;
	uint64_t seen = 0, ticket;

	while ((ticket = load_seq_cst(&race.ticket)) != UINT64_MAX) {
		if (ticket != seen)
			come(cause, ticket);
		else
			sched_yield();
		seen = ticket;
	}
	return NULL;
}

/* Each other wait begins off its stack; it is one thread here. */
static void wait_once(size_t i, size_t causes[])
{
	uint64_t seq;
	int committed = 1;

	if (i % 2) {
		seq = wefti_wait_begin_parked(&t, BOTH_FLAGS);
		store_seq_cst(&race.ticket, seq);
	} else {
		seq = wefti_wait_begin(&t, BOTH_FLAGS);
		store_seq_cst(&race.ticket, seq);
		committed = wefti_wait_commit(&t);
	}
	while (committed && load_seq_cst(&race.ready) == 0)
		sched_yield();
	CU_ASSERT_EQUAL(load_seq_cst(&race.ready), (uint32_t)committed);
	store_seq_cst(&race.ready, 0u);
	CU_ASSERT_NOT_EQUAL(wefti_wait_cause(&t), WEFTI_CAUSE_NONE);
	causes[wefti_wait_cause(&t)]++;
}

static void one_of_many_at_once_ends_it(void)
{
	static const enum wefti_cause cause[COMERS] = {
		WOKEN, WEFTI_CAUSE_HANDED, TIMEDOUT, CANCELLED,
	};
	size_t causes[WEFTI_CAUSE_SIGNALLED + 1] = { 0 };
	pthread_t thread[COMERS];

	store_relaxed(&t.wait, (uint64_t)0);
	race.episodes = test_scaled(5000);
	for (int i = 0; i < COMERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, comer,
				(void *)(uintptr_t)cause[i]), 0);
	for (size_t i = 0; i < race.episodes; i++)
		wait_once(i, causes);
	store_seq_cst(&race.ticket, UINT64_MAX);
	for (int i = 0; i < COMERS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i <= WEFTI_CAUSE_SIGNALLED; i++)
		CU_ASSERT_EQUAL(load_relaxed(&race.ended[i]), causes[i]);
}

static const struct test_case cases[] = {
	TEST(a_wait_is_armed_then_parked_then_over),
	TEST(what_is_resolved_on_its_stack_is_not_parked),
	TEST(a_wait_begins_parked_too),
	TEST(a_wait_is_timed_out_or_cancelled_only_if_it_may_be),
	TEST(a_caller_that_wants_it_parked_leaves_it_armed),
	TEST(what_is_kept_is_ended_by_its_keeper),
	TEST(what_is_claimed_is_the_claimers_alone),
	TEST(tickets_are_told_apart_when_their_number_wraps),
	TEST(one_of_many_at_once_ends_it),
};

TEST_MAIN("thread/wait", cases)
