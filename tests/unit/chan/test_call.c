/* SPDX-License-Identifier: MIT */
/*
 * test_call.c - chan/call: the quick ways of a send and a receive do what the
 * slow one does, with messages of every size, on every kind of channel
 */
#include "threads.h"

#include <pthread.h>
#include <string.h>

#include "crowd.h"

/* Both ways of each kind: words, the usual word, and what is longer. */
static const size_t sizes[] = { 0, 1, 3, 4, 7, 8, 9, 24, 100 };

static const struct kind {
	size_t capacity;
	unsigned flags;
} kinds[] = {
	{ 0, 0 }, { 0, WEFT_CHAN_ONE_TO_ONE }, { 1, 0 }, { 3, 0 },
	{ 1, WEFT_CHAN_ONE_TO_ONE }, { 3, WEFT_CHAN_ONE_TO_ONE },
};

#define LONGEST	100

static struct weft_chan *c;

static void fill(unsigned char *to, size_t n, size_t seed)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(seed * 31 + i * 7 + 1);
}

static void each(void (*run)(const struct kind *kind, size_t bytes))
{
	runtime_begin();
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			must(weft_chan_create(&c, sizes[s], kinds[k].capacity,
					      kinds[k].flags) == 0);
			run(&kinds[k], sizes[s]);
			must(weft_chan_destroy(c) == 0);
		}
	runtime_end();
}

/* A receive that gets nothing, for whatever reason, leaves the place as it is. */
static int try_recv(int64_t deadline)
{
	unsigned char buf[LONGEST], before[LONGEST];
	int error;

	memset(buf, 0xee, sizeof(buf));
	memcpy(before, buf, sizeof(buf));
	error = weft_chan_recv(c, buf, deadline);
	if (error)
		must(memcmp(buf, before, sizeof(buf)) == 0);
	return error;
}

static int try_send(int64_t deadline)
{
	unsigned char buf[LONGEST];

	fill(buf, sizeof(buf), 3);
	return weft_chan_send(c, buf, deadline);
}

/* It cannot go: at once, behind the deadline, and not before one. */
static void expect_nothing(int (*try_it)(int64_t deadline))
{
	int64_t soon = weft_clock() + 50000;

	must(try_it(WEFT_NO_WAIT) == -EAGAIN);
	must(try_it(1) == -ETIMEDOUT);
	must(try_it(soon) == -ETIMEDOUT);
	must(weft_clock() >= soon);
}

static void run_deadlines(const struct kind *kind, size_t bytes)
{
	(void)bytes;
	expect_nothing(try_recv);
	for (size_t i = 0; i < kind->capacity; i++)
		must(try_send(1) == 0);
	expect_nothing(try_send);
	must(weft_chan_length(c) == kind->capacity);
	/* What can go does so behind its deadline too. */
	for (size_t i = 0; i < kind->capacity; i++)
		must(try_recv(1) == 0);
	expect_nothing(try_recv);
}

static void a_call_that_cannot_go_ends_at_its_deadline(void)
{
	each(run_deadlines);
}

static void *foreign_deadlines(void *arg)
{
	expect_nothing(try_recv);
	run_deadlines(arg, 0);
	return NULL;
}

static void run_in_kernel_thread(void *(*fn)(void *), const void *arg)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, fn, (void *)(uintptr_t)arg) == 0);
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
}

static void run_foreign_deadlines(const struct kind *kind, size_t bytes)
{
	if (bytes == 8 || bytes == 24)
		run_in_kernel_thread(foreign_deadlines, kind);
}

static void so_does_one_of_a_foreign_thread(void)
{
	each(run_foreign_deadlines);
}

#define MESSAGES	6

static void *send_some(void *arg)
{
	size_t n = *(size_t *)arg;
	unsigned char buf[LONGEST];

	for (size_t i = 0; i < MESSAGES; i++) {
		fill(buf, n, i);
		must(weft_chan_send(c, n ? buf : NULL, WEFT_FOREVER) == 0);
		memset(buf, 0, sizeof(buf));	/* it is ours again */
	}
	return NULL;
}

static void expect_some(size_t n)
{
	unsigned char buf[LONGEST + 2], expected[LONGEST];

	for (size_t i = 0; i < MESSAGES; i++) {
		memset(buf, 0xee, sizeof(buf));
		fill(expected, n, i);
		/* Every third is dropped. */
		must(weft_chan_recv(c, i % 3 == 2 ? NULL : buf + 1,
				    WEFT_FOREVER) == 0);
		if (i % 3 == 2)
			continue;
		must(memcmp(buf + 1, expected, n) == 0);
		must(buf[0] == 0xee && buf[n + 1] == 0xee);
	}
}

