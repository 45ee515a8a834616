/* SPDX-License-Identifier: MIT */
/* test_kinds.c - alt/alt: a send, a receive, a time, a descriptor and a join in
 * one alt; one of them takes effect, and the others have not */
#include <poll.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "lockfree/atomic.h"

enum kind { SENDS, RECEIVES, IS_TIME, IS_READY, JOINS, KINDS };

#define OURS	77L	/* what the alt sends */
#define THEIRS	33L	/* what it receives */
#define FILLS	11L	/* what is in a buffer before, so that it is full */
#define NOTHING	(-1L)

struct scene {
	struct weft_chan *out, *in;
	int fd[2];
	uint64_t target;		/* ends after a post of the gate */
	struct weft_sem gate;
	/* The alt, each kind once, from `shift` on. */
	struct weft_alt a[KINDS];
	size_t shift;
	void *result;
	long sends, received;
	int at;
};

static struct weft_chan *make(size_t capacity)
{
	struct weft_chan *c = NULL;

	must(weft_chan_create(&c, sizeof(long), capacity, 0) == 0);
	return c;
}

static int try_send(struct weft_chan *c, long x)
{
	return weft_chan_send(c, &x, WEFT_NO_WAIT);
}

/* What comes at once, or NOTHING. */
static long try_recv(struct weft_chan *c)
{
	long x = NOTHING;
	int error = weft_chan_recv(c, &x, WEFT_NO_WAIT);

	must(error == 0 || (error == -EAGAIN && x == NOTHING));
	return x;
}

static struct weft_alt *of_kind(struct scene *s, enum kind kind)
{
	return &s->a[(kind + s->shift) % KINDS];
}

static void *end_at_gate(void *arg)
{
	struct scene *s = arg;

	must(weft_sem_wait(&s->gate) == 0);
	return s;
}

/* None of them can be done. */
static void begin(struct scene *s, size_t capacity, size_t shift)
{
	*s = (struct scene){
		.out = make(capacity), .in = make(capacity), .shift = shift,
		.sends = OURS, .received = NOTHING,
	};
	while (try_send(s->out, FILLS) == 0)
		;
	must(weft_pipe(s->fd, 0) == 0);
	s->target = spawn(end_at_gate, s);
	*of_kind(s, SENDS) = (struct weft_alt){
		.op = WEFT_ALT_SEND, .chan = s->out, .elem = &s->sends,
	};
	*of_kind(s, RECEIVES) = (struct weft_alt){
		.op = WEFT_ALT_RECV, .chan = s->in, .elem = &s->received,
	};
	*of_kind(s, IS_TIME) = (struct weft_alt){
		.op = WEFT_ALT_TIME, .u.time = INT64_MAX - 1,
	};
	*of_kind(s, IS_READY) = (struct weft_alt){
		.op = WEFT_ALT_READY,
		.u.ready = { .fd = s->fd[0], .events = POLLIN },
	};
	*of_kind(s, JOINS) = (struct weft_alt){
		.op = WEFT_ALT_JOIN, .u.thread = s->target, .elem = &s->result,
	};
}

static void end(struct scene *s)
{
	must(weft_chan_destroy(s->out) == 0);
	must(weft_chan_destroy(s->in) == 0);
	must(weft_close(s->fd[0]) == 0 && weft_close(s->fd[1]) == 0);
}

static void *alt(void *arg)
{
	struct scene *s = arg;

	s->at = weft_alt(s->a, KINDS, WEFT_FOREVER);
	return NULL;
}

/* The other ends of the channels. */
static void *receive_ours(void *arg)
{
	struct scene *s = arg;
	long x = NOTHING;
	size_t full = weft_chan_capacity(s->out);

	for (size_t i = 0; i < full; i++)
		must(weft_chan_recv(s->out, &x, WEFT_FOREVER) == 0 &&
		     x == FILLS);
	must(weft_chan_recv(s->out, &x, WEFT_FOREVER) == 0 && x == OURS);
	return NULL;
}

static void *send_theirs(void *arg)
{
	struct scene *s = arg;
	const long x = THEIRS;

	must(weft_chan_send(s->in, &x, WEFT_FOREVER) == 0);
	return NULL;
}

/* Now that kind can be done. Returns a thread at the other end, or 0. */
static uint64_t let(struct scene *s, enum kind kind)
{
	switch (kind) {
	case SENDS:
		return spawn(receive_ours, s);
	case RECEIVES:
		return spawn(send_theirs, s);
	case IS_READY:
		must(weft_write(s->fd[1], "x", 1) == 1);
		return 0;
	case JOINS:
		must(weft_sem_post(&s->gate) == 0);
		return 0;
	default:
		return 0;	/* the time comes */
	}
}

