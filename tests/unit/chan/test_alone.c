/* SPDX-License-Identifier: MIT */
/*
 * test_alone.c - chan/alone: how the wait of a thread ends that is the only one of its side,
 * in words and in larger messages, at small and large buffers
 */
#include <errno.h>

#include "crowd.h"

#define LARGE	100	/* slots outside of the channel */

struct message {
	long number;
	char rest[92];
};

struct one {
	struct crowd_call call;
	int error;
};

static const size_t sizes[] = { 5, sizeof(long), sizeof(struct message) };
static const size_t capacities[] = { 1, 2, LARGE };

static struct weft_chan *c;

static void *send_call(void *arg)
{
	struct one *o = arg;
	struct message m = { .number = o->call.number };

	o->error = weft_chan_send(c, &m, WEFT_FOREVER);
	return NULL;
}

static void *recv_call(void *arg)
{
	struct one *o = arg;
	struct message m = { .number = 0 };

	o->error = weft_chan_recv(c, &m, WEFT_FOREVER);
	o->call.number = m.number;
	return NULL;
}

static void begin(struct one *o, void *(*run)(void *arg), long number)
{
	*o = (struct one){ .call = { .number = number }, .error = 1 };
	o->call.id = spawn(run, o);
	crowd_await_in(o->call.id, c);
}

static void put(long number)
{
	struct message m = { .number = number };

	must(weft_chan_send(c, &m, WEFT_NO_WAIT) == 0);
}

static void expect(long number)
{
	struct message m = { .number = 0 };

	must(weft_chan_recv(c, &m, WEFT_NO_WAIT) == 0);
	CU_ASSERT_EQUAL(m.number, number);
}

static void fill(size_t capacity)
{
	for (size_t i = 0; i < capacity; i++)
		put((long)i);
}

static void each(void (*run)(size_t capacity))
{
	runtime_begin();
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		for (size_t i = 0; i < sizeof(capacities) / sizeof(*capacities); i++) {
			must(weft_chan_create(&c, sizes[s], capacities[i], 0) == 0);
			run(capacities[i]);
			must(weft_chan_destroy(c) == 0);
		}
	runtime_end();
}

/* In the second round the place where a search begins has moved. */
static void run_receives(size_t capacity)
{
	struct one o;

	for (int round = 0; round < 2; round++) {
		begin(&o, recv_call, 0);
		put(7);
		CU_ASSERT_EQUAL(weft_chan_length(c), 0);
		join(o.call.id);
		CU_ASSERT_EQUAL(o.error, 0);
		CU_ASSERT_EQUAL(o.call.number, 7);
		fill(capacity);
		for (size_t i = 0; i < capacity; i++)
			expect((long)i);
	}
}

static void a_receiver_gets_what_is_sent_without_the_buffer(void)
{
	each(run_receives);
}

static void run_sends(size_t capacity)
{
	struct one o;

	fill(capacity);
	begin(&o, send_call, LARGE + 1);
	for (size_t i = 0; i < capacity; i++)
		expect((long)i);
	join(o.call.id);
	CU_ASSERT_EQUAL(o.error, 0);
	expect(LARGE + 1);
}

static void a_sender_sends_once_there_is_room(void)
{
	each(run_sends);
}

static void run_closed(size_t capacity)
{
	struct one o;

	(void)capacity;
	begin(&o, recv_call, 0);
	must(weft_chan_close(c) == 0);
	join(o.call.id);
	CU_ASSERT_EQUAL(o.error, -EPIPE);
}

static void a_close_ends_the_wait(void)
{
	each(run_closed);
}

static void run_cancelled(size_t capacity)
{
	struct one o;

	begin(&o, recv_call, 0);
	must(weft_cancel(o.call.id) == 0);
	join(o.call.id);
	CU_ASSERT_EQUAL(o.error, -ECANCELED);
	put(3);			/* no thread waits any more */
	expect(3);
	fill(capacity);
	begin(&o, send_call, 0);
	must(weft_cancel(o.call.id) == 0);
	join(o.call.id);
	CU_ASSERT_EQUAL(o.error, -ECANCELED);
	for (size_t i = 0; i < capacity; i++)
		expect((long)i);
	CU_ASSERT_EQUAL(weft_chan_length(c), 0);
}

static void a_cancellation_ends_the_wait(void)
{
	each(run_cancelled);
}

/* Asks itself to end. */
static void *ask_and_call(void *arg)
{
	struct one *o = arg;

	must(weft_cancel(weft_self()) == 0);
	o->call.number ? send_call(o) : recv_call(o);
	return NULL;
}

static void run_asked(size_t capacity)
{
	struct one o = { .error = 1 };

	o.call.id = spawn(ask_and_call, &o);
	join(o.call.id);
	CU_ASSERT_EQUAL(o.error, -ECANCELED);
	fill(capacity);
	o = (struct one){ .call = { .number = 1 }, .error = 1 };
	o.call.id = spawn(ask_and_call, &o);
	join(o.call.id);
	CU_ASSERT_EQUAL(o.error, -ECANCELED);
	for (size_t i = 0; i < capacity; i++)
		expect((long)i);
}

static void a_thread_that_was_asked_to_end_does_not_wait(void)
{
	each(run_asked);
}

static const struct test_case cases[] = {
	TEST(a_receiver_gets_what_is_sent_without_the_buffer),
	TEST(a_sender_sends_once_there_is_room),
	TEST(a_close_ends_the_wait),
	TEST(a_cancellation_ends_the_wait),
	TEST(a_thread_that_was_asked_to_end_does_not_wait),
};

TEST_MAIN("chan/alone", cases)
