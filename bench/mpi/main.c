/* SPDX-License-Identifier: MIT */
/*
 * bench-mpi - what do messages between two ranks cost that have threads inside?
 *
 * Each sample is a program by mpirun, with two ranks on this machine and as many
 * VCPUs a rank as asked for. The variants are the same source with libc's
 * threads, by `weft run' alone and with libweft-mpi, with weft's threads, light
 * and with TLS; and one thread a rank that does what MPI itself can.
 *
 * Open MPI makes a waiting rank give its CPU away where libc's threads or
 * `weft run' alone have it wait (mpi_yield_when_idle). That is better for them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define ALONE	8u	/* the variant's bit, beside BENCH_NOT_* */
#define PRELOAD	16u

static const struct bench_case cases[] = {
	{ .name = "talk-8", .body = "talk", .threads = { 1, 8, 64 }, .arg = 8 },
	{ .name = "talk-8-many", .body = "talk", .threads = { 1000 }, .arg = 8,
	  .slow = "minutes with libc's threads" },
	{ .name = "talk-1k", .body = "talk", .threads = { 1, 64 }, .arg = 1024 },
	{ .name = "talk-64k", .body = "talk", .threads = { 1, 64 },
	  .arg = 65536 },
	{ .name = "talk-1m", .body = "talk", .threads = { 1, 8 },
	  .arg = 1 << 20 },
	{ .name = "idle", .threads = { 1000 }, .arg = 8 },
	{ .name = "reduce", .threads = { 2, 8 }, .arg = 8 },
	{ .name = "reduce-64k", .body = "reduce", .threads = { 2, 8 },
	  .arg = 65536 },
	{ .name = "reduce-1m", .body = "reduce", .threads = { 2, 8 },
	  .arg = 1 << 20 },
	{ .name = "heat", .threads = { 64 } },
	{ .name = NULL },
};

/* "openmpi" or "mpich": what --mpi has put there. */
static const char *vendor(void)
{
	const char *name = getenv("WEFT_BENCH_MPI");

	return name ? name : "openmpi";
}

__attribute__((format(printf, 1, 2)))
static char *format(const char *how, ...)
{
	va_list list;
	char *text;

	va_start(list, how);
	if (vasprintf(&text, how, list) < 0)
		bench_fail("out of memory");
	va_end(list);
	return text;
}

/* A path in the build folder; ends the sample if nothing is there. */
static char *own(struct bench_ctx *ctx, const char *name)
{
	char here[4096], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);

	here[n > 0 ? n : 0] = 0;
	slash = strrchr(here, '/');
	if (slash)
		*slash = 0;
	path = format("%s/../%s", here, name);
	if (access(path, F_OK))
		bench_skip(ctx, "%s was not built", name);
	return path;
}

static const char *mpirun(struct bench_ctx *ctx, int yield)
{
	const char *run;

	if (system(format("command -v mpirun.%s >/dev/null", vendor())))
		bench_skip(ctx, "there is no mpirun.%s", vendor());
	setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
	setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
	setenv("WEFT_VCPUS", format("%u", ctx->vcpus), 1);
	/* mpirun must not outlive the sample, which may be killed. */
	run = format("timeout -k 5 %d mpirun.%s -n 2",
		     ctx->timeout_s * 9 / 10 + 1, vendor());
	if (strcmp(vendor(), "openmpi"))
		return run;
	return format("%s --oversubscribe --bind-to none "
		      "--mca mpi_yield_when_idle %d", run, yield);
}

/* What the variant has set. */
static const char *before;	/* the command, up to the program's name */
static const char *kind;	/* of the program */

/* Runs it, and hands over the figures that rank 0 prints. */
static void run(struct bench_ctx *ctx, const char *program, const char *args)
{
	char *path = own(ctx, format("bench/mpi/%s/%s-%s", vendor(), program,
				     kind));
	char line[512];
	FILE *from = popen(format("%s %s %s", before, path, args), "r");
	int status;

	if (!from)
		bench_fail("popen: %s", strerror(errno));
	while (fgets(line, sizeof(line), from)) {
		char metric[32], unit[16];
		double value;
		const char *time = strstr(line, "sweeps: ");

		if (sscanf(line, "figure %31s %15s %lf", metric, unit,
			   &value) == 3)
			bench_emit(ctx, metric[0] == '.' ? "" : metric, unit,
				   value);
		else if (time)
			bench_emit(ctx, "", "ms",
				   1e3 * atof(time + strlen("sweeps: ")));
		else
			fputs(line, stderr);
	}
	status = pclose(from);
	if (status)
		bench_fail("%s %s: status %d", path, args, status);
}

