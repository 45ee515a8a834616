/* SPDX-License-Identifier: MIT */
/*
 * test_history.c - chan: what threads of a running runtime saw is what two
 * queues under one lock do
 *
 * Green threads, a light one and a foreign one send, receive, try, wait with a
 * deadline, close, and wait for both channels at once. Each round has channels
 * of its own; of those declared one-to-one each side is one thread's. Every
 * message is another, so that a rendezvous, which is one step of two calls, can be
 * made one call of the history: that of both at once. Messages are a word, or
 * long ones that are looked at to their last byte. The control is a channel that
 * looks first and takes later.
 */
#include "../sync/crowd.h"
#include "history.h"
#include "two_queues.h"

#define CREW		5		/* of crowd.h: 1 light, 3 foreign */
#define CALLS		6
#define WINDOW		(2 * CREW * CALLS)	/* a failed alt is two calls */
#define WORDS_MOST	375		/* of a message */

_Static_assert(WINDOW <= HISTORY_MAX, "the checker takes it");

/*
 * What is looked at: ours, or the control. until returns the alternative that
 * took effect with its error in alt, or -EAGAIN or -ETIMEDOUT.
 */
struct subject {
	int (*until)(struct weft_alt *alt, size_t count, int64_t deadline);
	int (*close)(struct weft_chan *c);
};

static struct weft_chan *chan[CHANS];

/* One in a word, one in a cell, one in memory of the heap (chan/cell.h). */
static const size_t sizes[] = { 1, 5, WORDS_MOST };
#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

