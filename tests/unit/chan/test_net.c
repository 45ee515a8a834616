/* SPDX-License-Identifier: MIT */
/*
 * test_net.c - messages through random nets: none is lost, none comes twice
 *
 * A round is a net of channels of random kinds, and threads that send and
 * receive on random ones of them: to wait, once, until a deadline, and in alts
 * on both sides. Some are cancelled, and channels are closed in the middle.
 * Each message has a number; its sender notes whether it was sent, and whoever
 * receives it that it was.
 */
#include "threads.h"

#include "lockfree/atomic.h"

#define CHANS		6
#define PEOPLE		12
#define OF_ONE		400	/* messages of one thread in a round */
#define MESSAGES	34000	/* in all; 10 million at a scale of 300 */

enum { NOT_SENT, SENT };

struct person {
	struct net *net;
	uint64_t random;
	uint64_t id;
	long number, next;
	uint8_t sent[OF_ONE];		/* by itself */
};

struct net {
	struct weft_chan *chan[CHANS];
	struct person person[PEOPLE];
	_Atomic uint8_t got[PEOPLE * OF_ONE];
	_Atomic long received;
};

static void note_received(struct net *net, long message)
{
	must(message >= 0 && message < PEOPLE * OF_ONE);
	must(fetch_add_seq_cst(&net->got[message], 1) == 0);
	fetch_add_seq_cst(&net->received, 1);
}

static struct weft_chan *any_chan(struct person *p)
{
	return p->net->chan[test_random_below(&p->random, CHANS)];
}

static int64_t any_deadline(struct person *p)
{
	switch (test_random_below(&p->random, 4)) {
	case 0:
		return WEFT_NO_WAIT;
	case 1:
		return weft_clock() +
		       (int64_t)test_random_below(&p->random, 20000);
	default:
		return weft_clock() + 1000000;
	}
}

/* 1: sent. The message's number is used up, sent or not. */
static int note_sent(struct person *p, int error)
{
	p->sent[p->next++] = error == 0 ? SENT : NOT_SENT;
	return error;
}

static int one_send(struct person *p)
{
	long message = p->number * OF_ONE + p->next;

	return note_sent(p, weft_chan_send(any_chan(p), &message,
					   any_deadline(p)));
}

static int one_receive(struct person *p)
{
	long message = -1;
	int error = weft_chan_recv(any_chan(p), &message, any_deadline(p));

	if (error)
		must(message == -1);
	else
		note_received(p->net, message);
	return error;
}

#define ALTS	5

/* Offers one message in several places, and takes from several. */
static int one_alt(struct person *p)
{
	long out = p->number * OF_ONE + p->next, in[ALTS];
	size_t count = 1 + test_random_below(&p->random, ALTS);
	struct weft_alt a[ALTS] = { { .op = WEFT_ALT_NONE } };
	int at, sends = 0;

	for (size_t i = 0; i < count; i++) {
		int is_send = test_random_below(&p->random, 2) != 0;

		in[i] = -1;
		a[i].op = is_send ? WEFT_ALT_SEND : WEFT_ALT_RECV;
		a[i].chan = any_chan(p);
		a[i].elem = is_send ? &out : &in[i];
		sends += is_send;
	}
	at = weft_alt(a, count, any_deadline(p));
	for (size_t i = 0; i < count; i++)
		must(in[i] == -1 || (at == (int)i && a[i].error == 0));
	if (at >= 0 && a[at].op == WEFT_ALT_RECV && a[at].error == 0)
		note_received(p->net, in[at]);
	if (sends)
		note_sent(p, at >= 0 && a[at].op == WEFT_ALT_SEND ?
			  a[at].error : -EAGAIN);
	return at < 0 ? at : a[at].error;
}

static void *live(void *arg)
{
	struct person *p = arg;

	while (p->next < OF_ONE) {
		int error;

		switch (test_random_below(&p->random, 3)) {
		case 0:
			error = one_send(p);
			break;
		case 1:
			error = one_receive(p);
			break;
		default:
			error = one_alt(p);
		}
		if (error == -ECANCELED)
			break;
		must(error == 0 || error == -EAGAIN || error == -EPIPE ||
		     error == -ETIMEDOUT);
		/* Where all is closed, messages are used up by failing. */
	}
	return NULL;
}

static void make_net(struct net *net, uint64_t *random)
{
	for (int i = 0; i < CHANS; i++)
		must(weft_chan_create(&net->chan[i], sizeof(long),
				      test_random_below(random, 4), 0) == 0);
	for (int i = 0; i < PEOPLE; i++) {
		struct person *p = &net->person[i];

		p->net = net;
		p->number = i;
		p->random = test_seed(test_random(random));
		p->id = spawn_with(i % 2 ? WEFT_LIGHT : 0, live, p);
	}
}

/* Whether received and noted as sent is the same, message by message. */
static void count_up(struct net *net)
{
	long message;

	for (int i = 0; i < CHANS; i++) {
		while (weft_chan_recv(net->chan[i], &message, WEFT_NO_WAIT) ==
		       0)
			note_received(net, message);
		must(weft_chan_destroy(net->chan[i]) == 0);
	}
	for (int i = 0; i < PEOPLE; i++)
		for (int n = 0; n < OF_ONE; n++)
			must(load_seq_cst(&net->got[i * OF_ONE + n]) ==
			     (net->person[i].sent[n] == SENT));
}

static long run_net(uint64_t *random)
{
	struct net *net = calloc(1, sizeof(*net));
	long received;

	must(net != NULL);
	make_net(net, random);
	/* In the middle, some go; at the end, channels are closed. */
	for (int i = 0; i < 3; i++) {
		(void)!weft_cancel(net->person[i * 4].id);
		(void)weft_sleep(100000);
		(void)weft_chan_close(net->chan[i]);
	}
	for (int i = 0; i < PEOPLE; i++)
		join(net->person[i].id);
	count_up(net);
	received = load_seq_cst(&net->received);
	free(net);
	return received;
}

static void no_message_is_lost_or_comes_twice(void)
{
	const long wanted = (long)test_scaled(MESSAGES);
	uint64_t random = test_seed(1);
	long received = 0, rounds = 0;

	runtime_begin();
	for (; received < wanted; rounds++)
		received += run_net(&random);
	printf("    %ld messages arrived in %ld nets\n", received, rounds);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(no_message_is_lost_or_comes_twice),
};

TEST_MAIN("chan/net", cases)
