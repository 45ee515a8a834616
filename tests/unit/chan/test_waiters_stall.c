/* SPDX-License-Identifier: MIT */
/*
 * test_waiters_stall.c - a send stops at each step; a thread comes that waits to
 * receive from the same channel in several alternatives
 *
 * Nobody parks: the one that comes does what alt.c does before and behind the
 * park. Whatever the send has found, what is in the lists afterwards is as if
 * nobody had come.
 */
#include <stdio.h>

#include "chan/chan.h"
#include "each_step.h"
#include "support.h"
#include "thread/bare.h"

#define ALTERNATIVES	3
#define STEPS_MOST	200

static struct weft_chan chan = {
	.kind = WEFTI_CHAN_MEETING, .elem_bytes = sizeof(long),
};
static struct wefti_thread *sender, *receiver;
static struct weft_alt alt[ALTERNATIVES];
static struct wefti_alts alts;
static long got;
static int sent, has_come;

static void nobody_comes(void *arg)
{
	(void)arg;
	has_come = 0;
}

static void send_it(void *arg)
{
	long message = 7;

	(void)arg;
	sent = wefti_meeting_send(&chan, &message, sender);
}

/* wait_once() of alt.c, to the park */
static void receiver_comes(void *arg)
{
	(void)arg;
	has_come = 1;
	got = 0;
	for (unsigned i = 0; i < ALTERNATIVES; i++) {
		alt[i].op = WEFT_ALT_RECV;
		alt[i].chan = &chan;
		alt[i].elem = &got;
	}
	alts.alt = alt;
	alts.count = alts.chosen = alts.claimed = ALTERNATIVES;
	alts.self = receiver;
	receiver->alts = &alts;
	alts.ticket = wefti_ticket(receiver, wefti_wait_begin(receiver,
							WEFTI_WAIT_TIMED));
	for (unsigned i = 0; i < ALTERNATIVES; i++)
		CU_ASSERT_EQUAL_FATAL(wefti_waiters_add(&chan.receivers,
				alts.ticket, receiver, alt[i].weft_private),
				0);
}

/* and from the park on. */
static void receiver_goes(void *arg)
{
	(void)arg;
	if (!has_come)
		return;
	if (wefti_wait_resolve(receiver, alts.ticket, WEFTI_CAUSE_TIMEDOUT) ==
	    WEFTI_LOST) {
		CU_ASSERT_EQUAL_FATAL(sent, 0);
		CU_ASSERT_EQUAL_FATAL(got, 7);
	}
	for (unsigned i = 0; i < ALTERNATIVES; i++)
		if (i != alts.claimed && alt[i].weft_private[0])
			wefti_waiters_retire(&chan.receivers, receiver,
					     alt[i].weft_private);
	CU_ASSERT_EQUAL_FATAL(load_relaxed(&chan.receivers.count), 0);
}

static void who_comes_in_several_alternatives_is_counted_once(void)
{
	const struct each_step what = {
		.prepare = nobody_comes, .call = send_it,
		.others = receiver_comes, .after = receiver_goes,
	};
	size_t stops;

	sender = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	receiver = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	stops = each_step(&what, NULL);
	printf("    stopped at %zu steps\n", stops);
	CU_ASSERT_TRUE(stops > 1 && stops < STEPS_MOST);
}

static const struct test_case cases[] = {
	TEST(who_comes_in_several_alternatives_is_counted_once),
};

TEST_MAIN("chan/waiters_stall", cases)
