/* SPDX-License-Identifier: MIT */
/*
 * test_rendezvous.c - chan/rendezvous: which threads meet, which one goes back for
 * the other, and what a closed channel does to both
 */
#include <string.h>

#include "armed.h"
#include "crowd.h"

enum { SEND = WEFT_ALT_SEND, RECV = WEFT_ALT_RECV };

static struct armed a[4];
static struct wefti_thread *me;
static struct weft_chan *c;

static void begin(size_t bytes)
{
	if (!me)
		me = armed_thread();
	c = armed_chan(bytes, 0, 0);
}

static void end(void)
{
	for (size_t i = 0; i < 4; i++)
		if (a[i].t)
			armed_end(&a[i]);
	armed_chan_end(c);
}

static void expect_met(const struct armed *w, size_t chosen)
{
	CU_ASSERT_EQUAL(armed_cause(w), WEFTI_CAUSE_HANDED);
	CU_ASSERT_EQUAL(w->alts.chosen, chosen);
	CU_ASSERT_EQUAL(w->alts.claimed, chosen);
	CU_ASSERT_EQUAL(w->alts.error, 0);
}

static void an_arrival_meets_the_first_waiter(void)
{
	long x[3] = { 1, 2, 3 }, y;

	begin(sizeof(long));
	CU_ASSERT_EQUAL(wefti_rendezvous_send(c, x, me), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, x, me), -EAGAIN);
	for (int i = 0; i < 3; i++)
		armed_in(&a[i], c, RECV, &x[i]);
	CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, &y, me), -EAGAIN);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(armed_cause(&a[i]), WEFTI_CAUSE_NONE);
		y = 10 + i;
		CU_ASSERT_EQUAL(wefti_rendezvous_send(c, &y, me), 0);
		expect_met(&a[i], 0);
		CU_ASSERT_EQUAL(x[i], y);
	}
	CU_ASSERT_EQUAL(wefti_rendezvous_send(c, &y, me), -EAGAIN);

	for (int i = 0; i < 3; i++)
		armed_in(&a[i], c, SEND, &x[i]);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, &y, me), 0);
		expect_met(&a[i], 0);
		CU_ASSERT_EQUAL(y, 10 + i);
	}
	CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, &y, me), -EAGAIN);
	end();
}

static void a_wait_that_is_over_or_claimed_is_passed_over(void)
{
	long x[4] = { 0 }, y = 7;

	begin(sizeof(long));
	for (int i = 0; i < 4; i++)
		armed_in(&a[i], c, RECV, &x[i]);
	wefti_wait_resolve(a[0].t, a[0].seq, WEFTI_CAUSE_TIMEDOUT);
	CU_ASSERT_TRUE(wefti_wait_claim(a[1].t, a[1].seq));
	wefti_wait_resolve(a[2].t, a[2].seq, WEFTI_CAUSE_CANCELLED);
	CU_ASSERT_EQUAL(wefti_rendezvous_send(c, &y, me), 0);
	expect_met(&a[3], 0);
	CU_ASSERT_EQUAL(wefti_rendezvous_send(c, &y, me), -EAGAIN);
	CU_ASSERT_TRUE(x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 7);
	CU_ASSERT_EQUAL(armed_cause(&a[0]), WEFTI_CAUSE_TIMEDOUT);
	CU_ASSERT_EQUAL(armed_cause(&a[1]), WEFTI_CAUSE_NONE);
	wefti_alts_done(a[1].t, &a[1].alt[0], 0);
	end();
}

static void nobody_meets_himself(void)
{
	long x = 1, y = 2;

	begin(sizeof(long));
	armed_in(&a[0], c, RECV, &x);
	armed_add(&a[0], c, SEND, &y);
	CU_ASSERT_EQUAL(wefti_rendezvous_send(c, &y, a[0].t), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, &x, a[0].t), -EAGAIN);
	for (unsigned op = SEND; op <= RECV; op++)
		CU_ASSERT_EQUAL(wefti_rendezvous_may_go_on(c, op, a[0].t,
							a[0].alts.ticket), 0);
	CU_ASSERT_TRUE(armed_waits(&a[0]) && x == 1);
	end();
}

