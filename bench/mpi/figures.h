/* SPDX-License-Identifier: MIT */
/* figures.h - what the programs of the suite measure by, and how rank 0 says it */
#ifndef WEFT_BENCH_MPI_FIGURES_H
#define WEFT_BENCH_MPI_FIGURES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* This rank's CPU time. */
static inline double cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec) * 1e9 +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e3;
}

/* bench-mpi reads these lines. `metric` begins with `-', or is `.': none. */
static inline void figure(const char *metric, const char *unit, double value)
{
	printf("figure %s %s %.9g\n", metric, unit, value);
}

/* About a microsecond of arithmetic. */
static inline double compute(double x)
{
	for (int i = 0; i < 250; i++)
		x = x * 1.0000001 + 0.5;
	return x;
}

/* How many ints are reduced. The sum of the first says that it is over. */
static inline int ints_of(int bytes)
{
	return bytes < (int)sizeof(int) ? 1 : bytes / (int)sizeof(int);
}

/* The latest times of one kind; when it is full, the oldest go. */
struct times {
	unsigned room;
	uint64_t count;
	int64_t *ns;
};

static inline void times_add(struct times *t, int64_t ns)
{
	t->ns[t->count++ % t->room] = ns;
}

static inline unsigned times_kept(const struct times *t)
{
	return t->count < t->room ? (unsigned)t->count : t->room;
}

static inline int times_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts them, and says two of them in microseconds. */
static inline void times_say(struct times *t)
{
	unsigned kept = times_kept(t);

	qsort(t->ns, kept, sizeof(*t->ns), times_compare);
	if (!kept)
		return;
	figure("-p50", "us", (double)t->ns[kept / 2] / 1e3);
	figure("-p99", "us", (double)t->ns[(uint64_t)kept * 99 / 100] / 1e3);
}

#endif
