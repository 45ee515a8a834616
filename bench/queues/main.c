/* SPDX-License-Identifier: MIT */
/*
 * bench-queues - how many elements a second go through a queue?
 *
 * One producer and one consumer, each on a CPU of its own, or 2 or 4 of each, a
 * producer and a consumer by turns on each CPU. Elements are words, there is
 * room for 1,024, and each goes singly, but in 1-1-batch, by 32. A thread that
 * finds the queue full or empty spins for a moment and then gives its CPU away.
 * Go's goroutines and the threads at the mutex sleep, and weft's threads at the
 * channel park. Consumers check that the elements of a producer come in order,
 * which is measured too.
 */
#include <sched.h>

#include "ask_go.h"
#include "cpu.h"
#include "queues/queues.h"

#define SPINS		64u
#define PRODUCER_SHIFT	48

static const struct queue_ops *ops;

static void wait_a_moment(struct crew_member *me, unsigned *tries)
{
	if (ops->rest)
		ops->rest(me);
	if (++*tries % SPINS != 0)
		wefti_arch_pause();
	else
		sched_yield();
}

static void produce(struct crew_member *me)
{
	uint64_t next = (uint64_t)queue_pair(me) << PRODUCER_SHIFT | 1;
	unsigned tries = 0;

	while (!crew_is_over(me)) {
		size_t n = ops->put(me, next, QUEUE_RUN);

		next += n;
		if (n == 0)
			wait_a_moment(me, &tries);
	}
}

static void consume(struct crew_member *me)
{
	uint64_t last[QUEUE_PAIRS] = { 0 }, e[QUEUE_RUN];
	unsigned tries = 0;

	while (!crew_is_over(me)) {
		size_t n = ops->get(me, e, QUEUE_RUN);

		me->turns += n;
		for (size_t i = 0; i < n; i++) {
			uint64_t p = e[i] >> PRODUCER_SHIFT;

			if (p >= QUEUE_PAIRS || e[i] <= last[p])
				bench_fail("elements out of order");
			last[p] = e[i];
		}
		if (n == 0)
			wait_a_moment(me, &tries);
	}
}

static void take_part(struct crew_member *me)
{
	if (me->index < me->crew->count / 2)
		produce(me);
	else
		consume(me);
}

static void member(struct crew_member *me)
{
	crew_pin(me->index % bench_cpus());
	if (ops->enter)
		ops->enter(me);
	take_part(me);
	if (ops->leave)
		ops->leave(me);
}

static void measure(struct bench_ctx *ctx, const struct queue_ops *queue)
{
	static struct crew crew;
	unsigned pairs = (unsigned)ctx->question->arg;

	ops = queue;
	ops->init(ctx, pairs);
	bench_pin(ctx->vcpus);
	crew_run(&crew, ctx, 2 * pairs, ctx->target_ns, member);
	bench_emit(ctx, "", "M/s", (double)crew_turns(&crew) * 1e3 / crew.ns);
}

static void chan_singly(struct bench_ctx *ctx)
{
	static struct crew crew;

	ops = &queue_chan;
	bench_pin(ctx->vcpus);
	queue_run_green(&crew, ctx, (unsigned)ctx->question->arg, take_part);
	bench_emit(ctx, "", "M/s", (double)crew_turns(&crew) * 1e3 / crew.ns);
}

static const struct bench_case cases[] = {
	{ .name = "1-1", .body = "singly", .arg = 1 },
	{ .name = "1-1-batch", .body = "batch", .arg = 1 },
	{ .name = "2-2", .body = "many", .arg = 2 },
	{ .name = "4-4", .body = "many", .arg = 4 },
	{ .name = NULL },
};

static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	run(ctx);
}

static void go_singly(struct bench_ctx *ctx)
{
	struct bench_ctx question = *ctx;

	question.threads = (unsigned)ctx->question->arg;
	bench_ask_go(&question, "channels-go", "queue");
}

#define SINGLY(name)							\
	static void name##_singly(struct bench_ctx *ctx)		\
	{								\
		measure(ctx, &queue_##name);				\
	}

#define BATCH(name)							\
	static void name##_batch(struct bench_ctx *ctx)			\
	{								\
		measure(ctx, &queue_##name##_many);			\
	}

SINGLY(spsc)
BATCH(spsc)
SINGLY(ring)
SINGLY(ck_spsc)
SINGLY(ck_mpmc)
SINGLY(ck_fifo)
SINGLY(boost_spsc)
BATCH(boost_spsc)
SINGLY(boost_queue)
SINGLY(wfcqueue)
SINGLY(lfqueue)
SINGLY(tickets)
SINGLY(mutex)

/* What has no batches, or is not for more than a pair, is left out. */
#define VARIANT(id, text, ...)						\
	static const struct bench_body id##_bodies[] = {		\
		__VA_ARGS__, { NULL, NULL },				\
	};								\
									\
	static const struct bench_variant id##_variant = {		\
		text, 0, enter, id##_bodies,				\
	};

/* Concurrency Kit's ring has no batches: it is what ours are held against. */
VARIANT(ck_spsc, "ck-spsc", { "singly", ck_spsc_singly },
	{ "batch", ck_spsc_singly })
VARIANT(spsc, "weft-spsc", { "singly", spsc_singly }, { "batch", spsc_batch })
VARIANT(boost_spsc, "boost-spsc", { "singly", boost_spsc_singly },
	{ "batch", boost_spsc_batch })
VARIANT(ring, "weft-ring", { "singly", ring_singly },
	{ "many", ring_singly })
VARIANT(boost_queue, "boost-queue", { "singly", boost_queue_singly },
	{ "many", boost_queue_singly })
VARIANT(ck_fifo, "ck-fifo", { "singly", ck_fifo_singly },
	{ "many", ck_fifo_singly })
VARIANT(lfqueue, "lfqueue", { "singly", lfqueue_singly },
	{ "many", lfqueue_singly })
VARIANT(wfcqueue, "wfcqueue", { "singly", wfcqueue_singly },
	{ "many", wfcqueue_singly })
VARIANT(ck_mpmc, "ck-mpmc", { "singly", ck_mpmc_singly },
	{ "many", ck_mpmc_singly })
VARIANT(tickets, "tickets", { "singly", tickets_singly },
	{ "many", tickets_singly })
VARIANT(mutex, "mutex", { "singly", mutex_singly },
	{ "many", mutex_singly })
VARIANT(chan, "weft-chan", { "singly", chan_singly },
	{ "many", chan_singly })
VARIANT(go, "go", { "singly", go_singly },
	{ "many", go_singly })

static const struct bench_variant *const variants[] = {
	&ck_spsc_variant, &spsc_variant, &boost_spsc_variant, &ring_variant,
	&boost_queue_variant, &ck_fifo_variant, &lfqueue_variant,
	&wfcqueue_variant, &ck_mpmc_variant, &tickets_variant, &mutex_variant,
	&chan_variant, &go_variant, NULL,
};

static const unsigned vcpus[] = { 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "queues",
		.about = "Words go through queues of 1,024 places.",
		.cases = cases,
		.variants = variants,
		.base = "tickets",
		.vcpus = vcpus,
		.target_ms = 200,
	};

	return bench_main(argc, argv, &suite);
}
