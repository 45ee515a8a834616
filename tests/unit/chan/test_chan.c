/* SPDX-License-Identifier: MIT */
/* test_chan.c - send, receive, close and destroy, on each kind of channel */
#include "threads.h"

#include <pthread.h>
#include <string.h>

#include "crowd.h"

WEFT_CHAN_OF(longs, long);

static void arguments_are_checked(void)
{
	struct weft_chan *c;

	runtime_begin();
	must(weft_chan_create(&c, 8, 0, 2) == -EINVAL);
	must(weft_chan_create(&c, (size_t)1 << 40, 0, 0) == -EINVAL);
	must(weft_chan_create(&c, 8, (size_t)1 << 40, 0) == -EINVAL);
	must(weft_chan_create(&c, 3, 5, 0) == 0);
	must(weft_chan_elem_bytes(c) == 3 && weft_chan_capacity(c) == 5);
	must(weft_chan_destroy(c) == 0);
	runtime_end();
}

static void a_buffer_is_first_in_first_out_and_full(void)
{
	runtime_begin();
	for (unsigned flags = 0; flags < 2; flags++)
		for (long capacity = 1; capacity < 6; capacity++) {
			struct longs c;
			long got;

			must(longs_create(&c, (size_t)capacity, flags) == 0);
			for (long lap = 0; lap < 20; lap++) {
				must(longs_try_recv(c, &got) == -EAGAIN);
				for (long i = 0; i < capacity; i++)
					must(longs_try_send(c, i + lap) == 0);
				must(longs_try_send(c, 7) == -EAGAIN);
				must(weft_chan_length(c.chan) ==
				     (size_t)capacity);
				for (long i = 0; i < capacity; i++) {
					must(longs_try_recv(c, &got) == 0);
					must(got == i + lap);
				}
			}
			must(longs_destroy(c) == 0);
		}
	runtime_end();
}

static void messages_of_any_size_arrive(void)
{
	static const size_t sizes[] = {
		0, 1, 4, 8, 9, 56, 57, 248, 249, 2040, 2041, 100000,
	};
	static char out[100000], in[100000];

	runtime_begin();
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (unsigned flags = 0; flags < 2; flags++) {
			struct weft_chan *c;
			int is_same;

			must(weft_chan_create(&c, sizes[s], 2, flags) == 0);
			for (int i = 0; i < 5; i++) {
				memset(out, 'a' + i, sizes[s]);
				memset(in, 0, sizes[s]);
				must(weft_chan_send(c, out, WEFT_NO_WAIT) == 0);
				must(weft_chan_recv(c, in, WEFT_NO_WAIT) == 0);
				is_same = memcmp(in, out, sizes[s]) == 0;
				must(is_same);
			}
			/*
			 * Dropped with the channel, or by a receiver that does
			 * not want it.
			 */
			must(weft_chan_send(c, out, WEFT_NO_WAIT) == 0);
			must(weft_chan_send(c, out, WEFT_NO_WAIT) == 0);
			must(weft_chan_recv(c, NULL, WEFT_NO_WAIT) == 0);
			must(weft_chan_destroy(c) == 0);
		}
	runtime_end();
}

struct pair {
	struct longs there, back;
	long n;
};

static void *echo(void *arg)
{
	struct pair *p = arg;
	long x;

	for (long i = 0; i < p->n; i++) {
		must(longs_recv(p->there, &x) == 0);
		must(longs_send(p->back, x + 1) == 0);
	}
	return NULL;
}

static void play(size_t capacity, unsigned chan_flags, unsigned flags)
{
	struct pair p = { .n = (long)test_scaled(2000) };
	uint64_t id;
	long x;

	must(longs_create(&p.there, capacity, chan_flags) == 0);
	must(longs_create(&p.back, capacity, chan_flags) == 0);
	id = spawn_with(flags, echo, &p);
	for (long i = 0; i < p.n; i++) {
		must(longs_send(p.there, i) == 0);
		must(longs_recv(p.back, &x) == 0);
		must(x == i + 1);
	}
	join(id);
	must(longs_destroy(p.there) == 0);
	must(longs_destroy(p.back) == 0);
}

