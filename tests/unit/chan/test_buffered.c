/* SPDX-License-Identifier: MIT */
/*
 * test_buffered.c - chan/buffered: which calls serve waiters, what a stopped
 * call has left undone, and that a waiter that is claimed for nothing waits on
 */
#include "armed.h"
#include "crowd.h"

enum { SEND = WEFT_ALT_SEND, RECV = WEFT_ALT_RECV };

#define CROWD	5
#define MOST	3		/* capacities */

/* A word, or a cell: the channel says how much of it is sent. */
struct message {
	long number;
	char rest[92];
};

static const size_t sizes[] = { sizeof(long), sizeof(struct message) };

static struct weft_chan *c;

static int put(long number)
{
	struct message m = { .number = number };

	return weft_chan_send(c, &m, WEFT_NO_WAIT);
}

static void expect_recv(long number)
{
	struct message m = { .number = -1 };

	must(weft_chan_recv(c, &m, WEFT_NO_WAIT) == 0);
	must(m.number == number);
}

/* As a sender that is stopped before it serves waiters. */
static void push_alone(long number)
{
	struct message m = { .number = number };
	struct wefti_thread *self = wefti_enter();
	uint64_t word;
	int room;

	must(wefti_message_pack(c->cell_class, &m, c->elem_bytes, self->vcpu,
				&word) == 0);
	must(wefti_buffer_push(&c->buffer, word, &room) == 0);
	wefti_leave(self);
}

static void pop_alone(long number)
{
	struct message m = { .number = -1 };
	struct wefti_thread *self = wefti_enter();
	uint64_t word;
	int more;

	must(wefti_buffer_pop(&c->buffer, &word, &more) == 0);
	wefti_message_unpack(c->cell_class, &m, c->elem_bytes, self->vcpu,
			     word);
	must(m.number == number);
	wefti_leave(self);
}

static void *send_call(void *arg)
{
	struct crowd_call *call = arg;
	struct message m = { .number = call->number };

	must(weft_chan_send(c, &m, WEFT_FOREVER) == 0);
	return NULL;
}

static void *recv_call(void *arg)
{
	struct crowd_call *call = arg;
	struct message m = { .number = -1 };

	must(weft_chan_recv(c, &m, WEFT_FOREVER) == 0);
	call->number = m.number;
	return NULL;
}

/* One more, which is parked then. */
static void wait_in(struct crowd_call *call, unsigned op, long number)
{
	call->number = number;
	call->id = spawn(op == SEND ? send_call : recv_call, call);
	crowd_await_in(call->id, c);
}

/* Runs a case with each capacity and size. */
static void each(void (*run)(size_t capacity))
{
	runtime_begin();
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t capacity = 1; capacity <= MOST; capacity++) {
			c = armed_chan(sizes[s], capacity, 0);
			run(capacity);
			armed_chan_end(c);
		}
	runtime_end();
}

static void run_makes_room(size_t capacity)
{
	const long full = (long)capacity;
	struct crowd_call call[CROWD];
	long next = 0;

	while (next < full)
		must(put(next++) == 0);
	for (long i = 0; i < CROWD; i++)
		wait_in(&call[i], SEND, full + i);
	/* Full again at once: the sender that waited longest has sent. */
	for (long i = 0; i < CROWD; i++) {
		expect_recv(i);
		CU_ASSERT_EQUAL(weft_chan_length(c), capacity);
		join(call[i].id);
	}
	for (long i = 0; i < full; i++)
		expect_recv(CROWD + i);
}

static void the_receiver_that_makes_room_puts_in_what_waits(void)
{
	each(run_makes_room);
}

static void run_sends(size_t capacity)
{
	struct crowd_call call[CROWD];

	(void)capacity;
	for (long i = 0; i < CROWD; i++)
		wait_in(&call[i], RECV, -1);
	for (long i = 0; i < CROWD; i++) {
		must(put(10 + i) == 0);
		CU_ASSERT_EQUAL(weft_chan_length(c), 0);
		join(call[i].id);
		CU_ASSERT_EQUAL(call[i].number, 10 + i);
	}
}

