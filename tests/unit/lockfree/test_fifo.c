/* SPDX-License-Identifier: MIT */
/* test_fifo.c - lockfree/fifo: order, nodes that travel, tags, many threads */
#include "lockfree/fifo.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define PUSHERS		2
#define POPPERS		2
#define QUEUES		2

/* An item, as a thread would be one: it owns a node. */
struct work {
	uint32_t node;
	uint32_t pusher;
	size_t number;			/* the pusher's n-th, from 1 */
};

static void queue_begin(struct wefti_fifo *q, uint32_t dummy)
{
	CU_ASSERT_EQUAL_FATAL(wefti_fifo_reserve(dummy), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_fifo_init(q, dummy), 0);
}

static void push(struct wefti_fifo *q, struct work *w)
{
	wefti_fifo_push(q, w->node, w);
}

static struct work *pop(struct wefti_fifo *q)
{
	uint32_t spare;
	struct work *w = wefti_fifo_pop(q, &spare);

	if (w != NULL)
		w->node = spare;
	return w;
}

static void fifo_is_empty_after_init(void)
{
	struct wefti_fifo q;
	uint32_t spare = 77;

	queue_begin(&q, 3);
	CU_ASSERT_TRUE(wefti_fifo_is_empty(&q));
	CU_ASSERT_PTR_NULL(wefti_fifo_pop(&q, &spare));
	CU_ASSERT_EQUAL(spare, 77);
	CU_ASSERT_EQUAL(wefti_fifo_fini(&q), 3);
}

static void fifo_gives_items_in_order_and_each_another_node(void)
{
	enum { COUNT = 10000 };
	static struct work w[COUNT];
	static unsigned char owners[COUNT + 1];
	struct wefti_fifo q;

	CU_ASSERT_EQUAL_FATAL(wefti_fifo_reserve(COUNT), 0);
	queue_begin(&q, 0);
	for (int lap = 0; lap < 3; lap++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			if (lap == 0)
				w[i].node = i + 1;
			push(&q, &w[i]);
			CU_ASSERT_FALSE(wefti_fifo_is_empty(&q));
		}
		for (uint32_t i = 0; i < COUNT; i++)
			CU_ASSERT_PTR_EQUAL(pop(&q), &w[i]);
		CU_ASSERT_PTR_NULL(pop(&q));
		CU_ASSERT_TRUE(wefti_fifo_is_empty(&q));
	}

	/* No node was lost or is owned twice. */
	owners[wefti_fifo_fini(&q)]++;
	for (uint32_t i = 0; i < COUNT; i++)
		owners[w[i].node]++;
	for (uint32_t i = 0; i <= COUNT; i++)
		CU_ASSERT_EQUAL(owners[i], 1);
}

static void fifo_works_when_every_tag_wraps(void)
{
	struct work w[2] = { { .node = 1 }, { .node = 2 } };
	struct wefti_fifo q;

	queue_begin(&q, 2);
	queue_begin(&q, 0);
	for (uint32_t i = 0; i < 3; i++)
		store_relaxed(&wefti_fifo_node(i)->next,
			      (uint64_t)UINT32_MAX << 32 | (UINT32_MAX - 5));
	store_relaxed(&q.head, (uint64_t)(UINT32_MAX - 3));
	store_relaxed(&q.tail, (uint64_t)(UINT32_MAX - 4));
	for (int lap = 0; lap < 20; lap++) {
		push(&q, &w[0]);
		push(&q, &w[1]);
		CU_ASSERT_PTR_EQUAL(pop(&q), &w[0]);
		CU_ASSERT_PTR_EQUAL(pop(&q), &w[1]);
		CU_ASSERT_PTR_NULL(pop(&q));
	}
}

/* A pusher that was stopped after its link: others move the tail for it. */
static void fifo_goes_on_behind_a_tail_that_was_left_behind(void)
{
	struct work w[3] = { { .node = 1 }, { .node = 2 }, { .node = 3 } };
	struct wefti_fifo q;

	queue_begin(&q, 3);
	for (int by_push = 0; by_push < 2; by_push++) {
		queue_begin(&q, 0);
		for (uint32_t i = 0; i < 3; i++)
			w[i].node = i + 1;

		uint64_t tail = load_relaxed(&q.tail);

		push(&q, &w[0]);
		store_relaxed(&q.tail, tail);
		CU_ASSERT_FALSE(wefti_fifo_is_empty(&q));
		if (by_push)
			push(&q, &w[1]);
		CU_ASSERT_PTR_EQUAL(pop(&q), &w[0]);
		CU_ASSERT_PTR_EQUAL(pop(&q), by_push ? &w[1] : NULL);
		push(&q, &w[2]);
		CU_ASSERT_PTR_EQUAL(pop(&q), &w[2]);
		CU_ASSERT_PTR_NULL(pop(&q));
	}
}

static void fifo_reserve_refuses_what_no_table_holds(void)
{
	CU_ASSERT_EQUAL(wefti_fifo_reserve(WEFTI_FIFO_NODES), -ENOMEM);
	CU_ASSERT_EQUAL(wefti_fifo_reserve(UINT32_MAX), -ENOMEM);
	CU_ASSERT_EQUAL(wefti_fifo_reserve(3 * WEFTI_FIFO_CHUNK_NODES), 0);
	CU_ASSERT_PTR_NOT_NULL(wefti_fifo_node(3 * WEFTI_FIFO_CHUNK_NODES));
	CU_ASSERT_EQUAL(load_relaxed(
		&wefti_fifo_node(3 * WEFTI_FIFO_CHUNK_NODES)->next), 0);
}