static void threads(struct bench_ctx *ctx, const char *what)
{
	run(ctx, "threads",
	    format("%s %u %llu %lld", what, ctx->threads,
		   (unsigned long long)ctx->question->arg,
		   (long long)(ctx->target_ns / 1000000)));
}

static void talk(struct bench_ctx *ctx)
{
	threads(ctx, "talk");
}

static void idle(struct bench_ctx *ctx)
{
	threads(ctx, "idle");
}

static void reduce(struct bench_ctx *ctx)
{
	threads(ctx, "reduce");
}

/* Each rank has so many blocks: 8 rows of them. */
static void heat(struct bench_ctx *ctx)
{
	run(ctx, "heat", format("-n 1024 -r 16 -c %u -s %lld", ctx->threads / 8,
				(long long)(ctx->target_ns / 10000000)));
}

static void enter(struct bench_ctx *ctx, void (*body)(struct bench_ctx *ctx),
		  const char *program_kind, int yield, const char *command)
{
	before = mpirun(ctx, yield);
	if (command)
		before = format("%s %s %s", before, own(ctx, "cli/weft"),
				command);
	kind = program_kind;
	body(ctx);
}

static void need_library(struct bench_ctx *ctx)
{
	own(ctx, format(".libs/libweft-mpi-%s.so", vendor()));
}

static void enter_pthreads(struct bench_ctx *ctx,
			   void (*body)(struct bench_ctx *ctx))
{
	enter(ctx, body, "pthreads", ctx->threads > 1, NULL);
}

static void enter_run(struct bench_ctx *ctx,
		      void (*body)(struct bench_ctx *ctx))
{
	enter(ctx, body, "pthreads", ctx->threads > 1, "run --");
}

static void enter_preload(struct bench_ctx *ctx,
			  void (*body)(struct bench_ctx *ctx))
{
	need_library(ctx);
	enter(ctx, body, "pthreads", 0, "run --mpi --");
}

static void enter_light(struct bench_ctx *ctx,
			void (*body)(struct bench_ctx *ctx))
{
	enter(ctx, body, "light", 0, NULL);
}

static void enter_tls(struct bench_ctx *ctx,
		      void (*body)(struct bench_ctx *ctx))
{
	enter(ctx, body, "tls", 0, NULL);
}

static void enter_alone(struct bench_ctx *ctx,
			void (*body)(struct bench_ctx *ctx))
{
	enter(ctx, body, "alone", 0, NULL);
}

static const struct bench_body bodies[] = {
	{ "talk", talk }, { "idle", idle }, { "reduce", reduce },
	{ "heat", heat }, { NULL, NULL },
};

/* It has no threads that could wait. */
static const struct bench_body alone_bodies[] = {
	{ "talk", talk }, { "reduce", reduce }, { "heat", heat },
	{ NULL, NULL },
};

static const struct bench_variant variant[] = {
	{ "pthreads", BENCH_NOT_PTHREADS, enter_pthreads, bodies },
	{ "weft-run", PRELOAD, enter_run, bodies },
	{ "weft-mpi", PRELOAD, enter_preload, bodies },
	{ "light", BENCH_NOT_LIGHT, enter_light, bodies },
	{ "tls", BENCH_NOT_TLS, enter_tls, bodies },
	{ "alone", ALONE, enter_alone, alone_bodies },
};

static const struct bench_variant *const variants[] = {
	&variant[0], &variant[1], &variant[2], &variant[3], &variant[4],
	&variant[5], NULL,
};

static const unsigned vcpus[] = { 1, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "mpi",
		.about = "Messages between two ranks with threads inside, on "
			 "this machine: libc's threads\n(pthreads), by `weft "
			 "run' alone and with libweft-mpi (weft-mpi), weft's "
			 "threads\n(light, tls), and one thread a rank as the "
			 "limit (alone).",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		.target_ms = 1000,
	};

	return bench_main(argc, argv, &suite);
}