static void check_channels(struct scene *s, enum kind won)
{
	size_t full = weft_chan_capacity(s->out);

	if (won != SENDS)
		for (size_t i = 0; i < full; i++)
			must(try_recv(s->out) == FILLS);
	must(try_recv(s->out) == NOTHING);	/* nobody sends any more */
	must(s->received == (won == RECEIVES ? THEIRS : NOTHING));
	must(try_recv(s->in) == NOTHING);
	/* Nor receives: what is sent goes nowhere, or stays. */
	if (full == 0)
		must(try_send(s->in, THEIRS) == -EAGAIN);
	else
		must(try_send(s->in, THEIRS) == 0 &&
		     try_recv(s->in) == THEIRS);
}

static void check_effects(struct scene *s, enum kind won)
{
	char byte;

	must(s->at == (int)(of_kind(s, won) - s->a));
	must(s->a[s->at].error == 0);
	check_channels(s, won);
	must(weft_read_until(s->fd[0], &byte, 1, WEFT_NO_WAIT) ==
	     (won == IS_READY ? 1 : -EAGAIN));
	if (won == IS_READY)
		must(s->a[s->at].u.ready.revents == POLLIN);
	must(s->result == (won == JOINS ? s : NULL));
	must(weft_sem_post(&s->gate) == 0);
	if (won == JOINS)
		must(weft_join(s->target, NULL) == -ESRCH);
	else
		must(join(s->target) == s);
}

static void run_one(enum kind kind, size_t capacity, size_t shift,
		    unsigned flags, int waits)
{
	struct scene s;
	uint64_t id, other = 0;

	begin(&s, capacity, shift);
	if (kind == IS_TIME)
		of_kind(&s, kind)->u.time = waits ? weft_clock() + 500000 : 1;
	if (!waits)
		other = let(&s, kind);
	id = spawn_with(flags, alt, &s);
	if (waits && kind != IS_TIME)
		crowd_await_parked(id);
	if (waits)
		other = let(&s, kind);
	join(id);
	if (other)
		join(other);
	check_effects(&s, kind);
	end(&s);
}

static void each_kind_wins_and_no_other_has_taken_effect(void)
{
	size_t n = 0;

	runtime_begin();
	for (size_t capacity = 0; capacity < 2; capacity++)
		for (size_t shift = 0; shift < KINDS; shift++)
			for (int kind = SENDS; kind < KINDS; kind++)
				for (int waits = 0; waits < 2; waits++)
					run_one((enum kind)kind, capacity,
						shift, n++ % 2 ? WEFT_LIGHT : 0,
						waits);
	runtime_end();
}

/* All kinds come all the time; each effect is counted at both its ends. */
struct storm {
	struct weft_chan *out, *in;
	int fd[2];
	_Atomic int stop;
	_Atomic long sent, sent_sum, got, got_sum;	/* by the alts */
	_Atomic long in_sent, in_sum, out_got, out_sum;	/* at the other ends */
	_Atomic long written, read;
	_Atomic long spawned, joined, ended;
	_Atomic long won[KINDS];
	size_t rounds;
};

static void *end_soon(void *arg)
{
	struct storm *s = arg;

	weft_yield();
	fetch_add_relaxed(&s->ended, 1);
	return s;
}

static void took_effect(struct storm *s, enum kind kind, long out, long in)
{
	char byte;

	fetch_add_relaxed(&s->won[kind], 1);
	if (kind == SENDS) {
		fetch_add_relaxed(&s->sent, 1);
		fetch_add_relaxed(&s->sent_sum, out);
	} else if (kind == RECEIVES) {
		fetch_add_relaxed(&s->got, 1);
		fetch_add_relaxed(&s->got_sum, in);
	} else if (kind == IS_READY) {
		if (weft_read_until(s->fd[0], &byte, 1, WEFT_NO_WAIT) == 1)
			fetch_add_relaxed(&s->read, 1);
	}
}

static void *alts(void *arg)
{
	struct storm *s = arg;
	uint64_t random = test_seed((uint64_t)weft_self()), target = 0;

	for (size_t i = 0; i < s->rounds; i++) {
		long out = (long)test_random_below(&random, 1000), in = NOTHING;
		void *result = NULL;
		int64_t time = (int64_t)test_random_below(&random, 100000);
		int at;

		if (!target) {
			target = spawn(end_soon, s);
			fetch_add_relaxed(&s->spawned, 1);
		}

		struct weft_alt a[KINDS] = {
			{ .op = WEFT_ALT_SEND, .chan = s->out, .elem = &out },
			{ .op = WEFT_ALT_RECV, .chan = s->in, .elem = &in },
			{ .op = WEFT_ALT_TIME,
			  .u.time = weft_clock() + time },
			{ .op = WEFT_ALT_READY,
			  .u.ready = { .fd = s->fd[0], .events = POLLIN } },
			{ .op = WEFT_ALT_JOIN, .elem = &result,
			  .u.thread = target },
		};

		at = weft_alt(a, KINDS, WEFT_FOREVER);
		must(at >= 0 && a[at].error == 0);
		must((in != NOTHING) == (at == RECEIVES));
		must((result == s) == (at == JOINS));
		took_effect(s, (enum kind)at, out, in);
		if (at == JOINS) {
			fetch_add_relaxed(&s->joined, 1);
			target = 0;
		}
	}
	if (target) {
		must(join(target) == s);
		fetch_add_relaxed(&s->joined, 1);
	}
	return NULL;
}

