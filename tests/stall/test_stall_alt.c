/* SPDX-License-Identifier: MIT */
/*
 * test_stall_alt.c - one kernel thread stops at each step of an alt with a
 * descriptor in it, or of a call that such an alt meets; others go on
 *
 * As test_stall_chan.c does for channels alone. While it is stopped
 *   - messages go through the same channels, by alts in which a descriptor
 *     stands, too;
 *   - an alt on the same descriptor ends, by a message or its deadline, and so
 *     does the next one of the same thread, and the one after that;
 *   - alts on the same descriptor are woken by it, all of them, and so are those
 *     on another;
 *   - a thread that its alt joins ends.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "steer.h"

#include "thread/bare.h"
#include "thread/wait.h"

#define ARRIVALS	6
#define PROBES		4
#define EVERY_STEP	200	/* to the end of the wait, and what is behind */

enum { SHARED, OTHER, WOKEN, PIPES };

struct scene {
	struct stall_victim victim;
	struct weft_chan *chan[2];
	int fd[PIPES][2];
	uint64_t helper;
	uint64_t target;		/* the thread that the victim joins; or
					 * 0 */
	struct weft_sem gate;		/* until then it does not end */
	_Atomic int probes, arrived, told;
};

struct call {
	const char *name;
	int is_ready, closes;		/* SHARED, before and by it */
	void *(*helper)(void *scene);	/* is parked before; or NULL */
	void *(*run)(void *scene);
};

/* Sends or receives through one of the channels, unless the descriptor comes. */
static int alt_with(struct scene *s, unsigned op, int chan, int pipe_,
		    int64_t deadline)
{
	long x = 1;
	struct weft_alt a[] = {
		{ .op = op, .chan = s->chan[chan], .elem = &x },
		{ .op = WEFT_ALT_READY,
		  .u.ready = { .fd = s->fd[pipe_][0], .events = POLLIN } },
	};
	int at = weft_alt(a, 2, deadline);

	return at < 0 ? at : at == 0 && !a[0].error ? 0 : -EAGAIN;
}

static void *alt_it(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, (void)alt_with(s, WEFT_ALT_RECV, 0, SHARED,
					       WEFT_FOREVER));
	return NULL;
}

static void *time_out_it(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, (void)alt_with(s, WEFT_ALT_RECV, 0, SHARED, 1));
	return NULL;
}

static void *end_at_gate(void *arg)
{
	struct scene *s = arg;

	must(weft_sem_wait(&s->gate) == 0);
	return NULL;
}

/* All kinds that can be waited for on one side. */
static void alt_of_all(struct scene *s, int64_t deadline)
{
	long x;
	struct weft_alt a[] = {
		{ .op = WEFT_ALT_JOIN },
		{ .op = WEFT_ALT_RECV, .chan = s->chan[0], .elem = &x },
		{ .op = WEFT_ALT_TIME, .u.time = INT64_MAX - 1 },
		{ .op = WEFT_ALT_READY,
		  .u.ready = { .fd = s->fd[SHARED][0], .events = POLLIN } },
	};
	int at = -1;

	a[0].u.thread = s->target = spawn(end_at_gate, s);
	STALL_STEPS(&s->victim, at = weft_alt(a, 4, deadline));
	must(weft_sem_post(&s->gate) == 0);
	must(at != 0 || a[0].error == 0);
	if (at != 0)
		join(s->target);
}

static void *join_it(void *arg)
{
	alt_of_all(arg, WEFT_FOREVER);
	return NULL;
}

static void *time_out_the_join(void *arg)
{
	alt_of_all(arg, 1);
	return NULL;
}

static void *send_it(void *arg)
{
	struct scene *s = arg;
	long x = 1;

	STALL_STEPS(&s->victim,
		    (void)!weft_chan_send(s->chan[0], &x, WEFT_FOREVER));
	return NULL;
}

static void *close_it(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_close(s->fd[SHARED][0]) == 0));
	return NULL;
}

static void *helper_sends(void *arg)
{
	(void)alt_with(arg, WEFT_ALT_SEND, 0, SHARED, WEFT_FOREVER);
	return NULL;
}

static void *helper_receives(void *arg)
{
	(void)alt_with(arg, WEFT_ALT_RECV, 0, SHARED, WEFT_FOREVER);
	return NULL;
}

/* As alt_with(), through whichever channel comes. */
static int alt_any(struct scene *s, unsigned op, int pipe_, int64_t deadline)
{
	long x = 1;
	struct weft_alt a[] = {
		{ .op = op, .chan = s->chan[0], .elem = &x },
		{ .op = op, .chan = s->chan[1], .elem = &x },
		{ .op = WEFT_ALT_READY,
		  .u.ready = { .fd = s->fd[pipe_][0], .events = POLLIN } },
	};
	int at = weft_alt(a, 3, deadline);

	return at < 0 ? at : at < 2 && !a[at].error ? 0 : -EAGAIN;
}

/*
 * Until enough has arrived, here or at another; then until it is told by the
 * victim's descriptor. On that are two of each three alts before, too; it can be
 * ready or closed, and then they do not wait. Nobody depends on the deadline: a
 * victim that is to time out can be stopped as the one at work on a VCPU's timers.
 */
static void *probe(void *arg)
{
	struct scene *s = arg;
	int number = fetch_add_seq_cst(&s->probes, 1);

	for (int i = 0; load_seq_cst(&s->arrived) < ARRIVALS; i++) {
		unsigned op = number % 2 ? WEFT_ALT_SEND : WEFT_ALT_RECV;
		int on = i % 3 < 2 ? SHARED : OTHER;
		int got = alt_any(s, op, on, weft_clock() + 300000);

		must(got == 0 || got == -EAGAIN || got == -ETIMEDOUT);
		if (got == 0 && op == WEFT_ALT_RECV)
			fetch_add_seq_cst(&s->arrived, 1);
	}
	must(alt_with(s, WEFT_ALT_NONE, 0, SHARED, WEFT_FOREVER) == -EAGAIN);
	fetch_add_seq_cst(&s->told, 1);
	return NULL;
}

