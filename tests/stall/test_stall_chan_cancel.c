/* SPDX-License-Identifier: MIT */
/*
 * test_stall_chan_cancel.c - a thread waits off its stack, its kernel thread stops at each
 * step, and the wait is cancelled then
 *
 * The cancelled thread returns on another VCPU, while what it has left to be done on the
 * next thread's stack is not finished. It fills the dead part of its stack with the ticket
 * of a thread that waits in the same channel since. What was stopped goes on, and must not
 * take anything from there: the thread that waits gets its message. Otherwise the test does
 * not end.
 */
#include "steer.h"

#include "chan/chan.h"
#include "thread/bare.h"

#define QUIET_NAPS	20
#define STEPS_MOST	150	/* then its kernel thread looks for others */
#define DEAD_WORDS	1024

struct scene {
	struct stall_victim victim;
	struct weft_chan *chan;
	_Atomic int cancelled, filled;
	_Atomic uint64_t fill;		/* 0: not known yet */
};

/* What lies deeper in the stack than the caller. */
static NOINLINE uint64_t fill_dead_part(uint64_t word)
{
	volatile uint64_t dead[DEAD_WORDS];

	for (size_t i = 0; i < DEAD_WORDS; i++)
		dead[i] = word;
	return dead[DEAD_WORDS - 1];
}

static void *wait_and_be_cancelled(void *arg)
{
	struct scene *s = arg;
	int error;
	long x;

	STALL_STEPS(&s->victim, error = weft_chan_recv(s->chan, &x, WEFT_FOREVER));
	must(error == -ECANCELED);
	store_seq_cst(&s->cancelled, 1);
	while (!load_seq_cst(&s->fill))
		weft_yield();
	must(fill_dead_part(load_seq_cst(&s->fill)) != 0);
	store_seq_cst(&s->filled, 1);
	return NULL;
}

static void *receive(void *arg)
{
	long x = 0;

	must(weft_chan_recv(arg, &x, WEFT_FOREVER) == 0 && x == 7);
	return NULL;
}

/* The ticket of the thread, which waits alone. */
static uint64_t await_ticket(struct weft_chan *c, uint64_t id)
{
	uint64_t lone;

	while (!(lone = load_seq_cst(&c->receivers.lone)) ||
	       wefti_ticket_thread(lone) != wefti_thread_find(id))
		stall_nap();
	return lone;
}

/* The victim has returned, and its kernel thread is stopped. */
static void go_on_beside_another(struct scene *s)
{
	const uint64_t id = spawn_with(WEFT_LIGHT, receive, s->chan);
	const long x = 7;

	store_seq_cst(&s->fill, await_ticket(s->chan, id));
	while (!load_seq_cst(&s->filled))
		stall_nap();
	steps_release();
	/* Until that has gone on, in all likelihood. */
	for (int i = 0; i < QUIET_NAPS; i++)
		stall_nap();
	while (weft_chan_send(s->chan, &x, WEFT_NO_WAIT) != 0)
		stall_nap();
	join(id);
}

struct counts {
	size_t stops, returns;
};

static int run_step(size_t capacity, size_t step, struct counts *n)
{
	struct scene s = { .victim.n = step };
	int stopped;

	must(weft_chan_create(&s.chan, sizeof(long), capacity, 0) == 0);
	s.victim.id = spawn_with(WEFT_LIGHT, wait_and_be_cancelled, &s);
	stopped = stall_await_stop(&s.victim);
	must(weft_cancel(s.victim.id) == 0);
	for (int i = 0; stopped && i < QUIET_NAPS && !load_seq_cst(&s.cancelled); i++)
		stall_nap();
	n->stops += (size_t)stopped;
	if (stopped && load_seq_cst(&s.cancelled)) {
		n->returns++;
		go_on_beside_another(&s);
	}
	steps_release();
	store_seq_cst(&s.fill, 1);
	join(s.victim.id);
	must(weft_chan_destroy(s.chan) == 0);
	return stopped;
}

static void *steer(void *arg)
{
	for (size_t capacity = 0; capacity < 2; capacity++) {
		struct counts n = { 0, 0 };
		size_t step = 1;

		while (step < STEPS_MOST && run_step(capacity, step, &n))
			step++;
		printf("    capacity %zu: stopped at %zu steps, the thread returned at "
		       "%zu\n", capacity, n.stops, n.returns);
		fflush(stdout);
		must(n.returns > 1);
	}
	return arg;
}

static void nothing_is_read_from_the_stack_of_a_thread_that_went_on(void)
{
	stall_steer(steer, NULL);
}

static const struct test_case cases[] = {
	TEST(nothing_is_read_from_the_stack_of_a_thread_that_went_on),
};

TEST_MAIN("stall/chan_cancel", cases)
