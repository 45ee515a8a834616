/* SPDX-License-Identifier: MIT */
/* queues/weft.c - weft's ring from one to one, and that for many and many */
#include <stdlib.h>
#include <weft/ring.h>
#include <weft/spsc.h>

#include "queues/queues.h"

static struct weft_spsc *spsc;
static struct weft_ring *ring;

static void spsc_init(struct bench_ctx *ctx, unsigned pairs)
{
	size_t bytes = weft_spsc_bytes(QUEUE_CAPACITY, sizeof(uint64_t));
	void *memory = aligned_alloc(WEFT_SPSC_ALIGN, bytes);

	(void)ctx;
	(void)pairs;
	if (!memory || weft_spsc_init(&spsc, memory, bytes, QUEUE_CAPACITY,
				      sizeof(uint64_t)) != 0)
		bench_fail("weft_spsc_init");
}

static size_t spsc_put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++) {
		uint64_t e = first + i;

		if (weft_spsc_push(spsc, &e) != 0)
			return i;
	}
	return n;
}

static size_t spsc_get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (weft_spsc_pop(spsc, &to[i]) != 0)
			return i;
	return n;
}

static size_t spsc_put_many(struct crew_member *me, uint64_t first, size_t n)
{
	uint64_t e[QUEUE_RUN];

	(void)me;
	for (size_t i = 0; i < n; i++)
		e[i] = first + i;
	return weft_spsc_push_many(spsc, e, n);
}

static size_t spsc_get_many(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	return weft_spsc_pop_many(spsc, to, n);
}

static void ring_init(struct bench_ctx *ctx, unsigned pairs)
{
	size_t bytes = weft_ring_bytes(QUEUE_CAPACITY);
	void *memory = aligned_alloc(WEFT_RING_ALIGN, bytes);

	(void)ctx;
	(void)pairs;
	if (!memory || weft_ring_init(&ring, memory, bytes, QUEUE_CAPACITY))
		bench_fail("weft_ring_init");
}

static size_t ring_put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (weft_ring_push(ring, first + i) != 0)
			return i;
	return n;
}

static size_t ring_get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (weft_ring_pop(ring, &to[i]) != 0)
			return i;
	return n;
}

const struct queue_ops queue_spsc = {
	.init = spsc_init, .put = spsc_put, .get = spsc_get,
};

const struct queue_ops queue_spsc_many = {
	.init = spsc_init, .put = spsc_put_many, .get = spsc_get_many,
};

const struct queue_ops queue_ring = {
	.init = ring_init, .put = ring_put, .get = ring_get,
};
