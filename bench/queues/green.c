/* SPDX-License-Identifier: MIT */
/* queues/green.c - weft's channel, between green threads that share the CPUs */
#include <weft.h>

#include "queues/queues.h"

static struct weft_chan *chan;

static size_t put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++) {
		uint64_t e = first + i;

		if (weft_chan_send(chan, &e, WEFT_FOREVER) != 0)
			return i;	/* closed: it is over */
	}
	return n;
}

static size_t get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	for (size_t i = 0; i < n; i++)
		if (weft_chan_recv(chan, &to[i], WEFT_FOREVER) != 0)
			return i;
	return n;
}

const struct queue_ops queue_chan = { .put = put, .get = get };

static void check(int error, const char *what)
{
	if (error)
		bench_fail("%s: %s", what, strerror(-error));
}

static void *member(void *arg)
{
	struct crew_member *me = arg;

	me->crew->body(me);
	return NULL;
}

void queue_run_green(struct crew *c, struct bench_ctx *ctx, unsigned pairs,
		     void (*body)(struct crew_member *me))
{
	struct weft_options options = { .vcpus = ctx->vcpus };
	struct weft_attr attr = { .flags = WEFT_LIGHT };
	uint64_t id[2 * QUEUE_PAIRS];

	check(weft_start(&options), "weft_start");
	check(weft_chan_create(&chan, sizeof(uint64_t), QUEUE_CAPACITY,
			       pairs == 1 ? WEFT_CHAN_ONE_TO_ONE : 0),
	      "weft_chan_create");
	c->body = body;
	c->count = 2 * pairs;
	bench_part_begin();
	c->ns = -(double)bench_now(ctx);
	for (unsigned i = 0; i < c->count; i++) {
		c->member[i].crew = c;
		c->member[i].index = i;
		check(weft_spawn(&id[i], &attr, member, &c->member[i]),
		      "weft_spawn");
	}
	check(weft_sleep(ctx->target_ns), "weft_sleep");
	store_relaxed(&c->over, 1);
	c->ns += (double)bench_now(ctx);
	check(weft_chan_close(chan), "weft_chan_close");
	for (unsigned i = 0; i < c->count; i++)
		check(weft_join(id[i], NULL), "weft_join");
	bench_part_end(c->ns);
	check(weft_chan_destroy(chan), "weft_chan_destroy");
	check(weft_stop(), "weft_stop");
}
