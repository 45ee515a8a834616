/* SPDX-License-Identifier: MIT */
/*
 * test_one.c - chan/one: the ring's ends, where each ticket stands, and which
 * side wakes which
 */
#include <string.h>

#include "armed.h"

enum { SEND = WEFT_ALT_SEND, RECV = WEFT_ALT_RECV };

static struct armed a[2];
static struct weft_chan *c;

static void begin(size_t capacity)
{
	c = armed_chan(sizeof(long), capacity, WEFT_CHAN_ONE_TO_ONE);
	CU_ASSERT_EQUAL_FATAL(c->kind, WEFTI_CHAN_ONE);
}

static void end(void)
{
	for (int i = 0; i < 2; i++)
		if (a[i].t)
			armed_end(&a[i]);
	armed_chan_end(c);
}

static int send(long x)
{
	return wefti_one_send(c, &x);
}

static void expect_recv(int error, long x)
{
	long y = -1;

	CU_ASSERT_EQUAL(wefti_one_recv(c, &y), error);
	CU_ASSERT_EQUAL(y, x);
}

/* What a call that waits is told at this number of messages. */
static void expect_looks(size_t n, size_t capacity)
{
	CU_ASSERT_EQUAL(weft_chan_length(c), n);
	CU_ASSERT_EQUAL(wefti_one_may_go_on(c, SEND), n < capacity);
	CU_ASSERT_EQUAL(wefti_one_may_go_on(c, RECV), n > 0);
}

static void the_ring_is_full_and_empty_where_it_should_be(void)
{
	for (size_t capacity = 1; capacity < 6; capacity++) {
		long out = 0, in = 0;

		begin(capacity);
		for (size_t level = 0; level <= capacity; level++)
			/* From each place in the array. */
			for (size_t lap = 0; lap < 3 * capacity; lap++) {
				for (size_t i = 0; i < level; i++) {
					expect_looks(i, capacity);
					CU_ASSERT_EQUAL(send(out++), 0);
				}
				expect_looks(level, capacity);
				if (level == capacity)
					CU_ASSERT_EQUAL(send(-2), -EAGAIN);
				for (size_t i = 0; i < level; i++)
					expect_recv(0, in++);
				expect_recv(-EAGAIN, -1);
				CU_ASSERT_EQUAL(send(out++), 0);
				expect_recv(0, in++);
			}
		end();
	}
}

static void what_was_sent_before_a_close_is_received(void)
{
	for (size_t capacity = 1; capacity < 5; capacity++)
		for (size_t level = 0; level <= capacity; level++) {
			begin(capacity);
			CU_ASSERT_EQUAL(send(-3), 0);
			expect_recv(0, -3);
			for (size_t i = 0; i < level; i++)
				CU_ASSERT_EQUAL(send((long)i), 0);
			CU_ASSERT_EQUAL(wefti_one_close(c), 0);
			CU_ASSERT_EQUAL(wefti_one_close(c), -EALREADY);
			CU_ASSERT_EQUAL(send(-2), -EPIPE);
			CU_ASSERT_EQUAL(weft_chan_length(c), level);
			CU_ASSERT_EQUAL(wefti_one_may_go_on(c, SEND), 1);
			CU_ASSERT_EQUAL(wefti_one_may_go_on(c, RECV), 1);
			for (size_t i = 0; i < level; i++)
				expect_recv(0, (long)i);
			expect_recv(-EPIPE, -1);
			CU_ASSERT_EQUAL(send(-2), -EPIPE);
			expect_recv(-EPIPE, -1);
			end();
		}
}

/* Its counters have come far: CLOSED, the highest bit, is none of them. */
static void counters_may_be_large(void)
{
	const uint64_t far = WEFTI_ONE_CLOSED - 100;

	begin(3);
	store_relaxed(&c->one.tail, far);
	store_relaxed(&c->one.head, far);
	c->one.seen_head = c->one.seen_tail = far;
	for (long i = 0; i < 60; i++) {
		CU_ASSERT_EQUAL(send(i), 0);
		expect_looks(1, 3);
		expect_recv(0, i);
	}
	CU_ASSERT_FALSE(weft_chan_is_closed(c));
	CU_ASSERT_EQUAL(wefti_one_close(c), 0);
	expect_recv(-EPIPE, -1);
	end();
}

static void a_message_may_be_dropped_or_be_of_no_bytes(void)
{
	struct weft_chan *empty = armed_chan(0, 2, WEFT_CHAN_ONE_TO_ONE);

	begin(2);
	CU_ASSERT_EQUAL(send(1), 0);
	CU_ASSERT_EQUAL(send(2), 0);
	CU_ASSERT_EQUAL(wefti_one_recv(c, NULL), 0);
	expect_recv(0, 2);
	CU_ASSERT_EQUAL(wefti_one_recv(c, NULL), -EAGAIN);
	end();

	CU_ASSERT_EQUAL(wefti_one_send(empty, NULL), 0);
	CU_ASSERT_EQUAL(wefti_one_send(empty, NULL), 0);
	CU_ASSERT_EQUAL(wefti_one_send(empty, NULL), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_one_recv(empty, NULL), 0);
	CU_ASSERT_EQUAL(weft_chan_length(empty), 1);
	armed_chan_end(empty);
}

