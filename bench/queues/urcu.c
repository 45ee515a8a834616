/* SPDX-License-Identifier: MIT */
/*
 * queues/urcu.c - liburcu's queues: wfcqueue with producers that never wait,
 * and lfqueue, which is lock-free and gives its nodes back by grace periods
 *
 * More than one consumer of wfcqueue takes its lock. Neither has a capacity:
 * lfqueue's producers look now and then how much was taken out.
 */
#include "queues/queues.h"

#if defined(HAVE_URCU_CDS)
#include <stdlib.h>
#include <urcu/urcu-qsbr.h>
#include <urcu/rculfqueue.h>
#include <urcu/wfcqueue.h>

struct wfc_node {
	struct cds_wfcq_node node;
	uint64_t element;
};

static struct cds_wfcq_head wfc_head;
static alignas(128) struct cds_wfcq_tail wfc_tail;
static int is_alone;			/* the consumer */

static void wfc_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)ctx;
	queue_nodes_init(pairs, sizeof(struct wfc_node));
	cds_wfcq_init(&wfc_head, &wfc_tail);
	is_alone = pairs == 1;
}

static size_t wfc_put(struct crew_member *me, uint64_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct wfc_node *node = queue_node_take(me);

		if (!node)
			return i;
		node->element = first + i;
		cds_wfcq_node_init(&node->node);
		cds_wfcq_enqueue(&wfc_head, &wfc_tail, &node->node);
	}
	return n;
}

static size_t wfc_get(struct crew_member *me, uint64_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cds_wfcq_node *node = is_alone ?
			__cds_wfcq_dequeue_blocking(&wfc_head, &wfc_tail) :
			cds_wfcq_dequeue_blocking(&wfc_head, &wfc_tail);

		if (!node)
			return i;
		/* The node is the first member. */
		to[i] = ((struct wfc_node *)node)->element;
		queue_node_give(me, node);
	}
	return n;
}

struct lfq_node {
	struct cds_lfq_node_rcu node;
	struct rcu_head head;
	uint64_t element;
};

static struct cds_lfq_queue_rcu lfq;

/* How many elements each thread has put or taken. */
static struct {
	alignas(128) _Atomic uint64_t n;
} lfq_done[2 * QUEUE_PAIRS];

static void lfq_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)ctx;
	(void)pairs;
	cds_lfq_init_rcu(&lfq, urcu_qsbr_call_rcu);
}

static uint64_t lfq_length(const struct crew_member *me)
{
	uint64_t length = 0;

	for (unsigned i = 0; i < me->crew->count / 2; i++)
		length += load_relaxed(&lfq_done[i].n) -
			load_relaxed(&lfq_done[me->crew->count / 2 + i].n);
	return length;
}

static void lfq_rest(struct crew_member *me)
{
	(void)me;
	urcu_qsbr_quiescent_state();
}

static void lfq_count(struct crew_member *me, size_t n)
{
	uint64_t done = load_relaxed(&lfq_done[me->index].n);

	store_relaxed(&lfq_done[me->index].n, done + n);
	lfq_rest(me);
}

static size_t lfq_put(struct crew_member *me, uint64_t first, size_t n)
{
	if ((int64_t)lfq_length(me) > (int64_t)QUEUE_CAPACITY)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct lfq_node *node = malloc(sizeof(*node));

		if (!node)
			bench_fail("no memory");
		node->element = first + i;
		cds_lfq_node_init_rcu(&node->node);
		cds_lfq_enqueue_rcu(&lfq, &node->node);
	}
	lfq_count(me, n);
	return n;
}

static void lfq_free(struct rcu_head *head)
{
	free((char *)head - offsetof(struct lfq_node, head));
}

static size_t lfq_get(struct crew_member *me, uint64_t *to, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct lfq_node *node = (void *)cds_lfq_dequeue_rcu(&lfq);

		if (!node)
			break;
		to[i] = node->element;
		urcu_qsbr_call_rcu(&node->head, lfq_free);
	}
	lfq_count(me, i);
	return i;
}

static void lfq_enter(struct crew_member *me)
{
	(void)me;
	urcu_qsbr_register_thread();
}

static void lfq_leave(struct crew_member *me)
{
	(void)me;
	urcu_qsbr_unregister_thread();
}

#else

static void wfc_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)pairs;
	bench_skip(ctx, "liburcu-cds is missing (Debian: liburcu-dev)");
}

#define wfc_put		NULL
#define wfc_get		NULL
#define lfq_init	wfc_init
#define lfq_put		NULL
#define lfq_get		NULL
#define lfq_enter	NULL
#define lfq_rest	NULL
#define lfq_leave	NULL
#endif

const struct queue_ops queue_wfcqueue = {
	.init = wfc_init, .put = wfc_put, .get = wfc_get,
};

const struct queue_ops queue_lfqueue = {
	.init = lfq_init, .put = lfq_put, .get = lfq_get,
	.enter = lfq_enter, .rest = lfq_rest, .leave = lfq_leave,
};
