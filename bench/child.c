/* SPDX-License-Identifier: MIT */
/* child.c - what a sample's process uses: clocks, calibration, figures out */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#if defined(WEFT_COHERENCE)
#include "coherence/coherence.h"

static double part_ns;		/* 0: no part, or it has been told */

void bench_part_begin(void)
{
	coherence_begin();
}

void bench_part_end(double ns)
{
	coherence_end();
	part_ns = ns;
}

/* The figure says how many operations the part had. */
static void tell_part(const struct bench_ctx *ctx, const char *metric,
		      const char *unit, double value)
{
	double per_s = strcmp(unit, "M/s") == 0 ? value * 1e6 :
		       strcmp(unit, "ms") == 0 ? 1e3 / value : 1e9 / value;

	if (part_ns > 0 && value > 0)
		coherence_tell(ctx, metric, per_s * part_ns / 1e9, part_ns);
	part_ns = 0;
}
#else
void bench_part_begin(void)
{
}

void bench_part_end(double ns)
{
	(void)ns;
}

static void tell_part(const struct bench_ctx *ctx, const char *metric,
		      const char *unit, double value)
{
	(void)ctx;
	(void)metric;
	(void)unit;
	(void)value;
}
#endif

void bench_emit(struct bench_ctx *ctx, const char *metric, const char *unit,
		double value)
{
	tell_part(ctx, metric, unit, value);
	fprintf(ctx->out, "figure\t%s%s\t%s\t%.9g\n", ctx->question->name,
		metric, unit, value);
}

void bench_skip(struct bench_ctx *ctx, const char *why, ...)
{
	va_list args;

	fputs("skip\t", ctx->out);
	va_start(args, why);
	vfprintf(ctx->out, why, args);
	va_end(args);
	fputs("\n", ctx->out);
	fflush(ctx->out);
	_exit(0);
}

void bench_fail(const char *what, ...)
{
	va_list args;

	fputs("bench: ", stderr);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	fputs("\n", stderr);
	_exit(1);
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t bench_wall_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t bench_now(const struct bench_ctx *ctx)
{
	return clock_ns(ctx->wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID);
}

double bench_measure(struct bench_ctx *ctx, uint64_t first_n,
		     double (*body)(struct bench_ctx *ctx, uint64_t n))
{
	double target = (double)ctx->target_ns;
	uint64_t n = first_n;

	for (;;) {
		double ns = body(ctx, n);
		double grow = ns > 0 ? target / ns : 10;

		/* Bodies that are long at n = 1 are warm after one round. */
		if (grow <= 4) {
			n = (uint64_t)((double)n * grow);
			n = n > first_n ? n : first_n;
			bench_part_begin();
			ns = body(ctx, n);
			bench_part_end(ns);
			return ns / (double)n;
		}
		n = (uint64_t)((double)n * (grow < 10 ? grow / 2 : 10)) + 1;
	}
}

unsigned bench_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

void bench_pin(unsigned count)
{
	cpu_set_t allowed, set;
	unsigned taken = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		bench_fail("sched_getaffinity: %s", strerror(errno));
	for (int cpu = 0; cpu < CPU_SETSIZE && taken < count; cpu++) {
		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &set);
			taken++;
		}
	}
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_fail("sched_setaffinity: %s", strerror(errno));
}

static uint64_t read_limit(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long n;

	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%llu", &n) != 1)		/* "max" is no number */
		n = UINT64_MAX;
	fclose(f);
	return n;
}

void bench_need_kernel_threads(struct bench_ctx *ctx, uint64_t count)
{
	static const char *const limits[] = {
		"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max",
		"/sys/fs/cgroup/pids.max",
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t limit = read_limit(limits[i]);

		/* The rest of the system needs some of them. */
		if (count > limit / 2)
			bench_skip(ctx, "%s is %llu", limits[i],
				   (unsigned long long)limit);
	}
	/* glibc maps each stack and a guard: two maps. */
	if (count > read_limit("/proc/sys/vm/max_map_count") / 2)
		bench_skip(ctx, "/proc/sys/vm/max_map_count is too small");
}