static void two_threads_talk(void)
{
	runtime_begin();
	for (unsigned flags = 0; flags < 2; flags++)
		for (size_t capacity = 0; capacity < 3; capacity++) {
			play(capacity, flags, 0);
			play(capacity, flags, WEFT_LIGHT);
		}
	runtime_end();
}

static void *send_number(void *arg)
{
	struct crowd_call *call = arg;

	return (void *)(intptr_t)longs_send(*(struct longs *)call->object,
					    call->number);
}

static void senders_that_wait_are_served_in_order(void)
{
	enum { SENDERS = 40 };	/* more than a segment of waiters holds */
	struct crowd_call call[SENDERS];
	struct longs c;
	long got;

	runtime_begin();
	for (size_t capacity = 0; capacity < 3; capacity++) {
		must(longs_create(&c, capacity, 0) == 0);
		for (int i = 0; i < SENDERS; i++) {
			call[i] = (struct crowd_call){ &c, i, 0 };
			call[i].id = spawn(send_number, &call[i]);
			if ((size_t)i >= capacity)
				crowd_await_in(call[i].id, c.chan);
			else
				while (weft_chan_length(c.chan) <= (size_t)i)
					rest();
		}
		must(longs_destroy(c) == -EBUSY);
		for (int i = 0; i < SENDERS; i++) {
			must(longs_recv(c, &got) == 0);
			must(got == i);
		}
		for (int i = 0; i < SENDERS; i++)
			must(join(call[i].id) == NULL);
		must(longs_destroy(c) == 0);
	}
	runtime_end();
}

static void *recv_any(void *arg)
{
	struct crowd_call *call = arg;

	return (void *)(intptr_t)longs_recv(*(struct longs *)call->object,
					    &call->number);
}

static void receivers_that_wait_are_served_in_order(void)
{
	enum { RECEIVERS = 40 };
	struct crowd_call call[RECEIVERS];
	struct longs c;

	runtime_begin();
	for (size_t capacity = 0; capacity < 3; capacity++) {
		must(longs_create(&c, capacity, 0) == 0);
		for (int i = 0; i < RECEIVERS; i++) {
			call[i] = (struct crowd_call){ &c, -1, 0 };
			call[i].id = spawn(recv_any, &call[i]);
			crowd_await_in(call[i].id, c.chan);
		}
		must(longs_destroy(c) == -EBUSY);
		for (int i = 0; i < RECEIVERS; i++)
			must(longs_send(c, i) == 0);
		for (int i = 0; i < RECEIVERS; i++) {
			must(join(call[i].id) == NULL);
			must(call[i].number == i);
		}
		must(longs_destroy(c) == 0);
	}
	runtime_end();
}

static void close_lets_receivers_drain_and_wakes_all(void)
{
	struct crowd_call sender, receiver;
	struct longs c;
	long got;

	runtime_begin();
	for (unsigned flags = 0; flags < 2; flags++)
		for (size_t capacity = 0; capacity < 3; capacity++) {
			must(longs_create(&c, capacity, flags) == 0);
			receiver = (struct crowd_call){ &c, -1, 0 };
			receiver.id = spawn(recv_any, &receiver);
			crowd_await_in(receiver.id, c.chan);
			must(longs_close(c) == 0);
			must((intptr_t)join(receiver.id) == -EPIPE);
			must(longs_close(c) == -EALREADY);
			must(longs_try_send(c, 1) == -EPIPE);
			must(longs_send(c, 1) == -EPIPE);
			must(weft_chan_is_closed(c.chan));
			must(longs_destroy(c) == 0);

			must(longs_create(&c, capacity, flags) == 0);
			for (size_t i = 0; i < capacity; i++)
				must(longs_send(c, (long)i) == 0);
			if (!flags || !capacity) {
				sender = (struct crowd_call){ &c, 9, 0 };
				sender.id = spawn(send_number, &sender);
				crowd_await_in(sender.id, c.chan);
				must(longs_close(c) == 0);
				must((intptr_t)join(sender.id) == -EPIPE);
			} else {
				must(longs_close(c) == 0);
			}
			for (size_t i = 0; i < capacity; i++) {
				must(longs_recv(c, &got) == 0);
				must(got == (long)i);
			}
			must(longs_recv(c, &got) == -EPIPE);
			must(longs_try_recv(c, &got) == -EPIPE);
			must(longs_destroy(c) == 0);
		}
	runtime_end();
}

