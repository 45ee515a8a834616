/* SPDX-License-Identifier: MIT */
/*
 * test_stall_chan_end.c - a call stops at each step; when its effect is there, its
 * channel ends, and the struct is another channel, in which a thread waits
 *
 * The steering thread, which weft did not make, does what the partner would do. When
 * that shows that the call has taken effect, it destroys the call's channels, and
 * creates others of each kind in their structs. A thread waits in the new one when the
 * stopped call goes on. It may be woken for nothing, and then waits on; its call still
 * has the effect that its own partner gives it, and nothing else. Messages of the old
 * and the new channel have different sizes.
 */
#include "steer.h"

#include <string.h>

#include "chan/chan.h"

#define COMBINATIONS	6		/* the new channel's kind, and which
					 * side waits */
#define QUIET_NAPS	40
#define STEPS_MOST	150	/* then its kernel thread looks for others */
#define SMALL		sizeof(long)
#define LARGE		sizeof(struct message)
#define FAR		3		/* a capacity: the hint of the head is too low */

struct message {
	long v[6];
};

struct scene;

struct row {
	const char *name;
	size_t bytes;
	size_t capacity[2];
	unsigned flags[2];
	void *(*run)(void *scene);	/* the victim */
	void *(*helper)(void *scene);	/* is parked before; or NULL */
	int fill;			/* messages in the first channel before */
	int (*has_effect)(struct scene *s);
};

struct scene {
	struct stall_victim victim;
	const struct row *row;
	struct weft_chan *chan[2];
	_Atomic int helped;
	/* The new channel in chan[0]'s struct, or chan[1]'s. */
	struct weft_chan *fresh;
	unsigned op;			/* of the thread that waits in it */
	_Atomic int waited;
};

static void *send_it(void *arg)
{
	struct scene *s = arg;
	struct message m = { { 1, 1, 1, 1, 1, 1 } };

	STALL_STEPS(&s->victim,
		    must(weft_chan_send(s->chan[0], &m, WEFT_FOREVER) == 0));
	return NULL;
}

static void *receive_it(void *arg)
{
	struct scene *s = arg;
	struct message m = { { 0 } };

	STALL_STEPS(&s->victim,
		    must(weft_chan_recv(s->chan[0], &m, WEFT_FOREVER) == 0));
	must(m.v[0] == 1);
	for (int i = 1; i < 6; i++)
		must(m.v[i] == (s->row->bytes == LARGE));
	return NULL;
}

static void *close_it(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_chan_close(s->chan[0]) == 0));
	return NULL;
}

/* It is met at the first channel; nobody comes to the second. */
static void *alt_it(void *arg)
{
	struct scene *s = arg;
	struct message m = { { 0 } }, other = { { 2 } };
	struct weft_alt a[] = {
		{ .op = WEFT_ALT_RECV, .chan = s->chan[0], .elem = &m },
		{ .op = WEFT_ALT_SEND, .chan = s->chan[1], .elem = &other },
		{ .op = WEFT_ALT_RECV, .chan = s->chan[1], .elem = &other },
	};
	const size_t count = s->row->fill ? 2 : 3;
	int got;

	/* A full buffer takes nothing; of an empty one nothing comes. */
	if (s->row->capacity[1] && !s->row->fill)
		a[1].op = WEFT_ALT_NONE;
	STALL_STEPS(&s->victim, got = weft_alt(a, count, WEFT_FOREVER));
	must(got == 0 && a[0].error == 0 && m.v[0] == 1);
	return NULL;
}

static void *helper_receives(void *arg)
{
	struct scene *s = arg;
	struct message m;

	must(weft_chan_recv(s->chan[0], &m, WEFT_FOREVER) == 0 && m.v[0] == 1);
	store_seq_cst(&s->helped, 1);
	return NULL;
}

static int is_received(struct scene *s)
{
	struct message m;

	return weft_chan_recv(s->chan[0], &m, WEFT_NO_WAIT) == 0;
}

static int is_sent(struct scene *s)
{
	struct message m = { { 1, 1, 1, 1, 1, 1 } };

	return weft_chan_send(s->chan[0], &m, WEFT_NO_WAIT) == 0;
}

/* If it waits for a message, it gets this one without the buffer. */
static int is_given(struct scene *s)
{
	return is_sent(s) && weft_chan_length(s->chan[0]) == 0;
}

/* If it waits for room, its message takes the place of the one that was in. */
static int is_let_in(struct scene *s)
{
	return is_received(s) && weft_chan_length(s->chan[0]) == 1;
}

static int is_closed(struct scene *s)
{
	return weft_chan_is_closed(s->chan[0]);
}

