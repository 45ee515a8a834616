/* SPDX-License-Identifier: MIT */
/* channels/go.c - the variant that asks bench/channels-go */
#include "ask_go.h"
#include "channels/channels.h"

static void ask(struct bench_ctx *ctx)
{
	bench_ask_go(ctx, "channels-go", ctx->question->name);
}

static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	run(ctx);
}

static const struct bench_body bodies[] = {
	{ "rendezvous", ask },
	{ "round-trip-2", ask },
	{ "one-to-one", ask },
	{ "stream", ask },
	{ "four-to-four", ask },
	{ "sieve", ask },
	{ "sieve-2", ask },
	{ "short-pairs", ask },
	{ "skynet", ask },
	{ NULL, NULL },
};

const struct bench_variant bench_channels_go = {
	.name = "go",
	.bit = 8,
	.enter = enter,
	.bodies = bodies,
};
