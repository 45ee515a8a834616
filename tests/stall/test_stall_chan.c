/* SPDX-License-Identifier: MIT */
/*
 * test_stall_chan.c - one kernel thread stops at each step of a channel's calls;
 * the calls of others on the same channel go on
 *
 * For each call, and for n from 1 until it has no more steps: a thread makes
 * the call, and its kernel thread stops before the n-th atomic operation. While
 * it is stopped, fresh threads send to each other through the same channels
 * until a number of messages has arrived, or do what the call's row says. A
 * thread that waited before has come back then. There is one exception: its own
 * wait was in the hands of the stopped one, claimed or already ended. If the
 * stopped one closes, there is no exception. What the stopped one may keep
 * besides is a message that went to it.
 *
 * Steered by a kernel thread that weft did not make. What does not end is found
 * by the watchdog, not by a time.
 */
#include "threads.h"

#include <pthread.h>
#include <time.h>

#include "chan_others.h"
#include "lockfree/atomic.h"
#include "steps.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define VCPUS		3
#define STEPS_MOST	300
#define EVERY_STEP	30	/* behind that, further and further apart */

static void nap(void)
{
	const struct timespec t = { 0, 200000 };

	nanosleep(&t, NULL);
}

#define STEPS(s, call)							\
	do {								\
		store_seq_cst(&(s)->begun, 1);				\
		steps_begin((s)->n);					\
		(void)(call);						\
		steps_end();						\
		store_seq_cst(&(s)->returned, 1);			\
	} while (0)

static void *send_it(void *arg)
{
	struct scene *s = arg;
	long x = 1;

	STEPS(s, weft_chan_send(s->chan[0], &x, WEFT_FOREVER));
	return NULL;
}

/* The only sender: it has to fill the buffer itself. */
static void *fill_and_send_it(void *arg)
{
	struct scene *s = arg;
	long x = 2;

	must(weft_chan_send(s->chan[0], &x, WEFT_NO_WAIT) == 0);
	return send_it(arg);
}

static void *receive_it(void *arg)
{
	struct scene *s = arg;
	long x;

	STEPS(s, weft_chan_recv(s->chan[0], &x, WEFT_FOREVER));
	return NULL;
}

static void *close_it(void *arg)
{
	struct scene *s = arg;

	STEPS(s, weft_chan_close(s->chan[0]));
	return NULL;
}

static int alt_of(struct scene *s, int out)
{
	long x = 1, y;
	struct weft_alt a[] = {
		{ .op = WEFT_ALT_SEND, .chan = s->chan[out], .elem = &x },
		{ .op = WEFT_ALT_RECV, .chan = s->chan[!out], .elem = &y },
	};

	return weft_alt(a, 2, WEFT_FOREVER);
}

static void *alt_it(void *arg)
{
	struct scene *s = arg;

	STEPS(s, alt_of(s, 0));
	return NULL;
}

static void *time_out_it(void *arg)
{
	struct scene *s = arg;
	long x;

	STEPS(s, weft_chan_recv(s->chan[0], &x, 1));
	return NULL;
}

static void *helper_receives(void *arg)
{
	struct scene *s = arg;
	long x;

	(void)weft_chan_recv(s->chan[0], &x, WEFT_FOREVER);
	store_seq_cst(&s->helped, 1);
	return NULL;
}

static void *helper_sends(void *arg)
{
	struct scene *s = arg;
	long x = 2;

	for (size_t i = 0; i <= weft_chan_capacity(s->chan[0]); i++)
		(void)weft_chan_send(s->chan[0], &x, WEFT_FOREVER);
	store_seq_cst(&s->helped, 1);
	return NULL;
}

static void *helper_alts(void *arg)
{
	struct scene *s = arg;

	(void)alt_of(s, 1);
	store_seq_cst(&s->helped, 1);
	return NULL;
}