/* The helper may lie where only the stopped one would run it. */
static int is_helped(struct scene *s)
{
	for (int i = 0; i < QUIET_NAPS && !load_seq_cst(&s->helped); i++)
		stall_nap();
	return load_seq_cst(&s->helped);
}

static void *wait_in_it(void *arg)
{
	struct scene *s = arg;
	struct message m = { { 9, 9, 9, 9, 9, 9 } };

	if (s->op == WEFT_ALT_SEND) {
		must(weft_chan_send(s->fresh, &m, WEFT_FOREVER) == 0);
	} else {
		must(weft_chan_recv(s->fresh, &m, WEFT_FOREVER) == 0);
		must(m.v[0] == 7);
	}
	store_seq_cst(&s->waited, 1);
	return NULL;
}

static const struct {
	size_t capacity;
	unsigned flags;
} fresh_kinds[] = { { 0, 0 }, { 1, 0 }, { 1, WEFT_CHAN_ONE_TO_ONE } };

/* Until the one that waits is back, with what its partner gives or takes. */
static void finish_waiter(struct scene *s)
{
	struct message m = { { 7, 7, 7, 7, 7, 7 } };
	int fives = 0, nines = 0;

	for (; !load_seq_cst(&s->waited); stall_nap()) {
		if (s->op == WEFT_ALT_RECV) {
			(void)weft_chan_send(s->fresh, &m, WEFT_NO_WAIT);
		} else if (weft_chan_recv(s->fresh, &m, WEFT_NO_WAIT) == 0) {
			must(m.v[0] == 9 || m.v[0] == 5);
			nines += m.v[0] == 9;
			fives += m.v[0] == 5;
		}
	}
	while (s->op == WEFT_ALT_SEND &&
	       weft_chan_recv(s->fresh, &m, WEFT_NO_WAIT) == 0) {
		nines += m.v[0] == 9;
		fives += m.v[0] == 5;
	}
	must(s->op == WEFT_ALT_RECV ||
	     (nines == 1 && fives == (int)weft_chan_capacity(s->fresh)));
}

/* Returns the waiter's id. */
static uint64_t make_fresh(struct scene *s, unsigned combination)
{
	const unsigned kind = combination % 3;
	struct message five = { { 5, 5, 5, 5, 5, 5 } };
	uint64_t id;

	s->op = combination < 3 ? WEFT_ALT_RECV : WEFT_ALT_SEND;
	must(weft_chan_create(&s->fresh, s->row->bytes == SMALL ? LARGE : SMALL,
			      fresh_kinds[kind].capacity,
			      fresh_kinds[kind].flags) == 0);
	/*
	 * In a one-to-one channel the waiting thread is the owner of its side.
	 */
	if (s->op == WEFT_ALT_SEND && kind == 1)
		must(weft_chan_send(s->fresh, &five, WEFT_NO_WAIT) == 0);
	if (s->op == WEFT_ALT_SEND && kind == 2)
		s->op = WEFT_ALT_RECV;
	id = spawn_with(WEFT_LIGHT, wait_in_it, s);
	stall_await_parked(id);
	return id;
}

/* The call took effect, and is stopped. Returns 1 if the struct was used again. */
static int end_and_go_on(struct scene *s, unsigned combination)
{
	const int two = s->row->run == alt_it;
	struct weft_chan *last = s->chan[two];
	uint64_t waiter;
	int same;

	for (int i = 0; i <= two; i++) {
		must(weft_chan_destroy(s->chan[i]) == 0);
		s->chan[i] = NULL;
	}
	waiter = make_fresh(s, combination);
	same = s->fresh == last;
	steps_release();
	finish_waiter(s);
	join(waiter);
	must(weft_chan_destroy(s->fresh) == 0);
	return same;
}

struct counts {
	size_t stops, ends, same;
};

/* Two messages have gone, and a receiver has stored the hint late. */
static void take_head_back(struct weft_chan *c)
{
	struct message m = { { 0 } };

	for (int i = 0; i < 2; i++)
		must(weft_chan_send(c, &m, WEFT_NO_WAIT) == 0 &&
		     weft_chan_recv(c, &m, WEFT_NO_WAIT) == 0);
	store_seq_cst(&c->buffer.head, WEFTI_POSITION_HEAD);
}

static void prepare(struct scene *s)
{
	const struct row *row = s->row;
	struct message one = { { 1, 1, 1, 1, 1, 1 } };

	for (int i = 0; i < 2; i++)
		must(weft_chan_create(&s->chan[i], row->bytes, row->capacity[i],
				      row->flags[i]) == 0);
	if (row->capacity[0] == FAR)
		take_head_back(s->chan[0]);
	for (int i = 0; i < row->fill; i++)
		must(weft_chan_send(s->chan[row->run == alt_it], &one,
				    WEFT_NO_WAIT) == 0);
}

