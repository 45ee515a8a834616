/* SPDX-License-Identifier: MIT */
/*
 * test_ring_stall.c - a producer or consumer stops at each step; the others see
 * a queue that does all that a queue does, "full" and "empty" included
 *
 * The control is a ring of tickets, in which one that stops with a ticket in hand
 * hides what was pushed behind it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "lockfree/ring.h"
#include "steps.h"
#include "support.h"

#define CAPACITY	4
#define STEPS_MOST	64
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

struct victim {
	const struct queue *queue;
	int pushes;
	size_t n;
	int result;
	uint64_t got;
	_Atomic int returned;
};

static void *victim_run(void *arg)
{
	struct victim *v = arg;

	steps_begin(v->n);
	v->result = v->pushes ? v->queue->push(MARK) : v->queue->pop(&v->got);
	steps_end();
	store_seq_cst(&v->returned, 1);
	return NULL;
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

/* Returns 1 if the call had an n-th step; what went wrong meanwhile is added. */
static int run_step(const struct queue *q, int pushes, size_t n,
		    unsigned *wrong)
{
	struct victim v = { .queue = q, .pushes = pushes, .n = n };
	pthread_t tid;
	int stopped;

	queues_begin();
	CU_ASSERT_EQUAL_FATAL(q->push(1), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&tid, NULL, victim_run, &v), 0);
	while (!steps_stopped() && !load_seq_cst(&v.returned))
		sched_yield();
	stopped = steps_stopped();
	if (stopped)
		*wrong += laps_go_wrong(q, pushes, 1);
	steps_release();
	pthread_join(tid, NULL);
	return stopped;
}

static unsigned run_all(const struct queue *q, int pushes)
{
	unsigned wrong = 0;
	size_t n = 1;

	while (n < STEPS_MOST && run_step(q, pushes, n, &wrong))
		n++;
	printf("    %s stopped at %zu steps, %u times hindered\n",
	       pushes ? "push" : "pop", n - 1, wrong);
	CU_ASSERT_TRUE(n > 2 && n < STEPS_MOST);
	return wrong;
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
