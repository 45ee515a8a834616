/* SPDX-License-Identifier: MIT */
/*
 * test_net.c - messages through random nets: none is lost, none comes twice
 *
 * A round is a net of channels of random kinds, one-to-one among them, and
 * threads that send and receive on random ones: to wait, once, until a deadline,
 * and in alts on both sides. Some are cancelled, and channels are closed in the
 * middle. Each message has a number; its sender notes whether it was sent, and
 * whoever receives it that it was, and that it has come whole.
 */
#include <string.h>

#include "chan/chan.h"
#include "lockfree/atomic.h"
#include "threads.h"

#define CHANS		6
#define PEOPLE		12
#define OF_ONE		400	/* messages of one thread in a round */
#define WORDS_MOST	375	/* of a message */
#define ALTS		5

/*
 * In all; `make check` runs the test three times, on 1, 2 and 8 VCPUs: together
 * more than 100,000. 10 million at a scale of 300.
 */
#define MESSAGES	34000

enum { NOT_SENT, SENT };

/* A message's first word is its number, and the others depend on it. */
struct message {
	long word[WORDS_MOST];
};

struct place {
	struct weft_chan *chan;
	size_t words;		/* of its messages */
	/* One-to-one: the two ends. NULL: anybody. */
	struct person *sender, *receiver;
};

struct person {
	struct net *net;
	uint64_t random;
	uint64_t id;
	long number, next;
	uint8_t sent[OF_ONE];		/* by itself */
	struct message out, in[ALTS];
};

struct net {
	struct place place[CHANS];
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

static long word_of(long message, size_t at)
{
	return message + (long)at * 1000003;
}

#define NOTHING	(-1L)

static void clear(struct message *m)
{
	memset(m, 0xff, sizeof(*m));
}

/* What came through the place, and that nothing was written behind it. */
static long look_at(const struct message *m, const struct place *place)
{
	long message = m->word[0];
	size_t words = message == NOTHING ? 0 : place->words;

	for (size_t i = 0; i < WORDS_MOST; i++)
		must(m->word[i] == (i < words ? word_of(message, i) :
						NOTHING));
	return message;
}

/* One through which the person may send, or receive; the last is for all. */
static struct place *any_place(struct person *p, unsigned op)
{
	for (;;) {
		struct place *place = &p->net->place[
			test_random_below(&p->random, CHANS)];
		struct person *whose = op == WEFT_ALT_SEND ? place->sender :
							     place->receiver;

		if (!whose || whose == p)
			return place;
	}
}

/* The next message, to be sent by anything. */
static void *write_next(struct person *p)
{
	for (size_t i = 0; i < WORDS_MOST; i++)
		p->out.word[i] = word_of(p->number * OF_ONE + p->next, i);
	return &p->out;
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
	return note_sent(p, weft_chan_send(any_place(p, WEFT_ALT_SEND)->chan,
					   write_next(p), any_deadline(p)));
}

static int one_receive(struct person *p)
{
	struct place *place = any_place(p, WEFT_ALT_RECV);
	long message;
	int error;

	clear(p->in);
	error = weft_chan_recv(place->chan, p->in, any_deadline(p));
	message = look_at(p->in, place);
	must((message == NOTHING) == (error != 0));
	if (!error)
		note_received(p->net, message);
	return error;
}

/* Offers one message in several places, and takes from several. */
static int one_alt(struct person *p)
{
	size_t count = 1 + test_random_below(&p->random, ALTS);
	struct weft_alt a[ALTS] = { { .op = WEFT_ALT_NONE } };
	struct place *place[ALTS];
	void *out = write_next(p);
	int at, sends = 0;

	for (size_t i = 0; i < count; i++) {
		int is_send = test_random_below(&p->random, 2) != 0;

		clear(&p->in[i]);
		a[i].op = is_send ? WEFT_ALT_SEND : WEFT_ALT_RECV;
		place[i] = any_place(p, a[i].op);
		a[i].chan = place[i]->chan;
		a[i].elem = is_send ? out : &p->in[i];
		sends += is_send;
	}
	at = weft_alt(a, count, any_deadline(p));
	for (size_t i = 0; i < count; i++) {
		long message = look_at(&p->in[i], place[i]);

		must((message != NOTHING) ==
		     (at == (int)i && a[i].op == WEFT_ALT_RECV &&
		      a[i].error == 0));
		if (message != NOTHING)
			note_received(p->net, message);
	}
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

/* One in a word, one in a cell, one in memory of the heap (chan/cell.h). */
static const size_t sizes[] = { 1, 5, WORDS_MOST };

static void make_place(struct net *net, struct place *place, int is_owned,
		       uint64_t *random)
{
	if (is_owned) {
		size_t sender = test_random_below(random, PEOPLE);
		size_t others = 1 + test_random_below(random, PEOPLE - 1);

		place->sender = &net->person[sender];
		place->receiver = &net->person[(sender + others) % PEOPLE];
	}
	place->words = sizes[test_random_below(random, 3)];
	must(weft_chan_create(&place->chan, place->words * sizeof(long),
			      test_random_below(random, 4),
			      is_owned ? WEFT_CHAN_ONE_TO_ONE : 0) == 0);
}

static void make_net(struct net *net, uint64_t *random)
{
	for (int i = 0; i < CHANS; i++)
		make_place(net, &net->place[i], i < CHANS - 1 &&
			   test_random_below(random, 3) == 0, random);
	for (int i = 0; i < PEOPLE; i++) {
		struct person *p = &net->person[i];

		p->net = net;
		p->number = i;
		p->random = test_seed(test_random(random));
		p->id = spawn_with(i % 2 ? WEFT_LIGHT : 0, live, p);
	}
}

/* What nobody has received, by the caller. */
static void drain(struct net *net, struct place *place)
{
	struct message m;

	/* The receiver has ended; to the channel it still is the only one. */
	store_seq_cst(&place->chan->receiver, 0);
	clear(&m);
	while (weft_chan_recv(place->chan, &m, WEFT_NO_WAIT) == 0) {
		note_received(net, look_at(&m, place));
		clear(&m);
	}
	must(look_at(&m, place) == NOTHING);
}

/* Whether received and noted as sent is the same, message by message. */
static void count_up(struct net *net)
{
	for (int i = 0; i < CHANS; i++) {
		drain(net, &net->place[i]);
		must(weft_chan_destroy(net->place[i].chan) == 0);
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
		(void)weft_chan_close(net->place[i].chan);
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