static void *await_woken(void *arg)
{
	struct scene *s = arg;

	must(alt_with(s, WEFT_ALT_NONE, 0, WOKEN, WEFT_FOREVER) == -EAGAIN);
	return NULL;
}

/* Enough has arrived, and a probe that is not told yet waits. */
static void tell_probes(struct scene *s, const uint64_t *id)
{
	int n;

	while (load_seq_cst(&s->arrived) < ARRIVALS)
		stall_nap();
	do {
		stall_nap();
		n = load_seq_cst(&s->told);
		for (unsigned i = 0; i < PROBES; i++)
			n += is_parked(id[i]);
	} while (n < PROBES);
	must(write(s->fd[SHARED][1], "x", 1) == 1 || errno == EPIPE);
	must(write(s->fd[OTHER][1], "x", 1) == 1);
}

/* The thread that the victim joins ends. It waits for nobody then. */
static void target_ends(const struct scene *s)
{
	uint64_t done = wefti_join_word((uint32_t)(s->target >> 32),
					WEFTI_JOIN_DONE);
	struct wefti_thread *t;

	while ((t = wefti_thread_find(s->target)) &&
	       load_seq_cst(&t->join) != done)
		stall_nap();
}

static void others_go_on(struct scene *s)
{
	uint64_t id[PROBES], woken;

	if (s->target) {
		must(weft_sem_post(&s->gate) == 0);
		target_ends(s);
	}
	for (unsigned i = 0; i < PROBES; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, probe, s);
	woken = spawn(await_woken, s);
	tell_probes(s, id);
	for (unsigned i = 0; i < PROBES; i++)
		join(id[i]);

	stall_await_parked(woken);
	must(write(s->fd[WOKEN][1], "x", 1) == 1);
	join(woken);
}

static void begin(struct scene *s, const struct call *c)
{
	for (int i = 0; i < 2; i++)
		must(weft_chan_create(&s->chan[i], sizeof(long), 0, 0) == 0);
	for (int i = 0; i < PIPES; i++)
		must(weft_pipe(s->fd[i], 0) == 0);
	if (c->is_ready)
		must(write(s->fd[SHARED][1], "x", 1) == 1);
	if (c->helper) {
		s->helper = spawn(c->helper, s);
		stall_await_parked(s->helper);
	}
	s->victim.id = spawn(c->run, s);
}

static void end(struct scene *s, const struct call *c)
{
	for (int i = 0; i < 2; i++)
		(void)weft_chan_close(s->chan[i]);
	join(s->victim.id);
	if (s->helper)
		join(s->helper);
	for (int i = 0; i < 2; i++)
		must(weft_chan_destroy(s->chan[i]) == 0);
	for (int i = 0; i < PIPES; i++) {
		if (i != SHARED || !c->closes)
			must(weft_close(s->fd[i][0]) == 0);
		must(weft_close(s->fd[i][1]) == 0);
	}
}

static int run_step(const struct call *c, size_t n)
{
	struct scene s = { .victim.n = n };
	int stopped;

	begin(&s, c);
	stopped = stall_await_stop(&s.victim);
	if (stopped)
		others_go_on(&s);
	steps_release();
	end(&s, c);
	return stopped;
}

static const struct call calls[] = {
	{ "alt, that waits", 0, 0, NULL, alt_it },
	{ "alt, that waits beside one that does", 0, 0, helper_receives,
	  alt_it },
	{ "alt, of what is ready", 1, 0, NULL, alt_it },
	{ "alt, that times out", 0, 0, NULL, time_out_it },
	{ "alt, that times out beside one that waits", 0, 0, helper_receives,
	  time_out_it },
	{ "alt, to meet an alt", 0, 0, helper_sends, alt_it },
	{ "send, to meet an alt", 0, 0, helper_receives, send_it },
	{ "close of a descriptor, an alt waits", 0, 1, helper_receives,
	  close_it },
	{ "alt, with a join and a time, that waits", 0, 0, NULL, join_it },
	{ "alt, with a join and a time, that times out", 0, 0, NULL,
	  time_out_the_join },
};

/* Some of the calls, so that each test lasts no longer than others. */
struct range {
	size_t first, end;
};

static void *steer(void *arg)
{
	const struct range *range = arg;
	uint64_t random = test_seed(1);

	for (size_t i = range->first; i < range->end; i++) {
		size_t stops = 0, n = 1;

		while (n < STALL_STEPS_MOST && run_step(&calls[i], n)) {
			stops++;
			n = n < test_scaled(EVERY_STEP) ? n + 1 :
			    stall_next_step(n, &random);
		}
		printf("    %s: stopped at %zu steps\n", calls[i].name, stops);
		fflush(stdout);
		must(stops > 0);
	}
	return NULL;
}

static void run_calls(size_t first, size_t end)
{
	struct range range = { first, end };

	signal(SIGPIPE, SIG_IGN);	/* where the victim has closed it */
	stall_steer(steer, &range);
}

static void stopped_in_an_alt_on_a_descriptor_it_delays_no_other(void)
{
	run_calls(0, 5);
}

static void stopped_where_such_an_alt_is_met_neither(void)
{
	run_calls(5, sizeof(calls) / sizeof(calls[0]));
}

static const struct test_case cases[] = {
	TEST(stopped_in_an_alt_on_a_descriptor_it_delays_no_other),
	TEST(stopped_where_such_an_alt_is_met_neither),
};

TEST_MAIN("stall/alt", cases)