static void a_send_gives_it_to_a_waiter(void)
{
	each(run_sends);
}

/* It has not looked at everything yet: it is told, and not served. */
static void run_shown(size_t capacity)
{
	struct armed a = { .t = NULL };
	struct crowd_call parked;
	struct message m = { .number = 99 };
	long i;

	armed_in(&a, c, RECV, &m);
	wait_in(&parked, RECV, -1);
	must(put(1) == 0);
	CU_ASSERT_EQUAL(armed_cause(&a), WEFTI_CAUSE_WOKEN);
	CU_ASSERT_EQUAL(a.alts.chosen, 0);
	CU_ASSERT_EQUAL(m.number, 99);
	join(parked.id);
	CU_ASSERT_EQUAL(parked.number, 1);
	armed_end(&a);

	for (i = 0; i < (long)capacity; i++)
		must(put(i) == 0);
	armed_in(&a, c, SEND, &m);
	wait_in(&parked, SEND, 5);
	expect_recv(0);
	CU_ASSERT_EQUAL(armed_cause(&a), WEFTI_CAUSE_WOKEN);
	join(parked.id);
	CU_ASSERT_EQUAL(weft_chan_length(c), capacity);
	for (i = 1; i < (long)capacity; i++)
		expect_recv(i);
	expect_recv(5);
	armed_end(&a);
	wefti_thread_bare_free(a.t);
}

static void a_waiter_that_may_be_looking_is_told_and_not_served(void)
{
	each(run_shown);
}

/* A receiver waits although it is full, a sender although it is empty. */
static void run_left_undone(size_t capacity)
{
	const long full = (long)capacity;
	struct crowd_call waiter;

	for (int how = 0; how < 3; how++) {
		struct wefti_thread *self;
		long i;

		wait_in(&waiter, RECV, -1);
		for (i = 0; i < full; i++)
			push_alone(i);
		self = wefti_enter();
		if (how == 0)
			must(put(full) == 0);
		else if (how == 1)
			must(wefti_buffered_may_go_on(c, SEND, self) == 1);
		else
			must(wefti_buffered_serve_outside(c, RECV) == 0);
		wefti_leave(self);
		join(waiter.id);
		CU_ASSERT_EQUAL(waiter.number, 0);
		CU_ASSERT_EQUAL(weft_chan_length(c), how == 0 ? capacity :
							      capacity - 1);
		for (i = 1; i < full; i++)
			expect_recv(i);
		if (how == 0)
			expect_recv(full);

		for (i = 0; i < full; i++)
			must(put(i) == 0);
		wait_in(&waiter, SEND, 9);
		for (i = 0; i < full; i++)
			pop_alone(i);
		self = wefti_enter();
		if (how == 1)
			must(wefti_buffered_may_go_on(c, RECV, self) == 1);
		else if (how == 2)
			must(wefti_buffered_serve_outside(c, SEND) == 0);
		wefti_leave(self);
		CU_ASSERT_EQUAL(weft_chan_length(c), how != 0);
		expect_recv(9);
		join(waiter.id);
	}
}

static void what_was_left_undone_the_next_one_does(void)
{
	each(run_left_undone);
}

/* For nothing: there is no message, or no room. */
static void run_claimed(size_t capacity)
{
	struct crowd_call waiter;

	wait_in(&waiter, RECV, -1);
	for (int i = 0; i < 3; i++) {
		must(wefti_buffered_serve_outside(c, RECV) == 0);
		crowd_await_in(waiter.id, c);
	}
	must(put(4) == 0);
	join(waiter.id);
	CU_ASSERT_EQUAL(waiter.number, 4);

	for (long i = 0; i < (long)capacity; i++)
		must(put(i) == 0);
	wait_in(&waiter, SEND, 7);
	for (int i = 0; i < 3; i++) {
		must(wefti_buffered_serve_outside(c, SEND) == 0);
		crowd_await_in(waiter.id, c);
	}
	CU_ASSERT_EQUAL(weft_chan_length(c), capacity);
	for (long i = 0; i < (long)capacity; i++)
		expect_recv(i);
	join(waiter.id);
	expect_recv(7);
}