static uint64_t ticket_of(unsigned op)
{
	return load_seq_cst(op == SEND ? &c->one.sender_waits :
					 &c->one.receiver_waits);
}

/*
 * A thread waits in op: the other side's call does something, and a call of its
 * own side nothing.
 */
static void a_waiter_is_woken_once_by_the_other_side(void)
{
	for (unsigned op = SEND; op <= RECV; op++) {
		begin(1);
		CU_ASSERT_EQUAL(send(1), 0);
		if (op == RECV)
			expect_recv(0, 1);
		armed_in(&a[0], c, op, NULL);
		CU_ASSERT_EQUAL(ticket_of(op), a[0].alts.ticket);
		CU_ASSERT_TRUE(wefti_one_is_waited_for(c));
		/* Not by a call that has done nothing. */
		if (op == RECV)
			expect_recv(-EAGAIN, -1);
		if (op == SEND)
			CU_ASSERT_EQUAL(send(2), -EAGAIN);
		CU_ASSERT_TRUE(armed_waits(&a[0]));

		if (op == SEND)
			expect_recv(0, 1);
		if (op == RECV)
			CU_ASSERT_EQUAL(send(2), 0);
		CU_ASSERT_EQUAL(armed_cause(&a[0]), WEFTI_CAUSE_WOKEN);
		CU_ASSERT_EQUAL(a[0].alts.chosen, 0);
		CU_ASSERT_EQUAL(ticket_of(op), 0);
		CU_ASSERT_FALSE(wefti_one_is_waited_for(c));
		end();
	}
}

static void a_wait_that_is_over_is_taken_out_and_no_more(void)
{
	begin(1);
	armed_in(&a[0], c, RECV, NULL);
	wefti_wait_resolve(a[0].t, a[0].seq, WEFTI_CAUSE_TIMEDOUT);
	CU_ASSERT_FALSE(wefti_one_is_waited_for(c));
	CU_ASSERT_EQUAL(send(1), 0);
	CU_ASSERT_EQUAL(ticket_of(RECV), 0);
	CU_ASSERT_EQUAL(armed_cause(&a[0]), WEFTI_CAUSE_TIMEDOUT);
	end();
}

/*
 * A late thread, when the place already has another ticket, leaves that one
 * there.
 */
static void retire_takes_out_its_own_ticket_alone(void)
{
	begin(1);
	for (unsigned op = SEND; op <= RECV; op++) {
		armed_in(&a[0], c, op, NULL);
		armed_in(&a[1], c, op, NULL);
		wefti_one_retire(c, op, a[0].alts.ticket);
		CU_ASSERT_EQUAL(ticket_of(op), a[1].alts.ticket);
		wefti_one_retire(c, op, a[1].alts.ticket);
		CU_ASSERT_EQUAL(ticket_of(op), 0);
		armed_end(&a[0]);
		armed_end(&a[1]);
	}
	end();
}

static void a_close_wakes_both_and_a_send_that_finds_it_the_receiver(void)
{
	begin(1);
	armed_in(&a[0], c, SEND, NULL);
	armed_in(&a[1], c, RECV, NULL);
	CU_ASSERT_EQUAL(wefti_one_close(c), 0);
	CU_ASSERT_EQUAL(armed_cause(&a[0]), WEFTI_CAUSE_WOKEN);
	CU_ASSERT_EQUAL(armed_cause(&a[1]), WEFTI_CAUSE_WOKEN);
	end();

	/* The closer has not come to wake them yet. */
	begin(1);
	armed_in(&a[1], c, RECV, NULL);
	fetch_or_release(&c->one.tail, WEFTI_ONE_CLOSED);
	CU_ASSERT_TRUE(armed_waits(&a[1]));
	CU_ASSERT_EQUAL(send(1), -EPIPE);
	CU_ASSERT_EQUAL(armed_cause(&a[1]), WEFTI_CAUSE_WOKEN);
	end();
}

static void from_outside_the_one_that_waits_for_op_is_woken(void)
{
	begin(1);
	for (unsigned op = SEND; op <= RECV; op++) {
		armed_in(&a[0], c, SEND, NULL);
		armed_in(&a[1], c, RECV, NULL);
		CU_ASSERT_EQUAL(wefti_one_wake_outside(c, op), 0);
		CU_ASSERT_EQUAL(armed_waits(&a[0]), op == RECV);
		CU_ASSERT_EQUAL(armed_waits(&a[1]), op == SEND);
		armed_end(&a[0]);
		armed_end(&a[1]);
		CU_ASSERT_EQUAL(wefti_one_wake_outside(c, op), 0);
	}
	end();
}

static const struct test_case cases[] = {
	TEST(the_ring_is_full_and_empty_where_it_should_be),
	TEST(what_was_sent_before_a_close_is_received),
	TEST(counters_may_be_large),
	TEST(a_message_may_be_dropped_or_be_of_no_bytes),
	TEST(a_waiter_is_woken_once_by_the_other_side),
	TEST(a_wait_that_is_over_is_taken_out_and_no_more),
	TEST(retire_takes_out_its_own_ticket_alone),
	TEST(a_close_wakes_both_and_a_send_that_finds_it_the_receiver),
	TEST(from_outside_the_one_that_waits_for_op_is_woken),
};

TEST_MAIN("chan/one", cases)
