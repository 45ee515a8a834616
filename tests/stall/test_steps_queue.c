/* SPDX-License-Identifier: MIT */
/*
 * test_steps_queue.c - how many steps the calls of others take on a queue of
 * ready threads, while a kernel thread is stopped at each step of an enqueue, a
 * dequeue or a steal
 *
 * A step is an atomic operation of the kernel thread that calls. First the
 * others are one kernel thread. The stopped one has made its changes before. So
 * no compare-and-swap fails, except once for a tail that it has not moved. Each
 * call then has as many steps as the code has in a line, and once more for a
 * tail that was left. A steal has two steps more for each slot that it copies;
 * there are 127 slots at most:
 *
 *	push, pop, pop at the tail, steal of one	RING_MOST
 *	steal						RING_MOST + 2 * 127
 *	push and pop of the shared queue		FIFO_MOST
 *
 * Ten times as many calls, in which time it stays stopped, take no more each.
 *
 * Then there are OTHERS of them at once. A call is lock-free: it can be made to
 * begin again any number of times, each time by another's success. So what is
 * bounded is their sum. One change of the word, of head or of tail makes each of
 * the OTHERS - 1 begin again once at most. A push of the shared queue makes two
 * changes, its link and tail, and the link is met by a look that then moves tail
 * itself: three. That is, for each call on the average,
 *
 *	steps alone + changes * (OTHERS - 1) * steps of a try
 */
#include "each_step.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lockfree/fifo.h"
#include "lockfree/ready_ring.h"
#include "steps.h"
#include "support.h"

#define RING_MOST	6
#define FIFO_MOST	20
#define COPIES_MOST	(2 * (WEFTI_RING_CAPACITY / 2 - 1))

#define FIFO_TRY	8	/* steps of one round of its loops */
#define OTHERS		3
#define CHANGES		3

#define ROUNDS		20	/* and ten times that */
#define ITEMS		8
#define FILLED		(WEFTI_RING_CAPACITY - 2)

enum { ONE, MANY, COUNTS };	/* rounds, and ten times as many */

static struct {
	struct wefti_ring ring, mine, other;
	struct wefti_fifo fifo;
	uint32_t node[ITEMS + 1];	/* of an item; the last is the victim's */
	unsigned items;
	size_t rounds;
	size_t calls[COUNTS], most[COUNTS], steal_most[COUNTS];
	_Atomic size_t sum, sum_calls;
	unsigned stop;
	int is_spinning;
	_Atomic uint32_t lock;
	unsigned hindered;
} scene;

static struct wefti_thread *const a_thread = (void *)&scene.node[0];

static int many(void)
{
	return scene.rounds > ROUNDS;
}

static void took(size_t *most, size_t before)
{
	size_t steps = steps_own() - before;

	if (steps > most[many()])
		most[many()] = steps;
	scene.calls[many()]++;
}

#define COUNT(most, call)						\
	do {								\
		size_t before_ = steps_own();				\
		call;							\
		took(most, before_);					\
	} while (0)

/* The ring: the victim is a thief, or the owner. */

static void steal(void *unused)
{
	struct wefti_thread *first;

	(void)unused;
	(void)wefti_ring_steal(&scene.ring, &scene.mine, &first);
}

static void steal_one(void *unused)
{
	(void)unused;
	(void)wefti_ring_steal_one(&scene.ring);
}

static void push(void *unused)
{
	(void)unused;
	(void)!wefti_ring_push(&scene.ring, a_thread);
}

static void pop(void *unused)
{
	(void)unused;
	(void)wefti_ring_pop(&scene.ring);
}

static void pop_tail(void *unused)
{
	(void)unused;
	(void)wefti_ring_pop_tail(&scene.ring);
}

static void fill_ring(void *unused)
{
	(void)unused;
	wefti_ring_init(&scene.ring);
	wefti_ring_init(&scene.mine);
	wefti_ring_init(&scene.other);
	for (unsigned i = 0; i < FILLED; i++)
		CU_ASSERT_EQUAL_FATAL(wefti_ring_push(&scene.ring, a_thread),
				      0);
}

static void empty_other(void)
{
	struct wefti_thread *t;

	do
		COUNT(scene.most, t = wefti_ring_pop(&scene.other));
	while (t);
}

static void steal_counted(void)
{
	struct wefti_thread *first;

	COUNT(scene.steal_most,
	      (void)wefti_ring_steal(&scene.ring, &scene.other, &first));
	empty_other();
}

