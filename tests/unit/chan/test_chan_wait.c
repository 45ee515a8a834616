/* SPDX-License-Identifier: MIT */
/* test_alt.c - one of several things is done, whichever could be first */
#include "threads.h"

#include "chan/chan.h"
#include "crowd.h"
#include "sync/segment.h"

static struct weft_chan *make(size_t capacity, unsigned flags)
{
	struct weft_chan *c = NULL;

	must(weft_chan_create(&c, sizeof(long), capacity, flags) == 0);
	return c;
}

static void end(struct weft_chan *c)
{
	must(weft_chan_destroy(c) == 0);
}

#define SEND(c, p)	{ .op = WEFT_ALT_SEND, .chan = (c), .elem = (p) }
#define RECV(c, p)	{ .op = WEFT_ALT_RECV, .chan = (c), .elem = (p) }

static void wrong_alternatives_are_refused(void)
{
	struct weft_alt a = { .op = 17 };

	runtime_begin();
	must(weft_alt(&a, 0, WEFT_NO_WAIT) == -EINVAL);
	must(weft_alt(&a, WEFT_ALTS_MAX + 1, WEFT_NO_WAIT) == -EINVAL);
	must(weft_alt(&a, 1, WEFT_NO_WAIT) == -EINVAL);
	a.op = WEFT_ALT_RECV;
	must(weft_alt(&a, 1, WEFT_NO_WAIT) == -EINVAL);
	a.op = WEFT_ALT_NONE;
	must(weft_alt(&a, 1, WEFT_NO_WAIT) == -EAGAIN);
	must(weft_alt(&a, 1, 1) == -ETIMEDOUT);
	runtime_end();
}

static void what_can_be_done_is_done(void)
{
	struct weft_chan *full, *empty;
	long out = 1, in = 0;

	runtime_begin();
	full = make(1, 0);
	empty = make(1, 0);
	must(weft_chan_send(full, &out, WEFT_NO_WAIT) == 0);
	{
		struct weft_alt a[] = { SEND(full, &out), RECV(empty, &in) };

		must(weft_alt(a, 2, WEFT_NO_WAIT) == -EAGAIN);
		a[1].op = WEFT_ALT_SEND;
		a[1].elem = &out;
		must(weft_alt(a, 2, WEFT_NO_WAIT) == 1 && a[1].error == 0);
	}
	must(weft_chan_close(full) == 0);
	{
		struct weft_alt a[] = { SEND(full, &out), RECV(full, &in) };
		int i = weft_alt(a, 2, WEFT_FOREVER);

		must(i == 0 ? a[0].error == -EPIPE : a[1].error == 0);
	}
	end(full);
	end(empty);
	runtime_end();
}

static void a_thread_does_not_meet_itself(void)
{
	struct weft_chan *c;
	long out = 1, in = 2;

	runtime_begin();
	c = make(0, 0);
	{
		struct weft_alt a[] = {
			SEND(c, &out), RECV(c, &in), SEND(c, &out), RECV(c, &in),
		};

		must(weft_alt(a, 4, WEFT_NO_WAIT) == -EAGAIN);
		must(weft_alt(a, 4, weft_clock() + 100000) == -ETIMEDOUT);
	}
	must(in == 2);
	end(c);
	runtime_end();
}

static void alternatives_are_chosen_fairly(void)
{
	enum { READY = 3, CHANS = 7 };
	static const int ready[READY] = { 1, 2, 6 };
	const long n = (long)test_scaled(3000);
	struct weft_chan *c[CHANS];
	struct weft_alt a[CHANS];
	long chosen[CHANS] = { 0 }, x = 0;

	runtime_begin();
	for (int i = 0; i < CHANS; i++) {
		c[i] = make(1, 0);
		a[i] = (struct weft_alt)RECV(c[i], &x);
	}
	for (int i = 0; i < READY; i++)
		must(weft_chan_send(c[ready[i]], &x, WEFT_NO_WAIT) == 0);
	for (long i = 0; i < n; i++) {
		int at = weft_alt(a, CHANS, WEFT_FOREVER);

		must(at >= 0);
		chosen[at]++;
		must(weft_chan_send(c[at], &x, WEFT_NO_WAIT) == 0);
	}
	/* Each has a third; a sixth would be some 18 deviations away. */
	for (int i = 0; i < READY; i++)
		must(n < 1000 || chosen[ready[i]] > n / 6);
	for (int i = 0; i < CHANS; i++)
		end(c[i]);
	runtime_end();
}

