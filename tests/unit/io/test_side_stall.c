/* SPDX-License-Identifier: MIT */
/*
 * test_side_stall.c - a post, a join or a part stops at each step; the others
 * wait for the same descriptor, and are woken
 *
 * The waits begin, and nobody parks: a thread that is told is one whose wait is
 * over. While the one is stopped the other kernel thread posts; then every wait
 * is over but what the stopped one is about to make known. It has another join
 * and posts again, and parts from everything. Waiters are so many that segments
 * of the list end, and are one in each mode.
 *
 * Or a post stops at all its steps. At each step the waiters that are told
 * part, and the next of those that have seen nobody waiting comes in.
 */
#include <errno.h>
#include <stdio.h>

#include "each_step.h"
#include "io/side.h"
#include "steps.h"
#include "support.h"
#include "sync/segment.h"
#include "thread/bare.h"

#define WAITERS		60
#define VICTIM		WAITERS		/* its place */
#define LATE		(WAITERS + 1)
#define STEPS_MOST	2000

struct waiter {
	struct wefti_thread *t;
	struct wefti_place place;
	uint64_t seq;
};

static struct wefti_sides sides;
static struct waiter waiter[WAITERS + 2];
static enum wefti_side_mode mode;
static unsigned count;			/* how many wait when the call begins */

static void join(struct waiter *w)
{
	uint32_t edges = wefti_side_edges(&sides, WEFTI_READ_SIDE);

	w->seq = wefti_wait_begin(w->t, 0);
	CU_ASSERT_EQUAL_FATAL(wefti_side_join(&sides, WEFTI_READ_SIDE,
			&w->place, w->t, w->seq, edges, mode), 0);
}

static int is_over(const struct waiter *w)
{
	return !wefti_wait_is_open(w->t, wefti_ticket(w->t, w->seq));
}

static void part(struct waiter *w)
{
	wefti_wait_resolve(w->t, w->seq, WEFTI_CAUSE_TIMEDOUT);
	wefti_side_part(&w->place, w->t);
}

/* Until all have been told. In mode ONE each tells the next. */
static void tell_all(void)
{
	wefti_side_post(&sides, WEFTI_READ_SIDE);
	for (unsigned i = 0; mode == WEFTI_SIDE_ONE && i < WAITERS + 1; i++)
		wefti_side_wake_next(&sides);
}

static void prepare(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < count; i++)
		join(&waiter[i]);
}

static void others(void *arg)
{
	(void)arg;
	tell_all();
	for (unsigned i = 0; i < count; i++)
		CU_ASSERT_TRUE_FATAL(is_over(&waiter[i]));
	join(&waiter[LATE]);
	tell_all();
	CU_ASSERT_TRUE_FATAL(is_over(&waiter[LATE]));
	part(&waiter[LATE]);
	join(&waiter[LATE]);	/* the same thread again */
	tell_all();
	CU_ASSERT_TRUE_FATAL(is_over(&waiter[LATE]));
	part(&waiter[LATE]);
	for (unsigned i = 0; i < count; i++)
		part(&waiter[i]);
}

/* Nothing has stayed: neither a ticket nor more memory than one segment. */
static void after(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < count; i++)
		if (waiter[i].place.list)
			part(&waiter[i]);
	CU_ASSERT_FALSE_FATAL(wefti_side_any_waits(&sides));
	CU_ASSERT_TRUE_FATAL(wefti_seg_count(&sides.one.first) <= 1);
	CU_ASSERT_TRUE_FATAL(wefti_seg_count(
			&sides.side[WEFTI_READ_SIDE].all.first) <= 1);
}

static void post_it(void *arg)
{
	(void)arg;
	wefti_side_post(&sides, WEFTI_READ_SIDE);
}

static void join_it(void *arg)
{
	(void)arg;
	join(&waiter[VICTIM]);
	tell_all();		/* as the others' may have been before it */
	CU_ASSERT_TRUE_FATAL(is_over(&waiter[VICTIM]));
	part(&waiter[VICTIM]);
}

static void run(enum wefti_side_mode in, unsigned how_many,
		void (*call)(void *arg), const char *name)
{
	const struct each_step what = {
		.prepare = prepare, .call = call, .others = others,
		.after = after,
	};
	size_t stops;

	mode = in;
	count = how_many;
	stops = each_step(&what, NULL);
	printf("    %s, beside %u: stopped at %zu steps\n", name, how_many,
	       stops);
	CU_ASSERT_TRUE(stops > 3 && stops < STEPS_MOST);
}

static void make_waiters(void)
{
	for (unsigned i = 0; i < sizeof(waiter) / sizeof(waiter[0]); i++)
		if (!waiter[i].t)
			waiter[i].t = wefti_thread_bare(WEFTI_KIND_FOREIGN,
							NULL);
}

static void run_beside(void (*call)(void *arg), const char *name)
{
	static const unsigned beside[] = { 0, 1, 2, 26, 27, WAITERS };

	make_waiters();
	for (unsigned i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		run(WEFTI_SIDE_ALL, beside[i], call, name);
		run(WEFTI_SIDE_ONE, beside[i], call, name);
	}
}