static void run_sizes(const struct kind *kind, size_t bytes)
{
	uint64_t id = spawn(send_some, &bytes);

	(void)kind;
	crowd_await_in(id, c);		/* in the second or so */
	expect_some(bytes);
	join(id);
}

static void a_message_of_each_size_arrives_alone(void)
{
	each(run_sizes);
}

/* On channels that could take and give: it asks itself to end before. */
static void *call_cancelled(void *arg)
{
	(void)arg;
	must(weft_cancel(weft_self()) == 0);
	must(try_send(WEFT_NO_WAIT) == -ECANCELED);
	must(try_recv(WEFT_NO_WAIT) == -ECANCELED);
	must(try_send(WEFT_FOREVER) == -ECANCELED);
	must(try_recv(WEFT_FOREVER) == -ECANCELED);
	return NULL;
}

static void *call_holding_off(void *arg)
{
	const struct kind *kind = arg;

	must(weft_cancel(weft_self()) == 0);
	weft_cancel_hold();
	must(try_send(1) == (kind->capacity ? 0 : -ETIMEDOUT));
	must(try_recv(1) == (kind->capacity ? 0 : -ETIMEDOUT));
	weft_cancel_release();
	must(try_recv(WEFT_FOREVER) == -ECANCELED);
	return NULL;
}

static void run_cancelled(const struct kind *kind, size_t bytes)
{
	(void)bytes;
	join(spawn(call_cancelled, NULL));
	must(weft_chan_length(c) == 0);
	/* Nor has it become the sender, or the receiver. */
	if (kind->capacity) {
		must(try_send(WEFT_NO_WAIT) == 0);
		join(spawn(call_cancelled, NULL));
		must(weft_chan_length(c) == 1);
		must(try_recv(WEFT_NO_WAIT) == 0);
	}
	must(try_send(WEFT_NO_WAIT) == (kind->capacity ? 0 : -EAGAIN));
	must(try_recv(WEFT_NO_WAIT) == (kind->capacity ? 0 : -EAGAIN));
}

static void a_cancelled_call_does_nothing_where_it_could(void)
{
	each(run_cancelled);
}

static void run_holding_off(const struct kind *kind, size_t bytes)
{
	(void)bytes;
	join(spawn(call_holding_off, (void *)(uintptr_t)kind));
	must(weft_chan_length(c) == 0);
}

static void a_thread_that_holds_a_cancellation_off_goes_on(void)
{
	each(run_holding_off);
}

static void *use_it(void *arg)
{
	const struct kind *kind = arg;

	must(try_send(WEFT_NO_WAIT) == (kind->capacity ? 0 : -EAGAIN));
	must(try_recv(WEFT_NO_WAIT) == (kind->capacity ? 0 : -EAGAIN));
	return NULL;
}

static void *be_refused(void *arg)
{
	(void)arg;
	must(try_send(WEFT_NO_WAIT) == -EPERM);
	must(try_recv(WEFT_NO_WAIT) == -EPERM);
	must(try_send(WEFT_FOREVER) == -EPERM);
	must(try_recv(WEFT_FOREVER) == -EPERM);
	return NULL;
}

/* Whoever they are; also when the first has ended. */
static void run_owned(const struct kind *kind, size_t bytes)
{
	if (!kind->flags)
		return;
	join(spawn(use_it, (void *)(uintptr_t)kind));
	be_refused(NULL);
	join(spawn_with(WEFT_LIGHT, be_refused, NULL));
	if (bytes == 8)
		run_in_kernel_thread(be_refused, NULL);
	must(weft_chan_length(c) == 0);
}

static void others_than_the_first_are_refused(void)
{
	each(run_owned);
}

static const struct test_case cases[] = {
	TEST(a_call_that_cannot_go_ends_at_its_deadline),
	TEST(so_does_one_of_a_foreign_thread),
	TEST(a_message_of_each_size_arrives_alone),
	TEST(a_cancelled_call_does_nothing_where_it_could),
	TEST(a_thread_that_holds_a_cancellation_off_goes_on),
	TEST(others_than_the_first_are_refused),
};

TEST_MAIN("chan/call", cases)
