/* SPDX-License-Identifier: MIT */
/*
 * queues/locked.c - what everybody would write: a ring of tickets, and a mutex
 * with condition variables
 *
 * The tickets are D. Vyukov's bounded queue. It is fast, and not lock-free: if
 * a thread that has taken a ticket stops, the others wait for it.
 */
#include "queues/queues.h"

static struct {
	alignas(128) _Atomic uint64_t tail;
	alignas(128) _Atomic uint64_t head;
	alignas(128) struct {
		_Atomic uint64_t seq;
		uint64_t element;
	} cell[QUEUE_CAPACITY];
} tickets;

static void tickets_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)ctx;
	(void)pairs;
	for (uint64_t i = 0; i < QUEUE_CAPACITY; i++)
		store_relaxed(&tickets.cell[i].seq, i);
}

static int tickets_push(uint64_t e)
{
	uint64_t t = load_relaxed(&tickets.tail);

	for (;;) {
		unsigned i = t % QUEUE_CAPACITY;
		uint64_t seq = load_acquire(&tickets.cell[i].seq);

		if ((int64_t)(seq - t) < 0)
			return 0;
		if (seq != t) {
			t = load_relaxed(&tickets.tail);
		} else if (cas_weak_relaxed(&tickets.tail, &t, t + 1)) {
			tickets.cell[i].element = e;
			store_release(&tickets.cell[i].seq, t + 1);
			return 1;
		}
	}
}

static int tickets_pop(uint64_t *e)
{
	uint64_t t = load_relaxed(&tickets.head);

	for (;;) {
		unsigned i = t % QUEUE_CAPACITY;
		uint64_t seq = load_acquire(&tickets.cell[i].seq);

		if ((int64_t)(seq - (t + 1)) < 0)
			return 0;
		if (seq != t + 1) {
			t = load_relaxed(&tickets.head);
		} else if (cas_weak_relaxed(&tickets.head, &t, t + 1)) {
			*e = tickets.cell[i].element;
			store_release(&tickets.cell[i].seq,
				      t + QUEUE_CAPACITY);
			return 1;
		}
	}
}

static size_t tickets_put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (!tickets_push(first + i))
			return i;
	return n;
}

static size_t tickets_get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (!tickets_pop(&to[i]))
			return i;
	return n;
}

const struct queue_ops queue_tickets = {
	.init = tickets_init, .put = tickets_put, .get = tickets_get,
};

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t not_full, not_empty;
	uint64_t head, tail;
	unsigned producers, consumers;		/* that wait */
	uint64_t element[QUEUE_CAPACITY];
} locked = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.not_full = PTHREAD_COND_INITIALIZER,
	.not_empty = PTHREAD_COND_INITIALIZER,
};

static void locked_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)ctx;
	(void)pairs;
	locked.head = locked.tail = 0;
}

static size_t locked_put(struct crew_member *me, uint64_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int wake;

		pthread_mutex_lock(&locked.mutex);
		while (locked.tail - locked.head == QUEUE_CAPACITY &&
		       !crew_is_over(me)) {
			locked.producers++;
			pthread_cond_wait(&locked.not_full, &locked.mutex);
			locked.producers--;
		}
		if (locked.tail - locked.head == QUEUE_CAPACITY) {
			pthread_mutex_unlock(&locked.mutex);
			return i;
		}
		locked.element[locked.tail++ % QUEUE_CAPACITY] = first + i;
		wake = locked.consumers > 0;
		pthread_mutex_unlock(&locked.mutex);
		if (wake)
			pthread_cond_signal(&locked.not_empty);
	}
	return n;
}

static size_t locked_get(struct crew_member *me, uint64_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int wake;

		pthread_mutex_lock(&locked.mutex);
		while (locked.tail == locked.head && !crew_is_over(me)) {
			locked.consumers++;
			pthread_cond_wait(&locked.not_empty, &locked.mutex);
			locked.consumers--;
		}
		if (locked.tail == locked.head) {
			pthread_mutex_unlock(&locked.mutex);
			return i;
		}
		to[i] = locked.element[locked.head++ % QUEUE_CAPACITY];
		wake = locked.producers > 0;
		pthread_mutex_unlock(&locked.mutex);
		if (wake)
			pthread_cond_signal(&locked.not_full);
	}
	return n;
}

/* It is over. The waiting threads see that, because one thread has seen it. */
static void locked_leave(struct crew_member *me)
{
	(void)me;
	pthread_mutex_lock(&locked.mutex);
	pthread_cond_broadcast(&locked.not_full);
	pthread_cond_broadcast(&locked.not_empty);
	pthread_mutex_unlock(&locked.mutex);
}

const struct queue_ops queue_mutex = {
	.init = locked_init, .put = locked_put, .get = locked_get,
	.leave = locked_leave,
};
