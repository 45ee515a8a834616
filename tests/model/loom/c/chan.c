/* SPDX-License-Identifier: MIT */
/*
 * chan.c - scenarios: threads meet in channels, with and without a buffer
 *
 * In a scenario whose rendezvous is not certain, the last thread closes the
 * channels, so that nobody is left parked.
 */
#include "chan_scene.h"

static void sender_1(void)
{
	result[1] = send(1, 0);
}

static void receiver_2(void)
{
	result[2] = recv(2, 0);
}

static void check_one_rendezvous(void)
{
	m_check(result[1] == 0 && result[2] == 0);
	m_check(got[2] == 101);
	m_check((uint32_t)load_relaxed(&chan[0].senders.count) == 0);
	m_check((uint32_t)load_relaxed(&chan[0].receivers.count) == 0);
}

SCENARIO(chan_meet) = { init, { sender_1, receiver_2 }, check_one_rendezvous };

/* One that waits as an alt does meets one that waits alone. */
static void alt_sender_1(void)
{
	struct weft_alt a = {
		.op = WEFT_ALT_SEND, .chan = &chan[0], .elem = &message[1],
	};

	m_data_write(&message[1]);
	alt(1, &a, 1);
	m_data_write(&message[1]);
	result[1] = a.error;
}

static void alt_receiver_1(void)
{
	struct weft_alt a = {
		.op = WEFT_ALT_RECV, .chan = &chan[0], .elem = &got[1],
	};

	m_data_write(&got[1]);
	alt(1, &a, 1);
	m_data_write(&got[1]);
	result[1] = a.error;
}

static void sender_2(void)
{
	result[2] = send(2, 0);
}

static void check_rendezvous_of_2_and_1(void)
{
	m_check(result[1] == 0 && result[2] == 0);
	m_check(got[1] == 102);
}

SCENARIO(chan_meet_alt) = {
	init, { alt_sender_1, receiver_2 }, check_one_rendezvous,
};
SCENARIO(chan_alt_meets) = {
	init, { alt_receiver_1, sender_2 }, check_rendezvous_of_2_and_1,
};

/* Two want to wait alone, and one has to queue. */
static void receiver_1(void)
{
	result[1] = recv(1, 0);
}

static void sender_to_both(void)
{
	result[3] = send(3, 0);
	result[3] |= send(3, 0);
}

static void check_both_met(void)
{
	m_check(result[1] == 0 && result[2] == 0 && result[3] == 0);
	m_check(got[1] == 103 && got[2] == 103);
	m_check((uint32_t)load_relaxed(&chan[0].receivers.count) == 0);
}

SCENARIO(chan_meet_two) = {
	init, { receiver_1, receiver_2, sender_to_both }, check_both_met,
};

static void check_one_message(void)
{
	m_check(result[1] == 0 && result[2] == 0);
	m_check(got[2] == 101);
}

SCENARIO(chan_buffered) = {
	init_buffered, { sender_1, receiver_2 }, check_one_message,
};
/* The receiver comes first: it gets the message without the buffer, or from it. */
SCENARIO(chan_handed) = {
	init_buffered, { receiver_1, sender_2 }, check_rendezvous_of_2_and_1,
};
SCENARIO(chan_large) = { init_large, { sender_1, receiver_2 }, check_one_message };
SCENARIO(chan_large_handed) = {
	init_large, { receiver_1, sender_2 }, check_rendezvous_of_2_and_1,
};
SCENARIO(chan_buffered_alt) = {
	init_buffered, { alt_receiver_1, sender_2 }, check_rendezvous_of_2_and_1,
};
SCENARIO(chan_buffered_cells) = {
	init_cells_in_buffer, { sender_1, receiver_2 }, check_one_message,
};
SCENARIO(chan_one) = { init_one, { sender_1, receiver_2 }, check_one_message };

/* The second has to wait for room, the first may have to wait for it. */
static void sender_of_two(void)
{
	result[1] = send(1, 0);
	message[1]++;
	result[1] |= send(1, 0);
}

