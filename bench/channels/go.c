/* SPDX-License-Identifier: MIT */
/*
 * channels/go.c - the variant that asks a Go program
 *
 * bench/channels-go, which make builds where there is a Go compiler, is told
 * the case and how long to measure, and prints one figure.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "channels/channels.h"

static void ask(struct bench_ctx *ctx)
{
	char program[4096], command[4400], unit[16];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	double value;
	FILE *in;
	char *slash;

	if (n < 0)
		bench_fail("readlink: %s", strerror(errno));
	program[n] = 0;
	slash = strrchr(program, '/');
	snprintf(slash, sizeof(program) - (size_t)(slash - program),
		 "/channels-go");
	if (access(program, X_OK))
		bench_skip(ctx, "there is no Go compiler");
	bench_pin(ctx->vcpus);
	snprintf(command, sizeof(command), "'%s' %s %u %d %u %lld", program,
		 ctx->question->name, ctx->vcpus, ctx->wall, ctx->threads,
		 (long long)ctx->target_ns);
	in = popen(command, "r");
	if (!in || fscanf(in, "%lf %15s", &value, unit) != 2)
		bench_fail("%s prints no figure", program);
	pclose(in);
	bench_emit(ctx, "", unit, value);
}

static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	run(ctx);
}

static const struct bench_body bodies[] = {
	{ "rendezvous", ask },
	{ "one-to-one", ask },
	{ "four-to-four", ask },
	{ "sieve", ask },
	{ "skynet", ask },
	{ NULL, NULL },
};

const struct bench_variant bench_channels_go = {
	.name = "go",
	.bit = 8,
	.enter = enter,
	.bodies = bodies,
};