static void time_outs_leave_nothing_behind(void)
{
	const size_t n = test_scaled(2000);
	struct longs c;
	long x = 5;

	runtime_begin();
	must(longs_create(&c, 0, 0) == 0);
	for (size_t i = 0; i < n; i++) {
		must(longs_send_until(c, &x, 1) == -ETIMEDOUT);
		must(longs_recv_until(c, &x, 1) == -ETIMEDOUT);
	}
	must(x == 5);
	must(longs_recv_until(c, &x, weft_clock() + 1000000) == -ETIMEDOUT);
	must(longs_destroy(c) == 0);
	runtime_end();
}

static void a_cancelled_thread_sends_nothing(void)
{
	struct crowd_call call;
	struct longs c;
	long got;

	runtime_begin();
	must(longs_create(&c, 0, 0) == 0);
	call = (struct crowd_call){ &c, 3, 0 };
	call.id = spawn(send_number, &call);
	crowd_await_in(call.id, c.chan);
	must(weft_cancel(call.id) == 0);
	must((intptr_t)join(call.id) == -ECANCELED);
	must(longs_try_recv(c, &got) == -EAGAIN);
	must(longs_destroy(c) == 0);
	runtime_end();
}

static void one_to_one_refuses_a_second(void)
{
	struct crowd_call call;
	struct longs c;
	long got;

	runtime_begin();
	for (size_t capacity = 0; capacity < 2; capacity++) {
		must(longs_create(&c, capacity, WEFT_CHAN_ONE_TO_ONE) == 0);
		must(longs_try_recv(c, &got) == -EAGAIN);
		must(longs_try_send(c, 1) == (capacity ? 0 : -EAGAIN));
		call = (struct crowd_call){ &c, 3, 0 };
		call.id = spawn(send_number, &call);
		must((intptr_t)join(call.id) == -EPERM);
		call.id = spawn(recv_any, &call);
		must((intptr_t)join(call.id) == -EPERM);
		must(longs_destroy(c) == 0);
	}
	runtime_end();
}

static void *send_twice(void *arg)
{
	struct crowd_call *call = arg;
	struct longs c = *(struct longs *)call->object;

	must(longs_send(c, call->number) == 0);
	must(longs_send(c, call->number) == 0);
	return NULL;
}

/* Else each call until the woken thread runs would look at its ticket. */
static void the_waker_of_a_one_to_one_side_takes_its_ticket_out(void)
{
	struct crowd_call call;
	struct longs c;
	long got;

	runtime_begin();
	must(longs_create(&c, 1, WEFT_CHAN_ONE_TO_ONE) == 0);
	call = (struct crowd_call){ &c, 3, 0 };
	call.id = spawn(recv_any, &call);
	crowd_await_in(call.id, c.chan);
	must(longs_send(c, 5) == 0);
	must(load_seq_cst(&c.chan->one.receiver_waits) == 0);
	must(join(call.id) == NULL && call.number == 5);
	must(longs_destroy(c) == 0);

	must(longs_create(&c, 1, WEFT_CHAN_ONE_TO_ONE) == 0);
	call.id = spawn(send_twice, &call);
	crowd_await_in(call.id, c.chan);
	must(longs_recv(c, &got) == 0 && got == 5);
	must(load_seq_cst(&c.chan->one.sender_waits) == 0);
	must(longs_recv(c, &got) == 0 && got == 5);
	must(join(call.id) == NULL);
	must(longs_destroy(c) == 0);
	runtime_end();
}