static void a_waiter_that_is_claimed_for_nothing_waits_on(void)
{
	each(run_claimed);
}

/* Where nobody can help: also not one's own other alternative. */
static void run_alone(size_t capacity)
{
	struct armed a = { .t = NULL };
	struct message m = { .number = 1 };

	armed_in(&a, c, SEND, &m);
	armed_add(&a, c, RECV, &m);
	CU_ASSERT_EQUAL(wefti_buffered_may_go_on(c, RECV, a.t), 0);
	CU_ASSERT_EQUAL(wefti_buffered_may_go_on(c, SEND, a.t), 1);
	for (long i = 0; i < (long)capacity; i++)
		push_alone(i);
	CU_ASSERT_EQUAL(wefti_buffered_may_go_on(c, SEND, a.t), 0);
	CU_ASSERT_EQUAL(wefti_buffered_may_go_on(c, RECV, a.t), 1);
	CU_ASSERT_TRUE(armed_waits(&a));
	armed_end(&a);
	wefti_thread_bare_free(a.t);
}

static void nobody_serves_himself(void)
{
	each(run_alone);
}

/* By one that has not woken anybody yet. */
static void run_closed(size_t capacity)
{
	struct armed a[4] = { { .t = NULL } };
	struct message m = { .number = 3 };

	(void)capacity;
	must(put(1) == 0);
	must(wefti_buffer_close(&c->buffer) == 0);
	for (unsigned op = SEND; op <= RECV; op++) {
		for (int i = 0; i < 4; i++)
			armed_in(&a[i], c, i % 2 ? SEND : RECV, &m);
		if (op == RECV)
			expect_recv(1);
		must((op == SEND ? put(2) : weft_chan_recv(c, &m,
				WEFT_NO_WAIT)) == -EPIPE);
		CU_ASSERT_EQUAL(m.number, 3);
		for (int i = 0; i < 4; i++) {
			CU_ASSERT_EQUAL(armed_cause(&a[i]), WEFTI_CAUSE_WOKEN);
			armed_end(&a[i]);
		}
	}
	for (int i = 0; i < 4; i++)
		wefti_thread_bare_free(a[i].t);
}

static void a_call_that_finds_it_closed_wakes_both_sides(void)
{
	each(run_closed);
}

static void what_is_not_sent_leaves_no_cell_behind(void)
{
	struct wefti_dense *cells = &wefti_cells[WEFTI_CELL_256].table;
	uint32_t before;

	runtime_begin();
	c = armed_chan(sizeof(struct message), 1, 0);
	must(put(1) == 0);
	must(put(2) == -EAGAIN);
	before = wefti_dense_limit(cells);
	for (long i = 0; i < 2000; i++)
		must(put(i) == -EAGAIN);
	must(weft_chan_close(c) == 0);
	for (long i = 0; i < 2000; i++)
		must(put(i) == -EPIPE);
	/* Each VCPU that the caller has been on may have made a batch. */
	CU_ASSERT_TRUE(wefti_dense_limit(cells) <=
		       before + 9 * WEFTI_STOCK_BATCH);
	expect_recv(1);
	armed_chan_end(c);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(the_receiver_that_makes_room_puts_in_what_waits),
	TEST(a_send_gives_it_to_a_waiter),
	TEST(a_waiter_that_may_be_looking_is_told_and_not_served),
	TEST(what_was_left_undone_the_next_one_does),
	TEST(a_waiter_that_is_claimed_for_nothing_waits_on),
	TEST(nobody_serves_himself),
	TEST(a_call_that_finds_it_closed_wakes_both_sides),
	TEST(what_is_not_sent_leaves_no_cell_behind),
};

TEST_MAIN("chan/buffered", cases)