static pthread_barrier_t reserve_barrier;

static void *reserver(void *arg)
{
	uint32_t upto = *(const uint32_t *)arg;

	pthread_barrier_wait(&reserve_barrier);
	if (wefti_fifo_reserve(upto) != 0)
		return arg;
	/* Plain: a write to the nodes of whoever won the race. */
	for (uint32_t i = upto & ~(WEFTI_FIFO_CHUNK_NODES - 1); i <= upto; i++)
		if (load_relaxed(&wefti_fifo_node(i)->next) != 0)
			return arg;
	return NULL;
}

static void fifo_reserve_may_be_called_by_many_at_once(void)
{
	static uint32_t upto = 10 * WEFTI_FIFO_CHUNK_NODES + 5;
	pthread_t tid[4];
	void *failed;

	pthread_barrier_init(&reserve_barrier, NULL, 4);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, reserver,
						     &upto), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(tid[i], &failed);
		CU_ASSERT_PTR_NULL(failed);
	}
	pthread_barrier_destroy(&reserve_barrier);
}

/*
 * Items go round: a pusher takes one from the free queue, numbers it, and
 * pushes it on the work queue; a popper gives it back. So nodes wander between
 * two queues and are reused all the time, which is what the tags are for. The
 * plain fields of an item are what ThreadSanitizer checks the pairs by.
 */
static struct crew {
	struct wefti_fifo queue[QUEUES];	/* free, work */
	size_t per_pusher;
	_Atomic size_t left;
} crew;

struct popper {
	size_t last[PUSHERS];
	size_t count, out_of_order, sum;
};

static void *pusher(void *arg)
{
	uint32_t id = *(const uint32_t *)arg;

	for (size_t n = 1; n <= crew.per_pusher; n++) {
		struct work *w;

		while ((w = pop(&crew.queue[0])) == NULL)
			sched_yield();
		w->pusher = id;
		w->number = n;
		push(&crew.queue[1], w);
	}
	return NULL;
}

static void *popper(void *arg)
{
	struct popper *p = arg;

	while (load_relaxed(&crew.left) > 0) {
		struct work *w = pop(&crew.queue[1]);

		if (w == NULL) {
			sched_yield();
			continue;
		}
		p->out_of_order += w->number <= p->last[w->pusher];
		p->last[w->pusher] = w->number;
		p->sum += w->number;
		p->count++;
		fetch_sub_relaxed(&crew.left, (size_t)1);
		push(&crew.queue[0], w);
	}
	return NULL;
}

static void fifo_keeps_every_item_once_and_in_order_as_nodes_wander(void)
{
	enum { ITEMS = 5 };
	static struct work work[ITEMS];
	static uint32_t id[PUSHERS];
	struct popper p[POPPERS];
	pthread_t tid[PUSHERS + POPPERS];
	size_t count = 0, sum = 0, n = test_scaled(100000);

	memset(p, 0, sizeof(p));
	crew.per_pusher = n;
	store_relaxed(&crew.left, n * PUSHERS);
	CU_ASSERT_EQUAL_FATAL(wefti_fifo_reserve(QUEUES + ITEMS), 0);
	for (uint32_t i = 0; i < QUEUES; i++)
		queue_begin(&crew.queue[i], i);
	for (uint32_t i = 0; i < ITEMS; i++) {
		work[i].node = QUEUES + i;
		push(&crew.queue[0], &work[i]);
	}
	for (uint32_t i = 0; i < PUSHERS; i++) {
		id[i] = i;
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, pusher,
						     &id[i]), 0);
	}
	for (uint32_t i = 0; i < POPPERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[PUSHERS + i], NULL,
						     popper, &p[i]), 0);
	for (uint32_t i = 0; i < PUSHERS + POPPERS; i++)
		pthread_join(tid[i], NULL);

	for (uint32_t i = 0; i < POPPERS; i++) {
		CU_ASSERT_EQUAL(p[i].out_of_order, 0);
		count += p[i].count;
		sum += p[i].sum;
	}
	CU_ASSERT_EQUAL(count, PUSHERS * n);
	CU_ASSERT_EQUAL(sum, PUSHERS * (n * (n + 1) / 2));

	/* Every node is still somewhere, once. */
	unsigned char owners[QUEUES + ITEMS] = { 0 };

	for (int i = 0; i < ITEMS; i++) {
		struct work *w = pop(&crew.queue[0]);

		CU_ASSERT_PTR_NOT_NULL_FATAL(w);
		owners[w->node]++;
	}
	for (int i = 0; i < QUEUES; i++) {
		CU_ASSERT_TRUE(wefti_fifo_is_empty(&crew.queue[i]));
		owners[wefti_fifo_fini(&crew.queue[i])]++;
	}
	for (int i = 0; i < QUEUES + ITEMS; i++)
		CU_ASSERT_EQUAL(owners[i], 1);
}

static const struct test_case cases[] = {
	TEST(fifo_is_empty_after_init),
	TEST(fifo_gives_items_in_order_and_each_another_node),
	TEST(fifo_works_when_every_tag_wraps),
	TEST(fifo_goes_on_behind_a_tail_that_was_left_behind),
	TEST(fifo_reserve_refuses_what_no_table_holds),
	TEST(fifo_reserve_may_be_called_by_many_at_once),
	TEST(fifo_keeps_every_item_once_and_in_order_as_nodes_wander),
};

TEST_MAIN("lockfree/fifo", cases)