static void stopped_in_a_post_it_delays_no_other(void)
{
	run_beside(post_it, "post");
}

static void stopped_in_a_join_or_part_it_delays_no_other(void)
{
	run_beside(join_it, "join, part");
}

/*
 * These have looked at the list before anybody waited, and go on when nobody is
 * in the place for a lone one: before those that have come in the meantime. Then
 * they look at edges, or stop again before that until the post is over.
 */
#define DELAYED		12
#define FROM		40	/* steps, of which the coming begins at one */

static struct delayed {
	struct waiter w;
	uint64_t lone;
	uint32_t edges;
	int has_come;
} delayed[DELAYED];
static unsigned come;			/* how many of them have */
static int stops_again;

static struct wefti_waiters *list(void)
{
	return mode == WEFTI_SIDE_ONE ? &sides.one :
	       &sides.side[WEFTI_READ_SIDE].all;
}

static void looks(struct delayed *d)
{
	if (!d->w.t)
		d->w.t = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	d->has_come = 0;
	d->edges = wefti_side_edges(&sides, WEFTI_READ_SIDE);
	d->w.seq = wefti_wait_begin(d->w.t, 0);
	CU_ASSERT_TRUE_FATAL(wefti_waiters_takes_lone(list(), &d->lone));
}

/* The end of wefti_side_join(). */
static void looks_at_edges(struct delayed *d)
{
	if (wefti_side_edges(&sides, WEFTI_READ_SIDE) != d->edges)
		wefti_wait_resolve(d->w.t, d->w.seq, WEFTI_CAUSE_WOKEN);
}

static void comes(struct delayed *d)
{
	d->w.place.list = list();
	d->w.place.ticket = wefti_ticket(d->w.t, d->w.seq);
	d->w.place.cell[0] = 0;
	CU_ASSERT_TRUE_FATAL(wefti_waiters_add_lone(list(), d->lone,
						    d->w.place.ticket));
	d->has_come = 1;
	come++;
	if (!stops_again)
		looks_at_edges(d);
}

static void prepare_delayed(void *arg)
{
	come = 0;
	for (unsigned i = 0; i < DELAYED; i++)
		looks(&delayed[i]);
	prepare(arg);
}

static void part_if_over(struct waiter *w)
{
	if (w->place.list && is_over(w))
		wefti_side_part(&w->place, w->t);
}

static void next_comes(void *arg)
{
	(void)arg;
	part_if_over(&waiter[0]);	/* it was the lone one */
	for (unsigned i = 0; i < come; i++)
		part_if_over(&delayed[i].w);
	if (come < DELAYED && !load_relaxed(&list()->lone))
		comes(&delayed[come]);
}

/* Each has looked at edges before, or does it now. */
static void all_are_told(void *arg)
{
	for (unsigned i = 0; i < come; i++)
		looks_at_edges(&delayed[i]);
	for (unsigned i = 0; mode == WEFTI_SIDE_ONE && i < WAITERS + DELAYED;
	     i++)
		wefti_side_wake_next(&sides);
	for (unsigned i = 0; i < count; i++)
		CU_ASSERT_TRUE_FATAL(is_over(&waiter[i]));
	for (unsigned i = 0; i < DELAYED; i++) {
		if (delayed[i].has_come)
			CU_ASSERT_TRUE_FATAL(is_over(&delayed[i].w));
		part(&delayed[i].w);
		delayed[i].w.place.list = NULL;
	}
	after(arg);
}

/* In mode ONE with the threads that it wakes. */
static void tell_them(void *arg)
{
	(void)arg;
	tell_all();
}

static void tell_beside_delayed(enum wefti_side_mode in, unsigned how_many)
{
	const struct each_step what = {
		.prepare = prepare_delayed, .call = tell_them,
		.others = next_comes, .after = all_are_told,
	};
	unsigned most = 0;
	size_t stops = 1;

	mode = in;
	count = how_many;
	for (size_t n = 1; stops && n < FROM; n++) {
		stops = each_step_of_one(&what, NULL, n);
		if (come > most)
			most = come;
		CU_ASSERT_TRUE_FATAL(stops < STEPS_MOST);
	}
	printf("    post, beside %u: %u came in\n", how_many, most);
	CU_ASSERT_TRUE(most > 0);
}

static void a_post_tells_all_whoever_comes_before_them(void)
{
	static const unsigned beside[] = { 2, 27 };

	make_waiters();
	for (unsigned i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		for (stops_again = 0; stops_again < 2; stops_again++) {
			tell_beside_delayed(WEFTI_SIDE_ALL, beside[i]);
			tell_beside_delayed(WEFTI_SIDE_ONE, beside[i]);
		}
}

static const struct test_case cases[] = {
	TEST(stopped_in_a_post_it_delays_no_other),
	TEST(stopped_in_a_join_or_part_it_delays_no_other),
	TEST(a_post_tells_all_whoever_comes_before_them),
};

TEST_MAIN("io/side_stall", cases)