static void *return_arg(void *arg)
{
	return arg;
}

static void *nap(void *arg)
{
	(void)weft_sleep(1000000);
	return arg;
}

static void joins_and_times_are_alternatives(void)
{
	struct weft_chan *c;
	void *result = NULL;
	long x;

	runtime_begin();
	c = make(0, 0);
	for (int i = 0; i < 20; i++) {
		struct weft_alt a[] = {
			RECV(c, &x),
			{ .op = WEFT_ALT_JOIN, .elem = &result },
			{ .op = WEFT_ALT_TIME, .u.time = INT64_MAX },
		};

		a[1].u.thread = spawn(i % 2 ? nap : return_arg, &x);
		must(weft_alt(a, 3, WEFT_FOREVER) == 1 && a[1].error == 0);
		must(result == &x);
		must(weft_alt(a + 1, 1, WEFT_FOREVER) == 0);
		must(a[1].error == -ESRCH);
		a[1].u.thread = spawn(nap, &x);
		a[2].u.time = weft_clock() + 1000;
		int at = weft_alt(a, 3, WEFT_FOREVER);

		must(at == 2 || at == 1);
		if (at == 2)
			join(a[1].u.thread);
	}
	end(c);
	runtime_end();
}

struct swap {
	struct weft_chan *a, *b;
	long n, sent, received;
	_Atomic long *left;
};

/* Sends on the one and receives on the other, whichever first, n in all. */
static void *swap(void *arg)
{
	struct swap *s = arg;

	for (;;) {
		long in = 0, out = 1;
		struct weft_alt a[] = { SEND(s->a, &out), RECV(s->b, &in) };
		int at = weft_alt(a, 2, WEFT_FOREVER);

		must(at >= 0);
		if (a[at].error)
			return NULL;
		if (at == 0)
			s->sent++;
		else
			s->received += in;
		if (fetch_add_seq_cst(s->left, -1) == 1) {
			must(weft_chan_close(s->a) == 0);
			must(weft_chan_close(s->b) == 0);
		}
	}
}

/* Each offers what the other wants on both channels: two-sided alts. */
static void two_sided_alts_meet(void)
{
	enum { PEOPLE = 6 };

	runtime_begin();
	for (size_t capacity = 0; capacity < 2; capacity++) {
		struct weft_chan *x = make(capacity, 0), *y = make(capacity, 0);
		_Atomic long left = (long)test_scaled(3000);
		struct swap s[PEOPLE];
		uint64_t id[PEOPLE];
		long sent = 0, received = 0, rest_of = 0, in;

		for (int i = 0; i < PEOPLE; i++) {
			s[i] = (struct swap){ i % 2 ? x : y, i % 2 ? y : x,
					      0, 0, 0, &left };
			id[i] = spawn_with(i % 3 ? WEFT_LIGHT : 0, swap, &s[i]);
		}
		for (int i = 0; i < PEOPLE; i++) {
			join(id[i]);
			sent += s[i].sent;
			received += s[i].received;
		}
		while (weft_chan_recv(x, &in, WEFT_NO_WAIT) == 0 ||
		       weft_chan_recv(y, &in, WEFT_NO_WAIT) == 0)
			rest_of++;
		must(sent == received + rest_of);
		end(x);
		end(y);
	}
	runtime_end();
}

static void *send_one(void *arg)
{
	struct crowd_call *call = arg;

	return (void *)(intptr_t)weft_chan_send(call->object, &call->number,
						WEFT_FOREVER);
}