/* Every third stop lasts ten times as many calls. */
static size_t rounds(void)
{
	return scene.rounds = scene.stop++ % 3 ? ROUNDS : 10 * ROUNDS;
}

static void thieves(void *unused)
{
	size_t n = rounds();

	(void)unused;
	for (size_t i = 0; i < n; i++) {
		struct wefti_thread *t;

		COUNT(scene.most, t = wefti_ring_steal_one(&scene.ring));
		(void)t;
		if (i % 8 == 7)
			steal_counted();
	}
}

static void owner_and_thieves(void *unused)
{
	int error;
	size_t n;

	thieves(unused);
	n = scene.rounds;
	for (size_t i = 0; i < n; i++) {
		do
			COUNT(scene.most,
			      error = wefti_ring_push(&scene.ring, a_thread));
		while (!error && i % 16 == 0);	/* until it is full */
		COUNT(scene.most, (void)wefti_ring_pop(&scene.ring));
		COUNT(scene.most, (void)wefti_ring_pop_tail(&scene.ring));
		COUNT(scene.most, error = wefti_ring_pop_tail_if(&scene.ring,
								 a_thread));
		if (i % 8 == 7)
			steal_counted();
	}
}

/* The shared queue. Item i is its number and 1. */

static void *item_of(uint32_t i)
{
	return &scene.node[i];
}

static int lock_if_spinning(void)
{
	return !scene.is_spinning || each_step_spin(&scene.lock);
}

static void unlock_if_spinning(void)
{
	if (scene.is_spinning)
		store_release(&scene.lock, 0u);
}

static void fifo_push(uint32_t i)
{
	if (!lock_if_spinning()) {
		scene.hindered++;
		return;
	}
	wefti_fifo_push(&scene.fifo, scene.node[i], item_of(i));
	unlock_if_spinning();
}

static uint32_t *fifo_pop(void)
{
	uint32_t spare, *item;

	if (!lock_if_spinning()) {
		scene.hindered++;
		return NULL;
	}
	item = wefti_fifo_pop(&scene.fifo, &spare);
	if (item)
		*item = spare;
	unlock_if_spinning();
	return item;
}

static void fill_fifo(void *unused)
{
	(void)unused;
	store_relaxed(&scene.lock, 0u);
	CU_ASSERT_EQUAL_FATAL(wefti_fifo_reserve(ITEMS + 1), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_fifo_init(&scene.fifo, ITEMS + 1), 0);
	for (uint32_t i = 0; i <= ITEMS; i++)
		scene.node[i] = i;
	for (uint32_t i = 0; i < scene.items; i++)
		fifo_push(i);
}

static void call_fifo_push(void *unused)
{
	(void)unused;
	fifo_push(ITEMS);
}

static void call_fifo_pop(void *unused)
{
	(void)unused;
	(void)fifo_pop();
}

/* All comes out, and goes in again. */
static void use_fifo(void *unused)
{
	size_t n = rounds();

	(void)unused;
	for (size_t i = 0; i < n; i++) {
		uint32_t *item[ITEMS + 1];
		int got = 0, empty;

		for (uint32_t *p; got <= ITEMS; item[got++] = p) {
			COUNT(scene.most, p = fifo_pop());
			if (!p)
				break;
		}
		COUNT(scene.most, empty = wefti_fifo_is_empty(&scene.fifo));
		(void)empty;
		while (got > 0) {
			got--;
			COUNT(scene.most,
			      fifo_push((uint32_t)(item[got] - scene.node)));
		}
	}
}

/* Several of them at once, on items of their own. */

static void *use_beside(void *arg)
{
	uint32_t *item = arg;
	size_t before = steps_own(), calls = 0, steps;

	while (calls < 2 * scene.rounds) {
		fifo_push((uint32_t)(item - scene.node));
		for (calls++; calls++, !(item = fifo_pop()); )
			;
	}
	/* Goes in: there are always more than are taken out. */
	fifo_push((uint32_t)(item - scene.node));
	steps = steps_own() - before;
	fetch_add_relaxed(&scene.sum, steps);
	fetch_add_relaxed(&scene.sum_calls, calls + 1);
	return NULL;
}