static void *send_all(void *arg)
{
	struct storm *s = arg;
	uint64_t random = test_seed((uint64_t)weft_self());

	for (;;) {
		long x = (long)test_random_below(&random, 1000);

		if (weft_chan_send(s->in, &x, WEFT_FOREVER) != 0)
			return NULL;
		fetch_add_relaxed(&s->in_sent, 1);
		fetch_add_relaxed(&s->in_sum, x);
		weft_yield();
	}
}

static void *receive_all(void *arg)
{
	struct storm *s = arg;
	long x;

	while (weft_chan_recv(s->out, &x, WEFT_FOREVER) == 0) {
		fetch_add_relaxed(&s->out_got, 1);
		fetch_add_relaxed(&s->out_sum, x);
		weft_yield();
	}
	return NULL;
}

static void *write_all(void *arg)
{
	struct storm *s = arg;

	while (!load_seq_cst(&s->stop)) {
		if (weft_write_until(s->fd[1], "x", 1, WEFT_NO_WAIT) == 1)
			fetch_add_relaxed(&s->written, 1);
		rest();
	}
	return NULL;
}

/* What nobody took is still there. */
static void drain(struct storm *s)
{
	char byte;
	long x;

	while (weft_chan_recv(s->in, &x, WEFT_NO_WAIT) == 0) {
		fetch_add_relaxed(&s->got, 1);
		fetch_add_relaxed(&s->got_sum, x);
	}
	while (weft_read_until(s->fd[0], &byte, 1, WEFT_NO_WAIT) == 1)
		fetch_add_relaxed(&s->read, 1);
}

static void check_storm(struct storm *s)
{
	CU_ASSERT_EQUAL(load_relaxed(&s->sent), load_relaxed(&s->out_got));
	CU_ASSERT_EQUAL(load_relaxed(&s->sent_sum), load_relaxed(&s->out_sum));
	CU_ASSERT_EQUAL(load_relaxed(&s->got), load_relaxed(&s->in_sent));
	CU_ASSERT_EQUAL(load_relaxed(&s->got_sum), load_relaxed(&s->in_sum));
	CU_ASSERT_EQUAL(load_relaxed(&s->read), load_relaxed(&s->written));
	CU_ASSERT_EQUAL(load_relaxed(&s->joined), load_relaxed(&s->spawned));
	CU_ASSERT_EQUAL(load_relaxed(&s->ended), load_relaxed(&s->spawned));
	printf("    %ld sends, %ld receives, %ld times, %ld ready, %ld joins\n",
	       load_relaxed(&s->won[SENDS]), load_relaxed(&s->won[RECEIVES]),
	       load_relaxed(&s->won[IS_TIME]), load_relaxed(&s->won[IS_READY]),
	       load_relaxed(&s->won[JOINS]));
}

static void run_storm(size_t capacity)
{
	enum { ALTS = 6, ENDS = 2 };
	struct storm s = {
		.out = make(capacity), .in = make(capacity),
		.rounds = test_scaled(1000),
	};
	uint64_t id[ALTS], sender[ENDS], receiver[ENDS], writer;

	must(weft_pipe(s.fd, 0) == 0);
	for (int i = 0; i < ALTS; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, alts, &s);
	for (int i = 0; i < ENDS; i++) {
		sender[i] = spawn(send_all, &s);
		receiver[i] = spawn(receive_all, &s);
	}
	writer = spawn(write_all, &s);
	for (int i = 0; i < ALTS; i++)
		join(id[i]);
	store_seq_cst(&s.stop, 1);
	must(weft_chan_close(s.in) == 0 && weft_chan_close(s.out) == 0);
	for (int i = 0; i < ENDS; i++) {
		join(sender[i]);
		join(receiver[i]);
	}
	join(writer);
	drain(&s);
	check_storm(&s);
	must(weft_chan_destroy(s.in) == 0 && weft_chan_destroy(s.out) == 0);
	must(weft_close(s.fd[0]) == 0 && weft_close(s.fd[1]) == 0);
}

static void where_all_come_at_once_each_effect_is_once(void)
{
	runtime_begin();
	for (size_t capacity = 0; capacity < 3; capacity += 2)
		run_storm(capacity);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(each_kind_wins_and_no_other_has_taken_effect),
	TEST(where_all_come_at_once_each_effect_is_once),
};

TEST_MAIN("alt/kinds", cases)