static void a_thousand_alternatives_wait(void)
{
	static struct weft_chan *c[WEFT_ALTS_MAX];
	static struct weft_alt a[WEFT_ALTS_MAX];
	struct crowd_call call;
	long x = 0;

	runtime_begin();
	for (unsigned i = 0; i < WEFT_ALTS_MAX; i++) {
		c[i] = make(i % 2, 0);
		a[i] = (struct weft_alt)RECV(c[i], &x);
	}
	for (unsigned i = 0; i < 30; i++) {
		unsigned at = i * 37 % WEFT_ALTS_MAX;

		must(weft_alt(a, WEFT_ALTS_MAX, 1) == -ETIMEDOUT);
		call = (struct crowd_call){ c[at], (long)at, 0 };
		call.id = spawn(send_one, &call);
		must(weft_alt(a, WEFT_ALTS_MAX, WEFT_FOREVER) == (int)at);
		must(x == (long)at);
		must(join(call.id) == NULL);
	}
	for (unsigned i = 0; i < WEFT_ALTS_MAX; i++)
		end(c[i]);
	runtime_end();
}

static void timed_out_alts_leave_no_memory(void)
{
	const size_t n = test_scaled(20000);
	struct weft_chan *c;
	struct crowd_call call;
	long x, y;

	runtime_begin();
	c = make(0, 0);
	/* In front of all of them waits one that stays. */
	call = (struct crowd_call){ c, 1, 0 };
	call.id = spawn(send_one, &call);
	crowd_await_in(call.id, c);
	for (size_t i = 0; i < n; i++) {
		struct weft_alt a[] = { SEND(c, &x), SEND(c, &y) };

		must(weft_alt(a, 2, 1) == -ETIMEDOUT);
		must(wefti_seg_count(&c->senders.first) <= 3);
	}
	must(weft_chan_recv(c, &x, WEFT_FOREVER) == 0 && x == 1);
	join(call.id);
	end(c);
	runtime_end();
}

static void one_to_one_channels_stand_in_alts(void)
{
	struct weft_chan *c;
	struct crowd_call call;
	long x = 0;

	runtime_begin();
	for (int i = 0; i < 50; i++) {
		c = make(1, WEFT_CHAN_ONE_TO_ONE);
		struct weft_alt a[] = { RECV(c, &x), RECV(c, &x) };

		must(weft_alt(a, 2, 1) == -ETIMEDOUT);
		call = (struct crowd_call){ c, i, 0 };
		call.id = spawn(send_one, &call);
		must(weft_alt(a, 2, WEFT_FOREVER) >= 0);
		must(x == i);
		join(call.id);
		a[0].op = WEFT_ALT_SEND;
		must(weft_alt(a, 2, WEFT_NO_WAIT) == -EPERM);
		end(c);
	}
	runtime_end();
}

static void *alt_for_ever(void *arg)
{
	struct weft_chan **c = arg;
	long x;
	struct weft_alt a[] = { RECV(c[0], &x), SEND(c[1], &x) };

	return (void *)(intptr_t)weft_alt(a, 2, WEFT_FOREVER);
}

static void a_cancelled_alt_does_nothing(void)
{
	struct weft_chan *c[2];
	long x = 1;
	uint64_t id;

	runtime_begin();
	c[0] = make(0, 0);
	c[1] = make(0, 0);
	id = spawn(alt_for_ever, c);
	crowd_await_parked(id);
	must(weft_chan_destroy(c[0]) == -EBUSY);
	must(weft_chan_destroy(c[1]) == -EBUSY);
	must(weft_cancel(id) == 0);
	must((intptr_t)join(id) == -ECANCELED);
	must(weft_chan_send(c[0], &x, WEFT_NO_WAIT) == -EAGAIN);
	must(weft_chan_recv(c[1], &x, WEFT_NO_WAIT) == -EAGAIN);
	end(c[0]);
	end(c[1]);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(wrong_alternatives_are_refused),
	TEST(what_can_be_done_is_done),
	TEST(a_thread_does_not_meet_itself),
	TEST(alternatives_are_chosen_fairly),
	TEST(joins_and_times_are_alternatives),
	TEST(two_sided_alts_meet),
	TEST(a_thousand_alternatives_wait),
	TEST(timed_out_alts_leave_no_memory),
	TEST(one_to_one_channels_stand_in_alts),
	TEST(a_cancelled_alt_does_nothing),
};

TEST_MAIN("chan/alt", cases)
