/* SPDX-License-Identifier: MIT */
/*
 * queues/queues.h - what the suite asks of a queue
 *
 * A queue is two loops over its own calls, compiled where the calls are, so
 * that those that a header inlines are inlined. An element is a word, not 0.
 */
#ifndef WEFT_BENCH_QUEUES_H
#define WEFT_BENCH_QUEUES_H

#include "bench.h"
#include "crew.h"

#define QUEUE_CAPACITY	1024u
#define QUEUE_RUN	32u	/* elements in a call of put and get, at most */
#define QUEUE_PAIRS	4u	/* producers, and as many consumers */

struct queue_ops {
	/* Makes the queue for so many producers, or skips the sample. */
	void (*init)(struct bench_ctx *ctx, unsigned pairs);
	/*
	 * Elements first, first + 1 ... one by one, n of them. Returns how many,
	 * fewer than n when it was full.
	 */
	size_t (*put)(struct crew_member *me, uint64_t first, size_t n);
	/* One by one, up to n. Returns how many, fewer when it was empty. */
	size_t (*get)(struct crew_member *me, uint64_t *to, size_t n);
	/* May be NULL: for a thread that begins, waits, ends. */
	void (*enter)(struct crew_member *me);
	void (*rest)(struct crew_member *me);
	void (*leave)(struct crew_member *me);
};

/* The pair that a member belongs to. Producers come first. */
static inline unsigned queue_pair(const struct crew_member *me)
{
	return me->index % (me->crew->count / 2);
}

extern const struct queue_ops queue_spsc, queue_spsc_many, queue_ring;
extern const struct queue_ops queue_tickets, queue_mutex;
extern const struct queue_ops queue_ck_spsc, queue_ck_mpmc, queue_ck_fifo;
extern const struct queue_ops queue_wfcqueue, queue_lfqueue;
extern const struct queue_ops queue_boost_spsc, queue_boost_spsc_many;
extern const struct queue_ops queue_boost_queue;
extern const struct queue_ops queue_chan;

/*
 * The body for the time in members that are green threads, on as many VCPUs as
 * the sample has; for queue_chan.
 */
void queue_run_green(struct crew *c, struct bench_ctx *ctx, unsigned pairs,
		     void (*body)(struct crew_member *me));

/*
 * Nodes of linked queues. A consumer that takes an element off has its node. It
 * hands nodes to the producer of its pair, 32 at a time, by a ring that is
 * never full. That costs a queue less than any allocator would. A producer
 * without a node finds the queue full.
 */
void *queue_node_take(struct crew_member *me);
void queue_node_give(struct crew_member *me, void *node);
/* QUEUE_CAPACITY nodes for each pair. */
void queue_nodes_init(unsigned pairs, size_t bytes);
/* One more, kept for ever: a dummy. */
void *queue_node_extra(void);

#endif