static void use_fifo_together(void *unused)
{
	pthread_t thread[OTHERS];

	(void)unused;
	scene.rounds = 100;
	for (uint32_t i = 0; i < OTHERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL,
				use_beside, item_of(ITEMS - 1 - i)), 0);
	for (int i = 0; i < OTHERS; i++)
		pthread_join(thread[i], NULL);
}

static void begin(void)
{
	memset(&scene, 0, sizeof(scene));
}

static void run(const char *name, const struct each_step *what,
		size_t most, size_t steal_most)
{
	size_t stops = 0;

	begin();
	for (unsigned filled = 0; filled <= 2; filled += 2) {
		scene.items = filled;
		stops += each_step(what, NULL);
	}
	CU_ASSERT_TRUE(stops > 3);
	printf("    %s stopped at %zu steps; %zu and %zu calls of another take "
	       "%zu and %zu at most; steals %zu and %zu\n", name, stops,
	       scene.calls[ONE], scene.calls[MANY], scene.most[ONE],
	       scene.most[MANY], scene.steal_most[ONE],
	       scene.steal_most[MANY]);
	for (int k = 0; k < COUNTS; k++) {
		CU_ASSERT_TRUE(scene.most[k] > 1);	/* they are counted */
		CU_ASSERT_TRUE(scene.most[k] <= most);
		CU_ASSERT_TRUE(scene.steal_most[k] <= steal_most);
	}
}

static void run_ring(const char *name, void (*call)(void *),
		     void (*others)(void *))
{
	const struct each_step what = {
		.prepare = fill_ring, .call = call, .others = others,
	};

	run(name, &what, RING_MOST, RING_MOST + COPIES_MOST);
}

static void a_stopped_thief_costs_no_call_a_step(void)
{
	run_ring("steal", steal, owner_and_thieves);
	run_ring("steal of one", steal_one, owner_and_thieves);
}

static void a_stopped_owner_costs_no_thief_a_step(void)
{
	run_ring("push", push, thieves);
	run_ring("pop", pop, thieves);
	run_ring("pop at the tail", pop_tail, thieves);
}

static void a_stopped_enqueue_or_dequeue_costs_a_call_one_try(void)
{
	const struct each_step pushes = {
		.prepare = fill_fifo, .call = call_fifo_push,
		.others = use_fifo,
	}, pops = {
		.prepare = fill_fifo, .call = call_fifo_pop, .others = use_fifo,
	};

	run("enqueue", &pushes, FIFO_MOST, 0);
	run("dequeue", &pops, FIFO_MOST, 0);
}

static void several_others_take_as_many_steps_as_they_do_changes(void)
{
	const struct each_step what[] = {
		{ .prepare = fill_fifo, .call = call_fifo_push,
		  .others = use_fifo_together },
		{ .prepare = fill_fifo, .call = call_fifo_pop,
		  .others = use_fifo_together },
	};

	for (int i = 0; i < 2; i++) {
		size_t bound;

		begin();
		scene.items = 2;
		CU_ASSERT_TRUE(each_step(&what[i], NULL) > 1);
		bound = scene.sum_calls * (FIFO_MOST +
					   CHANGES * (OTHERS - 1) * FIFO_TRY);
		printf("    %d others: %zu steps in %zu calls\n", OTHERS,
		       scene.sum, scene.sum_calls);
		CU_ASSERT_TRUE(scene.sum > 3 * scene.sum_calls);
		CU_ASSERT_TRUE(scene.sum <= bound);
	}
}

static void a_queue_behind_a_spin_lock_fails_the_same_test(void)
{
	const struct each_step what = {
		.prepare = fill_fifo, .call = call_fifo_push,
		.others = use_fifo,
	};

	begin();
	scene.is_spinning = 1;
	scene.items = 2;
	CU_ASSERT_TRUE(each_step(&what, NULL) > 1);
	printf("    a spin lock: %zu steps at most\n", scene.most[ONE]);
	CU_ASSERT_TRUE(scene.hindered > 0);
	CU_ASSERT_TRUE(scene.most[ONE] > 10 * FIFO_MOST);
}

static const struct test_case cases[] = {
	TEST(a_stopped_thief_costs_no_call_a_step),
	TEST(a_stopped_owner_costs_no_thief_a_step),
	TEST(a_stopped_enqueue_or_dequeue_costs_a_call_one_try),
	TEST(several_others_take_as_many_steps_as_they_do_changes),
	TEST(a_queue_behind_a_spin_lock_fails_the_same_test),
};

TEST_MAIN("stall/steps_queue", cases)