static void receiver_of_two(void)
{
	result[2] = recv(2, 0);
	m_check(got[2] == 101);
	result[2] |= recv(2, 0);
}

static void check_two_messages(void)
{
	m_check(result[1] == 0 && result[2] == 0);
	m_check(got[2] == 102);
}

SCENARIO(chan_buffered_two) = {
	init_buffered, { sender_of_two, receiver_of_two }, check_two_messages,
};
SCENARIO(chan_buffered_cells_two) = {
	init_cells_in_buffer, { sender_of_two, receiver_of_two },
	check_two_messages,
};
SCENARIO(chan_one_two) = {
	init_one, { sender_of_two, receiver_of_two }, check_two_messages,
};

/* There is no room, until a message is received. */
static void check_room_found(void)
{
	m_check(result[1] == 0 && result[2] == 0 && got[2] == 99);
}

SCENARIO(chan_buffered_full) = {
	init_full, { sender_1, receiver_2 }, check_room_found,
};

SCENARIO(chan_large_full) = {
	init_large_full, { sender_1, receiver_2 }, check_room_found,
};

/*
 * The message that was in goes to a thread that has stopped then: the receiver serves
 * the sender that waits for room.
 */
static void stopped_popper(void)
{
	uint64_t word;
	int more;

	(void)wefti_buffer_pop(&chan[0].buffer, &word, &more);
}

static void check_sent_and_received(void)
{
	m_check(result[1] == 0 && result[2] == 0);
	m_check(got[2] == 99 || got[2] == 101);
}

SCENARIO(chan_stopped_pop) = {
	init_full, { sender_1, receiver_2, stopped_popper },
	check_sent_and_received,
};

/* One of the senders may find the room that the other waits for. */
static void sender_3(void)
{
	result[3] = send(3, 0);
}

static void receiver_of_both(void)
{
	long first;

	result[2] = recv(2, 0);
	first = got[2];
	result[2] |= recv(2, 0);
	m_check(first + got[2] == 101 + 103);
}

static void check_both_sent(void)
{
	m_check(result[1] == 0 && result[2] == 0 && result[3] == 0);
}

SCENARIO(chan_buffered_both) = {
	init_buffered, { sender_1, receiver_of_both, sender_3 },
	check_both_sent,
};

/* The second thread: it enters as model_self(). */
static void closer(void)
{
	m_check(weft_chan_close(&chan[0]) == 0);
}

/* The thread that waited, or was about to wait, gets -EPIPE, on either side. */
static void check_close(void)
{
	m_check(result[1] + result[2] == -EPIPE);
	m_check(got[1] == 0 && got[2] == 0);
}

SCENARIO(chan_close) = { init, { receiver_1, closer }, check_close };
SCENARIO(chan_close_sender) = { init, { sender_1, closer }, check_close };
SCENARIO(chan_close_buffered) = {
	init_buffered, { receiver_1, closer }, check_close,
};
SCENARIO(chan_close_full) = { init_full, { sender_1, closer }, check_close };
SCENARIO(chan_close_one) = { init_one, { receiver_1, closer }, check_close };
SCENARIO(chan_close_one_full) = {
	init_one_full, { sender_1, closer }, check_close,
};

/*
 * What was done before the close is seen by a call that finds it closed. The fence of
 * the close, which is for threads that wait, is left out (loom.sh).
 */
static char before_close;

static void init_before_close(void)
{
	init();
	m_data_write(&before_close);
}

static void init_one_before_close(void)
{
	init_one();
	m_data_write(&before_close);
}

static void closer_of_what_was_done(void)
{
	m_data_write(&before_close);
	closer();
}

static void trying_sender_1(void)
{
	result[1] = wefti_chan_send(&chan[0], &message[1], &thread[1]);
	if (result[1] == -EPIPE)
		m_data_read(&before_close);
}

static void trying_receiver_2(void)
{
	result[2] = wefti_chan_recv(&chan[0], &got[2], &thread[2]);
	if (result[2] == -EPIPE)
		m_data_read(&before_close);
}