/* A message begins with what it is, and each word depends on that. */
static uint64_t word_of(uint64_t message, size_t at)
{
	return message + at * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(uint64_t *word, size_t words, uint64_t message)
{
	for (size_t i = 0; i < words; i++)
		word[i] = word_of(message, i);
}

/* 1: a whole message, 0: nothing. */
static int arrived(const uint64_t *word, size_t words)
{
	for (size_t i = 0; i < words; i++)
		must(word[i] == (word[0] ? word_of(word[0], i) : 0));
	return word[0] != 0;
}

/* An alternative alone is sent or received, as most programs do. */
static int ours_until(struct weft_alt *alt, size_t count, int64_t deadline)
{
	if (count > 1)
		return weft_alt(alt, count, deadline);
	alt->error = alt->op == WEFT_ALT_SEND ?
		     weft_chan_send(alt->chan, alt->elem, deadline) :
		     weft_chan_recv(alt->chan, alt->elem, deadline);
	return alt->error == -EAGAIN || alt->error == -ETIMEDOUT ?
	       alt->error : 0;
}

static const struct subject ours = { ours_until, weft_chan_close };

/* The control. Between its look and its taking, others run. */
static struct {
	_Atomic unsigned head, tail, closed;
	_Atomic uint64_t message[CREW * CALLS + 1];
} careless[CHANS];

static int careless_try(struct weft_alt *a)
{
	size_t c = a->chan == chan[1];
	unsigned head = load_seq_cst(&careless[c].head);
	unsigned tail = load_seq_cst(&careless[c].tail);

	a->error = 0;
	if (a->op == WEFT_ALT_SEND) {
		if (load_seq_cst(&careless[c].closed))
			a->error = -EPIPE;
		else if (tail - head >= CAPACITY)
			return -EAGAIN;
		else if (fetch_add_seq_cst(&careless[c].tail, 1u) == tail)
			store_seq_cst(&careless[c].message[tail],
				      *(uint64_t *)a->elem);
	} else if (head != tail) {
		*(uint64_t *)a->elem =
			load_seq_cst(&careless[c].message[head]);
		rest();
		store_seq_cst(&careless[c].head, head + 1);
	} else if (!load_seq_cst(&careless[c].closed)) {
		return -EAGAIN;
	} else {
		a->error = -EPIPE;
	}
	return 0;
}

static int careless_until(struct weft_alt *alt, size_t count, int64_t deadline)
{
	for (;;) {
		for (size_t i = 0; i < count; i++)
			if (careless_try(&alt[i]) == 0)
				return (int)i;
		if (deadline == WEFT_NO_WAIT)
			return -EAGAIN;
		if (weft_clock() >= deadline)
			return -ETIMEDOUT;
		rest();
	}
}

static int careless_close(struct weft_chan *c)
{
	return xchg_seq_cst(&careless[c == chan[1]].closed, 1u) ?
	       -EALREADY : 0;
}

static const struct subject careless_ones = { careless_until, careless_close };

/* What is to be shown of which channels, and then of a round. */
static struct {
	const struct subject *subject;
	struct weft_barrier barrier;
	_Atomic unsigned arrived;
	uint32_t capacity;
	unsigned flags;
	size_t rounds, broken;
	size_t plays;		/* each has other players */
	size_t round, words;
	struct {
		uint64_t out[WORDS_MOST], in[WORDS_MOST];
	} message[CREW];
	struct history_recorder rec[CREW];
	struct history_op op[CREW][2 * CALLS];
} crew;

/*
 * For one-to-one channels: does this side belong to me? In some rounds the same
 * two threads have both channels, so each of them can wait for the other in
 * both directions.
 */
static int is_mine(unsigned me, int c, unsigned op)
{
	size_t who = op == WEFT_ALT_RECV;

	if (!(crew.flags & WEFT_CHAN_ONE_TO_ONE))
		return 1;
	if (c)
		who = crew.round / CREW % 2 ? who + 2 : !who;
	return me == (who + crew.round) % CREW;
}

static size_t channel_of(const struct weft_alt *a)
{
	return a->chan == chan[1];
}

static int kind_of(const struct weft_alt *a)
{
	return KIND(a->op == WEFT_ALT_SEND ? OP_SEND : OP_RECV,
		    (int)channel_of(a));
}

/* Nothing was done, and each of them could not be at some moment. */
static void record_failure(struct history_recorder *rec, size_t i,
			   const struct weft_alt *alt, size_t count, int error)
{
	struct history_op failed;

	history_return(rec, i, (uint64_t)(int64_t)error);
	failed = rec->op[i];
	rec->count = i;
	for (size_t k = 0; k < count; k++) {
		rec->op[rec->count] = failed;
		rec->op[rec->count++].kind = kind_of(&alt[k]) + OP_TRIED_SEND;
	}
}

static void call_alt(unsigned me, struct weft_alt *alt, size_t count,
		     int64_t deadline)
{
	struct history_recorder *rec = &crew.rec[me];
	size_t i = history_call(rec, 0, 0);
	int at = crew.subject->until(alt, count, deadline);
	int took = at >= 0 && !alt[at].error && alt[at].op == WEFT_ALT_RECV;

	/* The control may hand over what nobody has sent. */
	must(arrived(crew.message[me].in, crew.words) == took ||
	     crew.subject != &ours);
	if (at < 0) {
		must(at == (deadline == WEFT_NO_WAIT ? -EAGAIN : -ETIMEDOUT));
		record_failure(rec, i, alt, count, at);
		return;
	}
	rec->op[i].kind = kind_of(&alt[at]);
	if (!alt[at].error)
		rec->op[i].arg = *(uint64_t *)alt[at].elem;
	history_return(rec, i, (uint64_t)(int64_t)alt[at].error);
}

static void call_close(unsigned me, int c)
{
	size_t i = history_call(&crew.rec[me], KIND(OP_CLOSE, c), 0);
	int error = crew.subject->close(chan[c]);

	history_return(&crew.rec[me], i, (uint64_t)(int64_t)error);
}

/* What the thread may do: one of the two things, or both. */
static size_t choose(unsigned me, struct weft_alt a[2], uint64_t *seed)
{
	int c = (int)test_random_below(seed, CHANS);
	size_t count = 0;

	if (is_mine(me, c, WEFT_ALT_SEND))
		a[count++] = (struct weft_alt){
			.op = WEFT_ALT_SEND, .chan = chan[c],
			.elem = crew.message[me].out,
		};
	if (is_mine(me, !c, WEFT_ALT_RECV))
		a[count++] = (struct weft_alt){
			.op = WEFT_ALT_RECV, .chan = chan[!c],
			.elem = crew.message[me].in,
		};
	if (count < 2 || test_random_below(seed, 3) == 0)
		return count;
	if (test_random_below(seed, 2))
		a[0] = a[1];
	return 1;
}

static void play_round(unsigned me, uint64_t *seed)
{
	uint64_t *out = crew.message[me].out, *in = crew.message[me].in;

	for (unsigned call = 0; call < CALLS; call++) {
		struct weft_alt a[2];
		size_t count = choose(me, a, seed);

		if (test_random_below(seed, 40) == 0) {
			call_close(me, (int)test_random_below(seed, CHANS));
			continue;
		}
		if (!count)
			continue;
		fill(out, crew.words, me * CALLS + call + 1);
		memset(in, 0, crew.words * sizeof(*in));
		call_alt(me, a, count, test_random_below(seed, 3) ?
			 soon(seed) : WEFT_NO_WAIT);
		dither(seed);
	}
}

/*
 * Capacity 0: the send and the receive of a message become one call, which lies
 * where both do. Returns how many calls are left; 0: two that do not overlap, or
 * a message without a receiver.
 */
static size_t pair(struct history_op *op, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		if (op[i].kind % 8 != OP_SEND || op[i].result)
			continue;
		while (k < count && (op[k].kind != op[i].kind + OP_RECV ||
				     op[k].result || op[k].arg != op[i].arg))
			k++;
		if (k == count)
			return 0;
		op[i].kind += OP_MEET;
		if (op[k].called > op[i].called)
			op[i].called = op[k].called;
		if (op[k].returned < op[i].returned)
			op[i].returned = op[k].returned;
		if (op[i].called > op[i].returned)
			return 0;
		op[k].kind = -1;
	}
	for (size_t i = 0; i < count; i++)
		if (op[i].kind >= 0)
			op[kept++] = op[i];
	return kept;
}

