/* SPDX-License-Identifier: MIT */
/*
 * test_steps_one.c - a call on a one-to-one channel that does not wait takes a
 * bounded number of steps, whatever the other side does meanwhile
 *
 * Two kernel threads, one a side. The atomic operations of one of them are
 * counted, call by call. It calls alone first, and then beside the other, which
 * calls as fast as it can, and closes the channel now and then. Then come calls
 * that each wake the other side, a thread of the runtime or a foreign one.
 * Making it ready is the scheduler's; the steps of that count too, where no
 * other thread is ready. (With more ready threads than a VCPU's ring holds, it
 * is a push into a lock-free queue, and the steps of that have no bound.)
 */
#include "threads.h"

#include <pthread.h>

#include "lockfree/atomic.h"
#include "sched/seat.h"
#include "steps.h"
#include "thread/wait.h"

#define CAPACITY	2
#define CHANNELS	60
#define CALLS		400

/* What the code takes with the channel full, empty or closed, and some more. */
#define STEPS_MOST	24

/*
 * The same with the other side parked. A thread whose VCPU was taken in the call, as it
 * is on a loaded machine, puts the other side into the queue of injection: 64 and more.
 */
#define WAKES		300
#define WAKING_MOST	128

static struct {
	struct weft_chan *chan;
	int counts_sends;
	size_t most, calls, done;
	struct weft_barrier begin, end;
	_Atomic int over;
	_Atomic(struct wefti_thread *) partner;
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

/* A channel that nobody else calls: full, empty, closed. */
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

/* Does the opposite of what is counted, and waits each time. */
static void *wait_again(void *unused)
{
	uint64_t x = 0;
	int error;

	store_seq_cst(&scene.partner, wefti_known_self());
	do
		error = scene.counts_sends ?
			weft_chan_recv(scene.chan, &x, WEFT_FOREVER) :
			weft_chan_send(scene.chan, &x, WEFT_FOREVER);
	while (!error);
	must(error == -EPIPE);
	return unused;
}

static uint64_t wait_word(void)
{
	struct wefti_thread *t = load_seq_cst(&scene.partner);

	return t ? load_seq_cst(&t->wait) : 0;
}

/* The wait word of the partner, when it is parked. */
static uint64_t await_parked(void)
{
	uint64_t w;

	while (((w = wait_word()) & WEFTI_WAIT_PHASE) != WEFTI_WAIT_PARKED)
		rest();
	return w;
}

static void count_wakes(int is_foreign)
{
	pthread_t foreign;
	uint64_t id = 0;

	scene.most = scene.calls = scene.done = 0;
	store_seq_cst(&scene.partner, NULL);
	must(weft_chan_create(&scene.chan, 8, CAPACITY,
			      WEFT_CHAN_ONE_TO_ONE) == 0);
	if (is_foreign)
		must(pthread_create(&foreign, NULL, wait_again, NULL) == 0);
	else
		id = spawn(wait_again, NULL);
	for (uint64_t i = 0; i < WAKES; i++) {
		uint64_t parked = await_parked();

		count(scene.counts_sends, i);
		must(wait_word() != parked);	/* it was woken */
	}
	await_parked();
	must(weft_chan_close(scene.chan) == 0);
	if (is_foreign)
		must(pthread_join(foreign, NULL) == 0);
	else
		join(id);
	must(weft_chan_destroy(scene.chan) == 0);
}

static void a_call_that_wakes_has_a_bounded_number_of_steps(void)
{
	for (int i = 0; i < 8; i++) {
		struct weft_options o = { .vcpus = 1 + i / 4, .slice_ns = -1 };
		int is_foreign = i / 2 % 2;

		scene.counts_sends = i % 2;
		must(weft_start(&o) == 0);
		count_wakes(is_foreign);
		runtime_end();
		printf("    %s that wakes a %s thread, %u VCPUs: %zu steps at "
		       "most in %zu calls\n",
		       scene.counts_sends ? "send" : "receive",
		       is_foreign ? "foreign" : "green", (unsigned)o.vcpus,
		       scene.most, scene.calls);
		CU_ASSERT_EQUAL(scene.done, WAKES);
		CU_ASSERT_TRUE(scene.most <= WAKING_MOST);
	}
}

static const struct test_case cases[] = {
	TEST(each_call_has_a_bounded_number_of_steps),
	TEST(a_call_that_wakes_has_a_bounded_number_of_steps),
};

TEST_MAIN("stall/steps_one", cases)