static void one_to_one_is_not_destroyed_under_who_waits(void)
{
	struct crowd_call call;
	struct longs c;
	long got;

	runtime_begin();
	for (size_t capacity = 0; capacity < 2; capacity++) {
		must(longs_create(&c, capacity, WEFT_CHAN_ONE_TO_ONE) == 0);
		call = (struct crowd_call){ &c, 3, 0 };
		call.id = spawn(recv_any, &call);
		crowd_await_in(call.id, c.chan);
		must(longs_destroy(c) == -EBUSY);
		must(longs_send(c, 5) == 0);
		must(join(call.id) == NULL && call.number == 5);
		must(longs_destroy(c) == 0);

		/* One of the messages that nobody has received waits. */
		must(longs_create(&c, capacity, WEFT_CHAN_ONE_TO_ONE) == 0);
		call.id = spawn(send_twice, &call);
		crowd_await_in(call.id, c.chan);
		must(longs_destroy(c) == -EBUSY);
		must(longs_recv(c, &got) == 0 && got == 5);
		must(longs_recv(c, &got) == 0 && got == 5);
		must(join(call.id) == NULL);
		must(longs_destroy(c) == 0);
	}
	runtime_end();
}

static void *foreign_echo(void *arg)
{
	return echo(arg);
}

static void foreign_threads_talk_too(void)
{
	pthread_t thread;
	long x;

	runtime_begin();
	for (size_t capacity = 0; capacity < 2; capacity++) {
		struct pair p = { .n = 200 };

		must(longs_create(&p.there, capacity, 0) == 0);
		must(longs_create(&p.back, capacity, 0) == 0);
		must(pthread_create(&thread, NULL, foreign_echo, &p) == 0);
		for (long i = 0; i < p.n; i++) {
			must(longs_send(p.there, i) == 0);
			must(longs_recv(p.back, &x) == 0);
			must(x == i + 1);
		}
		weft_block_begin();
		pthread_join(thread, NULL);
		weft_block_end();
		must(longs_destroy(p.there) == 0);
		must(longs_destroy(p.back) == 0);
	}
	runtime_end();
}

static void the_typed_face_finds_a_wrong_size(void)
{
	struct weft_chan *c;
	struct longs typed;

	runtime_begin();
	must(weft_chan_create(&c, 2, 1, 0) == 0);
	must(longs_of(&typed, c) == -EMSGSIZE);
	typed.chan = c;
	must(longs_try_send(typed, 1) == -EMSGSIZE);
	must(weft_chan_length(c) == 0);
	must(weft_chan_destroy(c) == 0);
	runtime_end();
}

static void *answer(void *arg)
{
	must(longs_send(*(struct longs *)arg, 42) == 0);
	return NULL;
}

static void the_receiver_of_the_last_message_may_destroy(void)
{
	const size_t n = test_scaled(2000);

	runtime_begin();
	for (size_t i = 0; i < n; i++) {
		struct longs c;
		uint64_t id;
		long x;

		must(longs_create(&c, i % 3, 0) == 0);
		id = spawn_with(i % 2 ? WEFT_LIGHT : 0, answer, &c);
		must(longs_recv(c, &x) == 0 && x == 42);
		must(longs_destroy(c) == 0);
		join(id);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(arguments_are_checked),
	TEST(a_buffer_is_first_in_first_out_and_full),
	TEST(messages_of_any_size_arrive),
	TEST(two_threads_talk),
	TEST(senders_that_wait_are_served_in_order),
	TEST(receivers_that_wait_are_served_in_order),
	TEST(close_lets_receivers_drain_and_wakes_all),
	TEST(time_outs_leave_nothing_behind),
	TEST(a_cancelled_thread_sends_nothing),
	TEST(one_to_one_refuses_a_second),
	TEST(the_waker_of_a_one_to_one_side_takes_its_ticket_out),
	TEST(one_to_one_is_not_destroyed_under_who_waits),
	TEST(foreign_threads_talk_too),
	TEST(the_typed_face_finds_a_wrong_size),
	TEST(the_receiver_of_the_last_message_may_destroy),
};

TEST_MAIN("chan/chan", cases)
