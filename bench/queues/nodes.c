/* SPDX-License-Identifier: MIT */
/* queues/nodes.c - nodes of linked queues on their way back; see queues.h */
#include <stdlib.h>
#include <weft/spsc.h>

#include "queues/queues.h"

#define HELD	32u

/* One thread's. */
struct hand {
	alignas(128) void *node[HELD];
	size_t count;
};

static struct weft_spsc *back[QUEUE_PAIRS];
static struct hand producer[QUEUE_PAIRS], consumer[QUEUE_PAIRS];
static size_t node_bytes;

void *queue_node_extra(void)
{
	void *node = aligned_alloc(64, node_bytes);

	if (!node)
		bench_fail("no memory");
	return node;
}

void queue_nodes_init(unsigned pairs, size_t bytes)
{
	/* Any one of the rings has room for all. */
	size_t all = (size_t)QUEUE_CAPACITY * QUEUE_PAIRS;
	size_t ring_bytes = weft_spsc_bytes(all, sizeof(void *));

	node_bytes = (bytes + 63) / 64 * 64;
	for (unsigned p = 0; p < pairs; p++) {
		void *memory = aligned_alloc(WEFT_SPSC_ALIGN, ring_bytes);

		if (!memory || weft_spsc_init(&back[p], memory, ring_bytes,
					      all, sizeof(void *)) != 0)
			bench_fail("weft_spsc_init");
		producer[p].count = consumer[p].count = 0;
		for (size_t i = 0; i < QUEUE_CAPACITY; i++) {
			void *node = queue_node_extra();

			if (weft_spsc_push(back[p], &node) != 0)
				bench_fail("a ring is full");
		}
	}
}

void *queue_node_take(struct crew_member *me)
{
	unsigned p = queue_pair(me);
	struct hand *h = &producer[p];

	if (h->count == 0)
		h->count = weft_spsc_pop_many(back[p], h->node, HELD);
	return h->count ? h->node[--h->count] : NULL;
}

void queue_node_give(struct crew_member *me, void *node)
{
	unsigned p = queue_pair(me);
	struct hand *h = &consumer[p];

	h->node[h->count++] = node;
	if (h->count < HELD)
		return;
	if (weft_spsc_push_many(back[p], h->node, HELD) != HELD)
		bench_fail("a ring is full");
	h->count = 0;
}
