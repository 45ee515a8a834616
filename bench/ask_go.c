/* SPDX-License-Identifier: MIT */
/* ask_go.c - variants that are measured by a program in Go */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ask_go.h"

void bench_ask_go(struct bench_ctx *ctx, const char *program,
		  const char *question)
{
	static char path[4096], command[4400];	/* stacks are small */
	char unit[16];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	double value;
	FILE *in;
	char *slash;

	if (n < 0)
		bench_fail("readlink: %s", strerror(errno));
	path[n] = 0;
	slash = strrchr(path, '/');
	snprintf(slash, sizeof(path) - (size_t)(slash - path), "/%s", program);
	if (access(path, X_OK))
		bench_skip(ctx, "bench/%s was not built", program);
	bench_pin(ctx->vcpus);
	snprintf(command, sizeof(command), "'%s' %s %u %d %u %lld", path,
		 question, ctx->vcpus, ctx->wall, ctx->threads,
		 (long long)ctx->target_ns);
	in = popen(command, "r");
	if (!in || fscanf(in, "%lf %15s", &value, unit) != 2)
		bench_fail("%s prints no figure", path);
	pclose(in);
	bench_emit(ctx, "", unit, value);
}
