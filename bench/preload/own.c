/* SPDX-License-Identifier: MIT */
/* preload/own.c - programs of our own: threads made, threads idle, an echo */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "echo/echo.h"
#include "preload/preload.h"

void preload_create_body(struct bench_ctx *ctx)
{
	const char *count = preload_is_quick(ctx) ? "2000" : "20000";
	const char *argv[] = { preload_own(ctx, "bench/preload-create"), count,
			       NULL };
	struct preload_run run;
	char *said;

	preload_do(&run, argv, 1, -1);
	said = preload_said(&run);
	if (atof(said) <= 0)
		bench_fail("%s said `%s'", argv[0], said);
	bench_emit(ctx, "", "ns", atof(said));
}

/*
 * A waiting thread sleeps at once (PASSIVE), or does what libgomp thinks best.
 */
static void run_teams(struct bench_ctx *ctx, const char *policy)
{
	const char *argv[] = { preload_own(ctx, "bench/preload-teams"),
			       preload_is_quick(ctx) ? "200" : "4000", NULL,
			       NULL };
	struct preload_run run;
	char threads[16], *said;

	snprintf(threads, sizeof(threads), "%u", ctx->threads);
	argv[2] = threads;
	if (policy)
		setenv("OMP_WAIT_POLICY", policy, 1);
	else
		unsetenv("OMP_WAIT_POLICY");
	preload_do(&run, argv, 1, -1);
	said = preload_said(&run);
	if (strcmp(said, "none\n") == 0)
		bench_skip(ctx, "there is no libgomp.so.1");
	if (atof(said) <= 0)
		bench_fail("%s said `%s'", argv[0], said);
	bench_emit(ctx, "", "ns", atof(said));
}

void preload_teams_body(struct bench_ctx *ctx)
{
	run_teams(ctx, NULL);
}

void preload_teams_passive_body(struct bench_ctx *ctx)
{
	run_teams(ctx, "PASSIVE");
}

/*
 * The kernel's memory is the system's, of which others take and give back: a
 * figure to believe is one of several that agree.
 */
void preload_idle_body(struct bench_ctx *ctx)
{
	const char *argv[] = { preload_own(ctx, "bench/preload-idle"), NULL,
			       NULL };
	double resident, tables, stacks, slab;
	struct preload_run run;
	char count[16], *said;

	bench_need_kernel_threads(ctx, ctx->threads);
	snprintf(count, sizeof(count), "%u", ctx->threads);
	argv[1] = count;
	preload_do(&run, argv, 1, -1);
	said = preload_said(&run);
	if (sscanf(said, "%lf %lf %lf %lf", &resident, &tables, &stacks,
		   &slab) != 4)
		bench_fail("%s said `%s'", argv[0], said);
	bench_emit(ctx, "", "bytes", resident / ctx->threads);
	bench_emit(ctx, "-tables", "bytes", tables / ctx->threads);
	bench_emit(ctx, "-kernel", "bytes", (stacks + slab) / ctx->threads);
	bench_emit(ctx, "-all", "bytes", (resident + tables + stacks + slab) /
					 ctx->threads);
}

static const char *echo_server, *echo_weft;

/* Takes the place of the process that echo_drive() has made. */
static void serve(struct bench_ctx *ctx, int fd)
{
	char number[16];

	(void)ctx;
	snprintf(number, sizeof(number), "%d", fd);
	if (preload_by_weft)
		execl(echo_weft, echo_weft, "run", "--", echo_server, number,
		      (char *)NULL);
	else
		execl(echo_server, echo_server, number, (char *)NULL);
	bench_fail("%s: %s", echo_server, strerror(errno));
}

void preload_echo_body(struct bench_ctx *ctx)
{
	echo_server = preload_own(ctx, "bench/preload-echo");
	echo_weft = preload_own(ctx, "cli/weft");
	echo_drive(ctx, serve);
}