static void check_closed(void)
{
	m_check(wefti_chan_send(&chan[0], &message[1], &thread[1]) == -EPIPE);
}

SCENARIO(chan_close_order) = {
	init_before_close, { trying_sender_1, closer_of_what_was_done },
	check_closed,
};
SCENARIO(chan_close_order_one) = {
	init_one_before_close, { trying_sender_1, closer_of_what_was_done },
	check_closed,
};
SCENARIO(chan_close_order_one_receiver) = {
	init_one_before_close, { trying_receiver_2, closer_of_what_was_done },
	check_closed,
};

/* It waits for a message until its time is over. */
static void timed_receiver_1(void)
{
	struct weft_alt a = {
		.op = WEFT_ALT_RECV, .chan = &chan[0], .elem = &got[1],
	};
	int at;

	m_data_write(&got[1]);
	at = alt_until(1, &a, 1, 1);
	m_data_write(&got[1]);
	result[1] = at < 0 ? at : a.error;
	m_unblock(TIMER);	/* it comes too late, or had nothing to do */
}

static void trying_sender_2(void)
{
	m_data_write(&message[2]);
	result[2] = wefti_chan_send(&chan[0], &message[2], &thread[2]);
	m_data_write(&message[2]);
}

static void timer_3(void)
{
	m_block(TIMER);
	if (timed.thread)
		wefti_unpark(timed.thread, timed.seq, WEFTI_CAUSE_TIMEDOUT);
}

/* Both say the same of the message. */
static void check_timed(void)
{
	m_check(result[1] == (result[2] == 0 ? 0 : -ETIMEDOUT));
	m_check(result[2] == 0 || result[2] == -EAGAIN);
	m_check(got[1] == (result[1] == 0 ? 102 : 0));
}

SCENARIO(chan_timed) = {
	init, { timed_receiver_1, trying_sender_2, timer_3 }, check_timed,
};

/*
 * The channel is closed, and the closer has stopped there: the sender does the
 * rest.
 */
static void stopped_closer(void)
{
	if (chan[0].kind == WEFTI_CHAN_ONE)
		fetch_or_release(&chan[0].one.tail, WEFTI_ONE_CLOSED);
	else
		xchg_seq_cst(&chan[0].closed, 1);
}

static void check_found_closed(void)
{
	m_check(result[1] == 0 || result[1] == -EPIPE);
	m_check(result[2] == result[1]);
	m_check(got[2] == (result[1] == 0 ? 101 : 0));
}

SCENARIO(chan_found_closed) = {
	init, { sender_1, receiver_2, stopped_closer }, check_found_closed,
};
SCENARIO(chan_one_found_closed) = {
	init_one, { sender_1, receiver_2, stopped_closer }, check_found_closed,
};

/* Each offers both directions, in the opposite order: exactly one rendezvous. */
static void both_ways(uint32_t who, int out, int in)
{
	struct weft_alt a[] = {
		{ .op = WEFT_ALT_SEND, .chan = &chan[out],
		  .elem = &message[who] },
		{ .op = WEFT_ALT_RECV, .chan = &chan[in], .elem = &got[who] },
	};
	int at = alt(who, a, 2);

	m_check(a[at].error == 0);
	result[who] = at + 1;
}

static void both_ways_1(void)
{
	both_ways(1, 0, 1);
}

static void both_ways_2(void)
{
	both_ways(2, 1, 0);
}

static void check_two_sided(void)
{
	m_check(result[1] + result[2] == 3);
	m_check(got[1] == (result[1] == 2 ? 102 : 0));
	m_check(got[2] == (result[2] == 2 ? 101 : 0));
	for (int i = 0; i < 2; i++) {
		m_check((uint32_t)load_relaxed(&chan[i].senders.count) == 0);
		m_check((uint32_t)load_relaxed(&chan[i].receivers.count) == 0);
	}
}

SCENARIO(chan_two_sided) = {
	init, { both_ways_1, both_ways_2 }, check_two_sided,
};
