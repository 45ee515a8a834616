/* SPDX-License-Identifier: MIT */
/*
 * test_steps_one.c - a call on a one-to-one channel that does not wait takes a
 * bounded number of steps, whatever the other side does meanwhile
 *
 * Two kernel threads, one a side; the atomic operations of one of them are
 * counted, call by call, first alone and then beside the other, which calls as
 * fast as it can, and closes the channel now and then.
 */
#include "threads.h"

#include <pthread.h>

#include "lockfree/atomic.h"
#include "steps.h"

#define CAPACITY	2
#define CHANNELS	60
#define CALLS		400

/* What the code takes with the channel full, empty or closed, and some more. */
#define STEPS_MOST	24

static struct {
	struct weft_chan *chan;
	int counts_sends;
	size_t most, calls, done;
	struct weft_barrier begin, end;
	_Atomic int over;
} scene;

static int call(int sends, uint64_t x)
{
	return sends ? weft_chan_send(scene.chan, &x, WEFT_NO_WAIT) :
		       weft_chan_recv(scene.chan, &x, WEFT_NO_WAIT);
}

static void count(int sends, uint64_t x)
{
	size_t taken;
	int error;

	steps_begin(SIZE_MAX);
	error = call(sends, x);
	steps_end();
	taken = steps_taken();
	must(error == 0 || error == -EAGAIN || error == -EPIPE);
	if (taken > scene.most)
		scene.most = taken;
	scene.calls++;
	scene.done += error == 0;
}

/* Of a channel that nobody else calls: full, empty, closed. */
static void *count_alone(void *unused)
{
	(void)unused;
	must(weft_chan_create(&scene.chan, 8, CAPACITY,
			      WEFT_CHAN_ONE_TO_ONE) == 0);
	for (int closed = 0; closed < 2; closed++) {
		for (uint64_t i = 0; i <= CAPACITY; i++)
			count(1, i);
		for (uint64_t i = 0; i <= CAPACITY; i++)
			count(0, i);
		if (!closed)
			count(1, 0);
		must(weft_chan_close(scene.chan) == (closed ? -EALREADY : 0));
	}
	count(0, 0);
	count(0, 0);
	must(weft_chan_destroy(scene.chan) == 0);
	return NULL;
}

static void *count_beside(void *unused)
{
	(void)unused;
	for (int i = 0; i < CHANNELS; i++) {
		weft_barrier_wait(&scene.begin);
		for (int k = 0; k < CALLS; k++)
			count(scene.counts_sends, (uint64_t)k);
		store_seq_cst(&scene.over, 1);
		weft_barrier_wait(&scene.end);
	}
	return NULL;
}

static void *hurry(void *unused)
{
	(void)unused;
	for (int i = 0; i < CHANNELS; i++) {
		must(weft_chan_create(&scene.chan, 8, CAPACITY,
				      WEFT_CHAN_ONE_TO_ONE) == 0);
		store_seq_cst(&scene.over, 0);
		weft_barrier_wait(&scene.begin);
		for (uint64_t k = 0; !load_seq_cst(&scene.over); k++) {
			(void)call(!scene.counts_sends, k);
			if (i % 4 == 0 && k == CALLS)
				must(weft_chan_close(scene.chan) == 0);
		}
		weft_barrier_wait(&scene.end);
		must(weft_chan_destroy(scene.chan) == 0);
	}
	return NULL;
}

/* In fresh kernel threads, which weft has not made. */
static void run(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t thread[2];

	must(weft_barrier_init(&scene.begin, 2) == 0);
	must(weft_barrier_init(&scene.end, 2) == 0);
	must(pthread_create(&thread[0], NULL, first, NULL) == 0);
	if (second)
		must(pthread_create(&thread[1], NULL, second, NULL) == 0);
	must(pthread_join(thread[0], NULL) == 0);
	if (second)
		must(pthread_join(thread[1], NULL) == 0);
	must(weft_barrier_destroy(&scene.begin) == 0);
	must(weft_barrier_destroy(&scene.end) == 0);
}

static void each_call_has_a_bounded_number_of_steps(void)
{
	size_t alone;

	scene.most = scene.calls = scene.done = 0;
	run(count_alone, NULL);
	alone = scene.most;
	CU_ASSERT_TRUE(alone > 3);	/* they are counted */
	CU_ASSERT_TRUE(alone <= STEPS_MOST);
	for (int sends = 0; sends < 2; sends++) {
		scene.counts_sends = sends;
		scene.most = scene.calls = scene.done = 0;
		run(count_beside, hurry);
		printf("    %s: %zu steps at most in %zu calls, %zu of them "
		       "done (alone: %zu)\n", sends ? "send" : "receive",
		       scene.most, scene.calls, scene.done, alone);
		CU_ASSERT_TRUE(scene.most <= STEPS_MOST);
	}
}

static const struct test_case cases[] = {
	TEST(each_call_has_a_bounded_number_of_steps),
};

TEST_MAIN("stall/steps_one", cases)