static int run_step(const struct row *row, size_t step, unsigned combination,
		    struct counts *n)
{
	struct scene s = { .victim.n = step, .row = row };
	uint64_t helper = 0;
	int stopped, ended = 0;

	prepare(&s);
	if (row->helper) {
		helper = spawn_with(WEFT_LIGHT, row->helper, &s);
		stall_await_parked(helper);
	}
	s.victim.id = spawn_with(WEFT_LIGHT, row->run, &s);
	stopped = stall_await_stop(&s.victim);
	n->stops += (size_t)stopped;
	if (stopped && row->has_effect(&s)) {
		ended = 1;
		n->ends++;
		n->same += (size_t)end_and_go_on(&s, combination);
	}
	steps_release();
	while (!ended && !row->has_effect(&s) &&
	       !load_seq_cst(&s.victim.returned))
		stall_nap();
	join(s.victim.id);
	if (helper)
		join(helper);
	for (int i = 0; i < 2; i++)
		must(!s.chan[i] || weft_chan_destroy(s.chan[i]) == 0);
	return stopped;
}

#define ONE	WEFT_CHAN_ONE_TO_ONE

static const struct row rows[] = {
	{ "send", SMALL, { 1 }, { 0 }, send_it, NULL, 0, is_received },
	{ "send, long", LARGE, { 1 }, { 0 }, send_it, NULL, 0, is_received },
	{ "receive", SMALL, { 1 }, { 0 }, receive_it, NULL, 1, is_sent },
	{ "receive, long", LARGE, { 1 }, { 0 }, receive_it, NULL, 1, is_sent },
	{ "receive, from afar", SMALL, { FAR }, { 0 }, receive_it, NULL, FAR,
	  is_sent },
	{ "send, one waits", SMALL, { 1 }, { 0 }, send_it, helper_receives, 0,
	  is_helped },
	{ "one-to-one: send", SMALL, { 1 }, { ONE }, send_it, NULL, 0,
	  is_received },
	{ "one-to-one: receive", LARGE, { 1 }, { ONE }, receive_it, NULL, 1,
	  is_sent },
	{ "meet", LARGE, { 0 }, { 0 }, send_it, helper_receives, 0, is_helped },
	{ "come to be met", SMALL, { 0 }, { 0 }, receive_it, NULL, 0, is_sent },
	{ "come to be given a message", SMALL, { 1 }, { 0 }, receive_it, NULL, 0,
	  is_given },
	{ "the same, a large buffer", LARGE, { 9 }, { 0 }, receive_it, NULL, 0,
	  is_given },
	{ "come to be let in", SMALL, { 1 }, { 0 }, send_it, NULL, 1,
	  is_let_in },
	{ "close", SMALL, { 0 }, { 0 }, close_it, NULL, 0, is_closed },
	{ "close of a buffer", SMALL, { 1 }, { 0 }, close_it, NULL, 0,
	  is_closed },
	{ "one-to-one: close", SMALL, { 1 }, { ONE }, close_it, NULL, 0,
	  is_closed },
	{ "alt, of two rendezvous", SMALL, { 0, 0 }, { 0 }, alt_it, NULL, 0,
	  is_sent },
	{ "alt, a buffer", SMALL, { 0, 1 }, { 0 }, alt_it, NULL, 0, is_sent },
	{ "alt, a full buffer", SMALL, { 0, 1 }, { 0 }, alt_it, NULL, 1,
	  is_sent },
	{ "alt, one-to-one", LARGE, { 0, 1 }, { 0, ONE }, alt_it, NULL, 0,
	  is_sent },
};

static void run_row(const struct row *row)
{
	struct counts n = { 0, 0, 0 };
	const unsigned stride = test_scaled(COMBINATIONS) >= COMBINATIONS ?
				1 : 5;
	size_t step = 1;
	int stopped = 1;

	for (; stopped && step < STEPS_MOST; step++)
		for (unsigned c = step % stride; c < COMBINATIONS; c += stride)
			stopped = run_step(row, step, c, &n);
	printf("    %s: stopped %zu times, %zu times the channel had ended, and "
	       "%zu times it was another\n", row->name, n.stops, n.ends, n.same);
	fflush(stdout);
	must(n.same > 0);
}

static void *steer(void *arg)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run_row(&rows[i]);
	return arg;
}

static void a_late_call_does_nothing_to_the_next_channel(void)
{
	stall_steer(steer, NULL);
}

static const struct test_case cases[] = {
	TEST(a_late_call_does_nothing_to_the_next_channel),
};

TEST_MAIN("stall/chan_end", cases)