static void the_matching_alternative_is_done(void)
{
	struct weft_chan *other = armed_chan(sizeof(long), 0, 0);
	long x = 1, y = 2, z = 3;

	begin(sizeof(long));
	armed_in(&a[0], other, RECV, &x);
	armed_add(&a[0], c, SEND, &y);
	armed_add(&a[0], c, RECV, &z);
	CU_ASSERT_EQUAL(wefti_rendezvous_send(c, &(long){ 9 }, me), 0);
	expect_met(&a[0], 2);
	CU_ASSERT_TRUE(x == 1 && y == 2 && z == 9);
	/* Where it still stands it is no more. */
	CU_ASSERT_EQUAL(wefti_rendezvous_send(other, &x, me), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, &z, me), -EAGAIN);
	end();
	armed_chan_end(other);
}

/* If two see each other, the one with the higher slot goes back. */
static void the_higher_slot_goes_back_for_the_lower(void)
{
	struct armed *low = &a[0], *high = &a[1];
	long x = 1, y = 2;

	begin(sizeof(long));
	armed_in(low, c, SEND, &x);
	armed_in(high, c, RECV, &y);
	if (low->t->slot > high->t->slot) {
		struct wefti_thread *t = low->t;

		armed_end(low);
		armed_end(high);
		low->t = high->t;
		high->t = t;
		armed_in(low, c, SEND, &x);
		armed_in(high, c, RECV, &y);
	}
	/* By itself: it saw the lower. */
	CU_ASSERT_EQUAL(wefti_rendezvous_may_go_on(c, RECV, high->t,
						high->alts.ticket), 1);
	CU_ASSERT_TRUE(armed_waits(low) && armed_waits(high));
	/* Sent back by the lower, which goes on waiting. */
	CU_ASSERT_EQUAL(wefti_rendezvous_may_go_on(c, SEND, low->t,
						low->alts.ticket), 0);
	CU_ASSERT_TRUE(armed_waits(low));
	CU_ASSERT_EQUAL(armed_cause(high), WEFTI_CAUSE_WOKEN);
	/* And meets it then. */
	CU_ASSERT_EQUAL(wefti_rendezvous_recv(c, &y, high->t), 0);
	expect_met(low, 0);
	CU_ASSERT_EQUAL(y, 1);
	end();
}

static void all_higher_ones_are_sent_back(void)
{
	uint32_t lowest = UINT32_MAX;
	uint64_t ticket = 0;
	long x;

	begin(sizeof(long));
	for (int i = 0; i < 4; i++) {
		armed_in(&a[i], c, RECV, &x);
		if (a[i].t->slot < lowest) {
			lowest = a[i].t->slot;
			ticket = a[i].alts.ticket;
		}
	}
	CU_ASSERT_EQUAL(wefti_rendezvous_may_go_on(c, SEND, me, ticket), 0);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(armed_cause(&a[i]), a[i].t->slot == lowest ?
				WEFTI_CAUSE_NONE : WEFTI_CAUSE_WOKEN);
	end();
}

/* Also after a close by a thread that did not come to wake them. */
static void a_call_that_finds_it_closed_wakes_both_sides(void)
{
	for (unsigned op = SEND; op <= RECV; op++) {
		long x = 5;

		begin(sizeof(long));
		for (int i = 0; i < 4; i++)
			armed_in(&a[i], c, i % 2 ? SEND : RECV, &x);
		store_seq_cst(&c->closed, 1);
		CU_ASSERT_EQUAL(wefti_rendezvous_may_go_on(c, op, me,
				wefti_ticket(me, 1)), 1);
		CU_ASSERT_TRUE(armed_waits(&a[0]) && armed_waits(&a[1]));
		CU_ASSERT_EQUAL(op == SEND ? wefti_rendezvous_send(c, &x, me) :
				wefti_rendezvous_recv(c, &x, me), -EPIPE);
		for (int i = 0; i < 4; i++)
			CU_ASSERT_EQUAL(armed_cause(&a[i]), WEFTI_CAUSE_WOKEN);
		CU_ASSERT_EQUAL(x, 5);
		end();
	}
}