static int is_broken(uint32_t capacity, struct history_op *op, size_t count)
{
	if (capacity == 0 && count) {
		count = pair(op, count);
		if (!count)
			return 1;
	}
	return history_check(&model, &capacity, op, count) !=
	       HISTORY_LINEARIZABLE;
}

static void judge(void)
{
	struct history_op all[WINDOW];
	size_t count = history_merge(all, WINDOW, crew.rec, CREW);

	if (!is_broken(crew.capacity, all, count))
		return;
	count = history_merge(all, WINDOW, crew.rec, CREW);
	if (crew.broken++ == 0 && crew.subject == &ours)
		history_print(&model, all, count);
}

static void renew(size_t round)
{
	crew.round = round;
	crew.words = crew.subject == &ours ? sizes[round % SIZES] : 1;
	for (int i = 0; i < CHANS; i++) {
		if (chan[i])
			must(weft_chan_destroy(chan[i]) == 0);
		must(weft_chan_create(&chan[i], crew.words * sizeof(uint64_t),
				      crew.capacity, crew.flags) == 0);
	}
	memset(careless, 0, sizeof(careless));
	history_clock_reset();
}

/* Threads that can run at the same moment begin a round at the same moment. */
static void meet(size_t round)
{
	unsigned all = CREW * ((unsigned)round + 1);

	fetch_add_seq_cst(&crew.arrived, 1u);
	for (int spins = 0; spins < 300; spins++)
		if (load_seq_cst(&crew.arrived) >= all)
			return;
}

static void play(unsigned me, void *arg)
{
	uint64_t seed = test_seed(crew.plays * CREW + me);

	(void)arg;
	for (size_t round = 0; round < crew.rounds; round++) {
		/* Whoever judges the last round comes when that is done. */
		if (weft_barrier_wait(&crew.barrier) == WEFT_BARRIER_SERIAL)
			renew(round);
		history_recorder_init(&crew.rec[me], (int)me, crew.op[me],
				      2 * CALLS);
		weft_barrier_wait(&crew.barrier);
		meet(round);
		play_round(me, &seed);
		if (weft_barrier_wait(&crew.barrier) == WEFT_BARRIER_SERIAL)
			judge();
	}
}

/* Returns how many rounds were not what two queues do. */
static size_t broken_rounds(const struct subject *subject, uint32_t capacity,
			    unsigned flags, size_t rounds)
{
	crew.subject = subject;
	crew.capacity = capacity;
	crew.flags = flags;
	crew.rounds = rounds;
	crew.broken = 0;
	crew.plays++;
	store_seq_cst(&crew.arrived, 0);
	runtime_begin();
	CU_ASSERT_EQUAL_FATAL(weft_barrier_init(&crew.barrier, CREW), 0);
	crowd_run(CREW, play, NULL);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&crew.barrier), 0);
	for (int i = 0; i < CHANS; i++) {
		CU_ASSERT_EQUAL(weft_chan_destroy(chan[i]), 0);
		chan[i] = NULL;
	}
	runtime_end();
	return crew.broken;
}

static void histories_of_buffered_channels_linearize(void)
{
	CU_ASSERT_EQUAL(broken_rounds(&ours, 1, 0, test_scaled(200)), 0);
	CU_ASSERT_EQUAL(broken_rounds(&ours, 2, 0, test_scaled(200)), 0);
}

