/* SPDX-License-Identifier: MIT */
/*
 * test_waiters_stall.c - a send stops at each step; a thread comes that waits to
 * receive from the same channel in several alternatives
 *
 * And an add stops at each step, of a thread whose wait is over; the queue ends
 * meanwhile, as a channel may (I9 of sync/waiters.c), and is used again.
 *
 * Nobody parks: the one that comes does what alt.c does before and behind the
 * park. Whatever the send has found, what is in the lists afterwards is as if
 * nobody had come.
 */
#include <stdio.h>

#include "chan/chan.h"
#include "each_step.h"
#include "support.h"
#include "sync/segment.h"
#include "thread/bare.h"

#define ALTERNATIVES	3
#define STEPS_MOST	200

static struct weft_chan chan = {
	.kind = WEFTI_CHAN_RENDEZVOUS, .elem_bytes = sizeof(long),
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
	sent = wefti_rendezvous_send(&chan, &message, sender);
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

static void an_arrival_in_several_alternatives_counts_once(void)
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

static struct wefti_waiters queue;
static struct wefti_thread *third;
static uint64_t late;
static uint64_t place[2];

static uint64_t begin(struct wefti_thread *t)
{
	return wefti_ticket(t, wefti_wait_begin(t, WEFTI_WAIT_TIMED));
}

static void end(uint64_t ticket)
{
	wefti_wait_resolve(wefti_ticket_thread(ticket), ticket,
			   WEFTI_CAUSE_TIMEDOUT);
}

static void add(uint64_t ticket)
{
	CU_ASSERT_EQUAL_FATAL(wefti_waiters_add(&queue, ticket, receiver,
						place), 0);
}

/* One waits in front of a segment that is full of waits that are over. */
static void fill_a_segment(void *arg)
{
	(void)arg;
	add(begin(receiver));
	for (unsigned i = 0; i < WEFTI_SEG_CELLS; i++) {
		uint64_t ticket = begin(third);

		add(ticket);
		end(ticket);
	}
	late = begin(sender);
	end(late);
}

static void come_late(void *arg)
{
	uint64_t where[2];

	(void)arg;
	CU_ASSERT_EQUAL_FATAL(wefti_waiters_add(&queue, late, sender, where),
			      0);
}

static void end_the_queue(void *arg)
{
	(void)arg;
	end(load_relaxed(&queue.lone));
	wefti_waiters_end(&queue, receiver);
	add(begin(receiver));
}

static void the_next_is_found(void *arg)
{
	uint64_t ticket = begin(third);

	(void)arg;
	add(ticket);
	CU_ASSERT_EQUAL_FATAL(wefti_waiters_find_in(&queue, receiver, 0),
			      ticket);
	end(ticket);
	end(load_relaxed(&queue.lone));
	wefti_waiters_end(&queue, receiver);
}

static void a_late_add_leaves_nothing_in_the_next_life(void)
{
	const struct each_step what = {
		.prepare = fill_a_segment, .call = come_late,
		.others = end_the_queue, .after = the_next_is_found,
	};
	size_t stops;

	sender = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	receiver = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	third = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	stops = each_step(&what, NULL);
	printf("    stopped at %zu steps\n", stops);
	CU_ASSERT_TRUE(stops > 1 && stops < STEPS_MOST);
}

static const struct test_case cases[] = {
	TEST(an_arrival_in_several_alternatives_counts_once),
	TEST(a_late_add_leaves_nothing_in_the_next_life),
};

TEST_MAIN("chan/waiters_stall", cases)