/* As many bytes as the channel has, between the two; or dropped. */
static void the_message_is_copied_and_nothing_else(void)
{
	static const size_t sizes[] = { 0, 1, 4, 7, 8, 9, 64, 3000 };
	static unsigned char from[3002], to[3002], before[3002];

	memset(from, 0xaa, sizeof(from));
	memset(before, 0x55, sizeof(before));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned op = SEND; op <= RECV; op++) {
			size_t n = sizes[i];

			begin(n);
			memcpy(to, before, sizeof(to));
			armed_in(&a[0], c, op, op == SEND ? from + 1 : to + 1);
			CU_ASSERT_EQUAL(op == SEND ?
					wefti_rendezvous_recv(c, to + 1, me) :
					wefti_rendezvous_send(c, from + 1, me), 0);
			CU_ASSERT_EQUAL(memcmp(to + 1, from + 1, n), 0);
			CU_ASSERT_EQUAL(to[0], 0x55);
			CU_ASSERT_EQUAL(to[n + 1], 0x55);

			armed_in(&a[0], c, op, op == SEND ? from + 1 : NULL);
			CU_ASSERT_EQUAL(op == SEND ?
					wefti_rendezvous_recv(c, NULL, me) :
					wefti_rendezvous_send(c, from + 1, me), 0);
			expect_met(&a[0], 0);
			end();
		}
}

static void *receive_behind(void *x)
{
	struct wefti_thread *self = wefti_enter();
	const int error = wefti_rendezvous_wait(c, RECV, x, self);

	wefti_leave(self);
	return (void *)(intptr_t)error;
}

static void send_surely(long x)
{
	while (weft_chan_send(c, &x, WEFT_NO_WAIT))
		rest();
}

static int behind_count(void)
{
	return (int)(uint32_t)load_seq_cst(&c->receivers.count);
}

/* A thread that is cancelled there leaves, and is not counted any more. */
static void behind_others_a_call_waits_its_turn(void)
{
	long first = 0, second = 0, third = 0;
	uint64_t id[2];

	runtime_begin();
	begin(sizeof(long));
	armed_in(&a[0], c, RECV, &first);
	id[0] = spawn(receive_behind, &second);
	while (behind_count() < 1)
		rest();
	id[1] = spawn(receive_behind, &third);
	while (behind_count() < 2)
		rest();
	must(weft_cancel(id[1]) == 0);
	CU_ASSERT_EQUAL((intptr_t)join(id[1]), -ECANCELED);
	CU_ASSERT_EQUAL(behind_count(), 1);
	send_surely(1);
	CU_ASSERT_EQUAL(first, 1);
	expect_met(&a[0], 0);
	send_surely(2);
	CU_ASSERT_PTR_NULL(join(id[0]));
	CU_ASSERT_EQUAL(second, 2);
	CU_ASSERT_EQUAL(third, 0);
	CU_ASSERT_EQUAL(behind_count(), 0);
	end();
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(an_arrival_meets_the_first_waiter),
	TEST(a_wait_that_is_over_or_claimed_is_passed_over),
	TEST(nobody_meets_himself),
	TEST(the_matching_alternative_is_done),
	TEST(the_higher_slot_goes_back_for_the_lower),
	TEST(all_higher_ones_are_sent_back),
	TEST(a_call_that_finds_it_closed_wakes_both_sides),
	TEST(the_message_is_copied_and_nothing_else),
	TEST(behind_others_a_call_waits_its_turn),
};

TEST_MAIN("chan/rendezvous", cases)