static void histories_of_rendezvous_linearize(void)
{
	CU_ASSERT_EQUAL(broken_rounds(&ours, 0, 0, test_scaled(400)), 0);
}

static void histories_of_one_to_one_channels_linearize(void)
{
	for (uint32_t capacity = 0; capacity <= CAPACITY; capacity++)
		CU_ASSERT_EQUAL(broken_rounds(&ours, capacity,
					      WEFT_CHAN_ONE_TO_ONE,
					      test_scaled(150)), 0);
}

static void histories_of_careless_channels_are_refused(void)
{
	/* Until one is: a checker that refuses none is ended by the watchdog. */
	while (broken_rounds(&careless_ones, CAPACITY, 0, 20) == 0)
		;
}

/* Hand-made: { called, returned, arg, result, more, kind, caller }. */
#define R(error)	((uint64_t)(int64_t)(error))
#define BROKEN(capacity, ...)						\
	is_broken(capacity, (struct history_op[]){ __VA_ARGS__ },	\
		  sizeof((struct history_op[]){ __VA_ARGS__ }) /	\
		  sizeof(struct history_op))

static void checker_accepts_what_channels_do(void)
{
	CU_ASSERT_FALSE(BROKEN(1, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			       { 2, 7, 6, 0, NULL, OP_SEND, 0 },
			       { 3, 4, 0, R(-EAGAIN), NULL, OP_TRIED_SEND, 1 },
			       { 5, 6, 5, 0, NULL, OP_RECV, 1 },
			       { 8, 9, 0, 0, NULL, OP_CLOSE, 1 },
			       { 10, 11, 6, 0, NULL, OP_RECV, 1 },
			       { 12, 13, 0, R(-EPIPE), NULL, OP_RECV, 1 }));
	CU_ASSERT_FALSE(BROKEN(0, { 0, 3, 5, 0, NULL, OP_SEND, 0 },
			       { 1, 4, 5, 0, NULL, OP_RECV, 1 },
			       { 2, 5, 0, 0, NULL, OP_CLOSE, 2 },
			       { 6, 7, 0, R(-EPIPE), NULL, OP_SEND, 1 }));
}

static void checker_rejects_what_no_channel_does(void)
{
	/* One message twice, in the wrong order, or from nobody. */
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			      { 2, 3, 5, 0, NULL, OP_RECV, 1 },
			      { 2, 4, 5, 0, NULL, OP_RECV, 2 }));
	CU_ASSERT_TRUE(BROKEN(2, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			      { 2, 3, 6, 0, NULL, OP_SEND, 0 },
			      { 4, 5, 6, 0, NULL, OP_RECV, 1 }));
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 5, 0, NULL, OP_RECV, 0 }));
	/* The other channel's. */
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			      { 2, 3, 5, 0, NULL, KIND(OP_RECV, 1), 1 }));
	/* No room though there is, and nothing there though something is. */
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 0, R(-EAGAIN), NULL, OP_TRIED_SEND, 0 }));
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			      { 2, 3, 0, R(-EAGAIN), NULL, OP_TRIED_RECV, 0 }));
	/* The end before the end, and a send behind it. */
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			      { 2, 3, 0, 0, NULL, OP_CLOSE, 0 },
			      { 4, 5, 0, R(-EPIPE), NULL, OP_RECV, 0 }));
	CU_ASSERT_TRUE(BROKEN(1, { 0, 1, 0, 0, NULL, OP_CLOSE, 0 },
			      { 2, 3, 5, 0, NULL, OP_SEND, 0 }));
	/* Two that met, but not at one time. */
	CU_ASSERT_TRUE(BROKEN(0, { 0, 1, 5, 0, NULL, OP_SEND, 0 },
			      { 2, 3, 5, 0, NULL, OP_RECV, 1 }));
	CU_ASSERT_TRUE(BROKEN(0, { 0, 1, 5, 0, NULL, OP_SEND, 0 }));
}

static const struct test_case cases[] = {
	TEST(checker_accepts_what_channels_do),
	TEST(checker_rejects_what_no_channel_does),
	TEST(histories_of_careless_channels_are_refused),
	TEST(histories_of_buffered_channels_linearize),
	TEST(histories_of_rendezvous_linearize),
	TEST(histories_of_one_to_one_channels_linearize),
};

TEST_MAIN("chan/history", cases)
