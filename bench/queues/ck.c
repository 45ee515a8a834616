/* SPDX-License-Identifier: MIT */
/*
 * queues/ck.c - Concurrency Kit: its ring, from one to one and from many to
 * many, and its FIFO from many to many
 *
 * The rings' capacity is one less than their size. The ring for many makes a
 * consumer wait for a producer that stops between two steps; the FIFO is
 * lock-free in the strict sense.
 */
#include "queues/queues.h"

#if defined(HAVE_CK)
#include <ck_fifo.h>
#include <ck_ring.h>

static alignas(128) ck_ring_t ring;
static alignas(128) ck_ring_buffer_t cells[QUEUE_CAPACITY];

static void ring_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)ctx;
	(void)pairs;
	ck_ring_init(&ring, QUEUE_CAPACITY);
}

static size_t spsc_put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (!ck_ring_enqueue_spsc(&ring, cells, (void *)(first + i)))
			return i;
	return n;
}

static size_t spsc_get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++) {
		void *e;

		if (!ck_ring_dequeue_spsc(&ring, cells, &e))
			return i;
		to[i] = (uintptr_t)e;
	}
	return n;
}

static size_t mpmc_put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (!ck_ring_enqueue_mpmc(&ring, cells, (void *)(first + i)))
			return i;
	return n;
}

static size_t mpmc_get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++) {
		void *e;

		if (!ck_ring_dequeue_mpmc(&ring, cells, &e))
			return i;
		to[i] = (uintptr_t)e;
	}
	return n;
}

#if defined(CK_F_FIFO_MPMC)
static alignas(128) ck_fifo_mpmc_t fifo;

static void fifo_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)ctx;
	queue_nodes_init(pairs, sizeof(ck_fifo_mpmc_entry_t));
	ck_fifo_mpmc_init(&fifo, queue_node_extra());
}

static size_t fifo_put(struct crew_member *me, uint64_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ck_fifo_mpmc_entry_t *node = queue_node_take(me);

		if (!node)
			return i;
		ck_fifo_mpmc_enqueue(&fifo, node, (void *)(first + i));
	}
	return n;
}

static size_t fifo_get(struct crew_member *me, uint64_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ck_fifo_mpmc_entry_t *node;
		void *e;

		if (!ck_fifo_mpmc_dequeue(&fifo, &e, &node))
			return i;
		to[i] = (uintptr_t)e;
		queue_node_give(me, node);
	}
	return n;
}
#endif

#else

static void ring_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)pairs;
	bench_skip(ctx, "Concurrency Kit is missing (Debian: libck-dev)");
}

#define spsc_put	NULL
#define spsc_get	NULL
#define mpmc_put	NULL
#define mpmc_get	NULL
#endif

#if !defined(CK_F_FIFO_MPMC)
#define fifo_init	ring_init
#define fifo_put	NULL
#define fifo_get	NULL
#endif

const struct queue_ops queue_ck_spsc = {
	.init = ring_init, .put = spsc_put, .get = spsc_get,
};

const struct queue_ops queue_ck_mpmc = {
	.init = ring_init, .put = mpmc_put, .get = mpmc_get,
};

const struct queue_ops queue_ck_fifo = {
	.init = fifo_init, .put = fifo_put, .get = fifo_get,
};