static void others_go_on(struct scene *s)
{
	void *(*other)(void *) = s->call->other;
	uint64_t id[4];

	if (other) {
		join(spawn(other, s));
		return;
	}
	store_seq_cst(&s->arrived, 0);
	for (unsigned i = 0; i < 4; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0,
				   i < 2 ? probe_sends : probe_receives, s);
	for (unsigned i = 0; i < 4; i++)
		join(id[i]);
}

static uint64_t wait_of(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);

	return t ? load_seq_cst(&t->wait) : 0;
}

/* 1: it is stopped. 0: it has returned, or is parked and takes no steps. */
static int await_stop(struct scene *s)
{
	size_t seen = 0;

	while (!load_seq_cst(&s->begun))
		nap();
	for (int quiet = 0; quiet < 10; nap()) {
		if (steps_stopped())
			return 1;
		if (load_seq_cst(&s->returned))
			break;
		quiet = is_parked(s->victim) && steps_taken() == seen ?
			quiet + 1 : 0;
		seen = steps_taken();
	}
	steps_end();
	return steps_stopped();
}

/* Is its wait in nobody's hands, so that whoever comes may end it? */
static int is_open(uint64_t id)
{
	uint64_t w = wait_of(id);

	return (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE &&
	       !(w & WEFTI_WAIT_CLAIMED);
}

/*
 * The others have gone. They may have been faster each time, and have left the
 * buffer full for the helper that sends, or empty for the one that receives.
 * Then one call more has to bring it back. Where there is room, or a message,
 * nothing has to.
 */
static void make_its_turn(struct scene *s)
{
	size_t length = weft_chan_length(s->chan[0]);
	long x = 3;

	if (s->call->helper == helper_sends && length == s->call->capacity)
		(void)weft_chan_recv(s->chan[0], &x, WEFT_NO_WAIT);
	if (s->call->helper == helper_receives && length == 0)
		(void)weft_chan_send(s->chan[0], &x, WEFT_NO_WAIT);
}

/*
 * Helps a victim that is stopped. Returns 1 if the helper had to come back, and
 * has: its wait was open. A helper with a claimed wait, or a wait that is over,
 * may be held until the victim goes on, or be on its way already. But a victim
 * that closes holds none.
 */
static int help_and_look(struct scene *s)
{
	int open = s->helper && (s->call->run == close_it ||
				 is_open(s->helper));

	if (s->helper && !open && s->call->other)
		return 0;
	others_go_on(s);
	while (open && !load_seq_cst(&s->helped)) {
		if (s->call->capacity && is_open(s->helper))
			make_its_turn(s);
		nap();
	}
	return open;
}

static int run_step(const struct call *c, size_t n, size_t *helped)
{
	struct scene s = { .call = c, .n = n };
	int stopped;

	for (int i = 0; i < 2; i++)
		must(weft_chan_create(&s.chan[i], sizeof(long), c->capacity,
				      c->flags) == 0);
	if (c->helper) {
		s.helper = spawn(c->helper, &s);
		while (!is_parked(s.helper))
			nap();
	}
	s.victim = spawn(c->run, &s);
	stopped = await_stop(&s);
	if (stopped)
		*helped += (size_t)help_and_look(&s);
	steps_release();
	for (int i = 0; i < 2; i++)
		(void)weft_chan_close(s.chan[i]);
	join(s.victim);
	if (s.helper)
		join(s.helper);
	for (int i = 0; i < 2; i++)
		must(weft_chan_destroy(s.chan[i]) == 0);
	return stopped;
}

#define ONE	WEFT_CHAN_ONE_TO_ONE

static const struct call calls[] = {
	{ "send, to meet one that waits", 0, helper_receives, send_it, NULL,
	  0 },
	{ "send, that waits", 0, NULL, send_it, NULL, 0 },
	{ "receive, to meet one that waits", 0, helper_sends, receive_it, NULL,
	  0 },
	{ "receive, that waits", 0, NULL, receive_it, NULL, 0 },
	{ "alt, to meet an alt", 0, helper_alts, alt_it, NULL, 0 },
	{ "alt, that waits", 0, NULL, alt_it, NULL, 0 },
	{ "receive, that times out", 0, NULL, time_out_it, NULL, 0 },
	{ "close, with one that waits", 0, helper_receives, close_it, NULL,
	  0 },
	{ "send into a buffer, one waits for it", 1, helper_receives, send_it,
	  NULL, 0 },
	{ "send into a full buffer", 1, helper_sends, send_it, NULL, 0 },
	{ "receive from a full buffer, one waits", 1, helper_sends,
	  receive_it, NULL, 0 },
	{ "receive from an empty buffer", 1, NULL, receive_it, NULL, 0 },
	{ "close of a buffer, one waits", 1, helper_receives, close_it, NULL,
	  0 },
	{ "send into a buffer, others only try", 1, helper_receives, send_it,
	  only_tries_to_send, 0 },
	{ "receive from a buffer, others only try", 1, helper_sends,
	  receive_it, only_tries_to_receive, 0 },
	{ "one-to-one: send, one waits for it", 1, helper_receives, send_it,
	  closes, ONE },
	{ "one-to-one: send into a full buffer", 1, NULL, fill_and_send_it,
	  receives_all, ONE },
	{ "one-to-one: receive, one waits for room", 1, helper_sends,
	  receive_it, closes, ONE },
	{ "one-to-one: receive from an empty buffer", 1, NULL, receive_it,
	  sends_all, ONE },
	{ "one-to-one: close, the sender comes", 1, helper_receives, close_it,
	  sends_once, ONE },
	{ "one-to-one: close, another closes", 1, helper_receives, close_it,
	  closes, ONE },
	{ "one-to-one: close, one waits for room", 1, helper_sends, close_it,
	  closes, ONE },
};

#define BUFFERED_FIRST	8
#define ONE_FIRST	15

/* Some of the calls, so that each test lasts no longer than others. */
struct range {
	size_t first, end;
};

static void *steer(void *arg)
{
	const struct range *range = arg;
	uint64_t random = test_seed(1);

	for (size_t i = range->first; i < range->end; i++) {
		size_t stops = 0, helped = 0, n = 1;

		while (n < STEPS_MOST && run_step(&calls[i], n, &helped)) {
			stops++;
			n += n < test_scaled(EVERY_STEP) ? 1 :
			     1 + test_random_below(&random, n);
		}
		printf("    %s: stopped at %zu steps", calls[i].name, stops);
		if (calls[i].helper)
			printf(", the one that waited came back at %zu",
			       helped);
		printf("\n");
		fflush(stdout);
		must(stops > 0 && (helped > 0) == (calls[i].helper != NULL));
	}
	return NULL;
}

#define COUNT	(sizeof(calls) / sizeof(calls[0]))

static void run_calls(size_t first, size_t end)
{
	static const struct weft_options options = {
		.vcpus = VCPUS, .slice_ns = -1,
	};
	struct range range = { first, end };
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, steer, &range), 0);
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
	runtime_end();
}

static void stopped_in_a_rendezvous_it_delays_no_other_call(void)
{
	run_calls(0, 4);
}

static void stopped_in_an_alt_a_time_out_or_a_close_neither(void)
{
	run_calls(4, 8);
}

static void stopped_at_a_buffer_neither(void)
{
	run_calls(BUFFERED_FIRST, ONE_FIRST);
}

static void stopped_at_a_one_to_one_channel_neither(void)
{
	run_calls(ONE_FIRST, COUNT);
}

static const struct test_case cases[] = {
	TEST(stopped_in_a_rendezvous_it_delays_no_other_call),
	TEST(stopped_in_an_alt_a_time_out_or_a_close_neither),
	TEST(stopped_at_a_buffer_neither),
	TEST(stopped_at_a_one_to_one_channel_neither),
};

TEST_MAIN("stall/chan", cases)
