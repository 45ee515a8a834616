/* SPDX-License-Identifier: MIT */
/*
 * test_ring_stall.c - a producer or consumer stops at each step; the others see
 * a queue that does all that a queue does, "full" and "empty" included
 *
 * The control is a ring of tickets, in which one that stops with a ticket in hand
 * hides what was pushed behind it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "each_step.h"
#include "lockfree/ring.h"
#include "support.h"

#define CAPACITY	4
#define MARK		UINT64_C(1000)	/* what the stopped one pushes */

/* D. Vyukov's bounded ring: the least that does. */
static struct tickets {
	_Atomic uint64_t tail, head;
	struct {
		_Atomic uint64_t seq;
		uint64_t element;
	} cell[CAPACITY];
} tickets;

static int tickets_push(uint64_t e)
{
	uint64_t t = load_relaxed(&tickets.tail);

	for (;;) {
		uint64_t seq = load_acquire(&tickets.cell[t % CAPACITY].seq);

		if ((int64_t)(seq - t) < 0)
			return -EAGAIN;
		if (seq != t) {
			t = load_relaxed(&tickets.tail);
		} else if (cas_weak_relaxed(&tickets.tail, &t, t + 1)) {
			tickets.cell[t % CAPACITY].element = e;
			store_release(&tickets.cell[t % CAPACITY].seq, t + 1);
			return 0;
		}
	}
}

static int tickets_pop(uint64_t *e)
{
	uint64_t t = load_relaxed(&tickets.head);

	for (;;) {
		uint64_t seq = load_acquire(&tickets.cell[t % CAPACITY].seq);

		if ((int64_t)(seq - (t + 1)) < 0)
			return -EAGAIN;
		if (seq != t + 1) {
			t = load_relaxed(&tickets.head);
		} else if (cas_weak_relaxed(&tickets.head, &t, t + 1)) {
			*e = tickets.cell[t % CAPACITY].element;
			store_release(&tickets.cell[t % CAPACITY].seq,
				      t + CAPACITY);
			return 0;
		}
	}
}

static alignas(WEFT_RING_ALIGN) unsigned char memory[1024];
static struct weft_ring *ring;

static int ring_push(uint64_t e)
{
	return weft_ring_push(ring, e);
}

static int ring_pop(uint64_t *e)
{
	return weft_ring_pop(ring, e);
}

struct queue {
	int (*push)(uint64_t e);
	int (*pop)(uint64_t *e);
};

static const struct queue ring_queue = { ring_push, ring_pop };
static const struct queue ticket_queue = { tickets_push, tickets_pop };

static void queues_begin(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_ring_init(&ring, memory, sizeof(memory),
					     CAPACITY), 0);
	memset(&tickets, 0, sizeof(tickets));
	for (uint64_t i = 0; i < CAPACITY; i++)
		store_relaxed(&tickets.cell[i].seq, i);
}

struct scene {
	const struct queue *queue;
	int pushes;			/* the victim */
	uint64_t got;
	unsigned wrong;			/* meanwhile */
};

static void prepare(void *arg)
{
	struct scene *s = arg;

	queues_begin();
	CU_ASSERT_EQUAL_FATAL(s->queue->push(1), 0);
}

static void call(void *arg)
{
	struct scene *s = arg;

	if (s->pushes)
		(void)s->queue->push(MARK);
	else
		(void)s->queue->pop(&s->got);
}

/*
 * Laps by one thread, with what is in the queue known but for the stopped call:
 * its element is there from some moment on, or gone from some moment on. Returns
 * how often the queue was not what it must be.
 */
static unsigned laps_go_wrong(const struct queue *q, int victim_pushes,
			      uint64_t first)
{
	unsigned wrong = 0;
	uint64_t e = 0, want = first, next = first + 1;

	/* What was there before: one, unless the stopped pop has it already. */
	if (q->pop(&e) != 0)
		wrong += victim_pushes;
	else if (e != want)
		wrong += e != MARK;
	/* The stopped push may have been done; then it is next. */
	if (q->pop(&e) == 0)
		wrong += !victim_pushes || e != MARK;
	for (int lap = 0; lap < 3; lap++) {
		wrong += q->pop(&e) == 0;
		for (uint64_t i = 0; i < CAPACITY; i++)
			wrong += q->push(next + i) != 0;
		wrong += q->push(next) == 0;
		for (uint64_t i = 0; i < CAPACITY; i++)
			wrong += q->pop(&e) != 0 || e != next + i;
		next += CAPACITY;
	}
	return wrong;
}

static void others(void *arg)
{
	struct scene *s = arg;

	s->wrong += laps_go_wrong(s->queue, s->pushes, 1);
}

static unsigned run_all(const struct queue *q, int pushes)
{
	static const struct each_step stops = {
		.prepare = prepare, .call = call, .others = others,
	};
	struct scene s = { .queue = q, .pushes = pushes };
	size_t steps = each_step(&stops, &s);

	printf("    %s stopped at %zu steps, %u times hindered\n",
	       pushes ? "push" : "pop", steps, s.wrong);
	CU_ASSERT_TRUE(steps > 1);
	return s.wrong;
}

static void a_stopped_push_hinders_nobody(void)
{
	CU_ASSERT_EQUAL(run_all(&ring_queue, 1), 0);
}

static void a_stopped_pop_hinders_nobody(void)
{
	CU_ASSERT_EQUAL(run_all(&ring_queue, 0), 0);
}

static void the_ticket_ring_fails_the_same_test(void)
{
	CU_ASSERT_TRUE(run_all(&ticket_queue, 1) > 0);
	CU_ASSERT_TRUE(run_all(&ticket_queue, 0) > 0);
}

static const struct test_case cases[] = {
	TEST(a_stopped_push_hinders_nobody),
	TEST(a_stopped_pop_hinders_nobody),
	TEST(the_ticket_ring_fails_the_same_test),
};

TEST_MAIN("lockfree/ring_stall", cases)
