/* SPDX-License-Identifier: MIT */
/*
 * preload/fixed.c - how long do programs take for a fixed amount of work?
 *
 * The whole process, from fork to its end, real time; `-cpu` is the time of all
 * CPUs. Those that compress are given a text of words, which is the same in each
 * run, as a file in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/preload.h"

/* The first argument that is "%" is the amount of work. */
struct program {
	const char *name;	/* of the case */
	const char *argv[16];
	const char *full, *quick;	/* amounts */
	int text_mib, quick_mib;	/* standard input; 0: none */
};

static const struct program programs[] = {
	{ "pigz", { "pigz", "-6", "-p", "8", "-c" }, "", "", 32, 4 },
	{ "pbzip2", { "pbzip2", "-p8", "-c" }, "", "", 16, 4 },
	{ "xz", { "xz", "-2", "-T", "8", "--block-size=1MiB", "-c" }, "", "",
	  6, 2 },
	{ "zstd", { "zstd", "-12", "-T8", "-B1MiB", "-c" }, "", "", 8, 2 },
	{ "primecount", { "primecount", "%", "-t8" }, "1e15", "1e13", 0, 0 },
	{ "stockfish", { "stockfish", "bench", "32", "8", "%" }, "9", "7",
	  0, 0 },
	{ "sysbench-threads", { "sysbench", "threads", "--threads=32",
	  "--thread-yields=100", "--thread-locks=8", "--time=0", "--events=%",
	  "run" }, "3000", "500", 0, 0 },
	{ "sysbench-mutex", { "sysbench", "mutex", "--threads=32",
	  "--mutex-locks=%", "run" }, "20000", "5000", 0, 0 },
	{ "hackbench", { "hackbench", "-T", "-l", "%" }, "150", "30", 0, 0 },
	{ "hackbench-pipe", { "hackbench", "-T", "-p", "-l", "%" },
	  "300", "30", 0, 0 },
};

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Words of a made-up language, the frequent ones short. */
static void write_words(char *text, size_t bytes)
{
	uint64_t state = 88172645463325252u;
	size_t at = 0;

	while (at < bytes) {
		uint64_t chance = next(&state) % 4096;
		uint64_t word = chance * chance / 4096 * 2654435761u + 97;
		size_t length = 2 + (size_t)(chance * 9 / 4096);

		for (size_t i = 0; i < length && at < bytes; i++) {
			text[at++] = (char)('a' + word % 26);
			word = word / 7 + chance;
		}
		if (at < bytes)
			text[at++] = next(&state) % 12 ? ' ' : '\n';
	}
}

static int make_text(int mib)
{
	size_t bytes = (size_t)mib << 20;
	int fd = memfd_create("text", MFD_CLOEXEC);
	char *text;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		bench_fail("a file of %d MiB in memory: %s", mib,
			   strerror(errno));
	text = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		bench_fail("mmap: %s", strerror(errno));
	write_words(text, bytes);
	munmap(text, bytes);
	return fd;
}

static const struct program *find(const char *name)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	bench_fail("there is no program for %s", name);
}

/* With the amount in its place. */
static void fill(const char **argv, const struct program *p, const char *amount)
{
	size_t n = 0;

	for (; p->argv[n]; n++) {
		const char *percent = strchr(p->argv[n], '%');
		char *whole;

		argv[n] = p->argv[n];
		if (!percent)
			continue;
		if (asprintf(&whole, "%.*s%s", (int)(percent - p->argv[n]),
			     p->argv[n], amount) < 0)
			bench_fail("out of memory");
		argv[n] = whole;
	}
	argv[n] = NULL;
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

void preload_fixed_body(struct bench_ctx *ctx)
{
	const struct program *p = find(ctx->question->name);
	int quick = preload_is_quick(ctx);
	int mib = quick ? p->quick_mib : p->text_mib;
	const char *argv[PRELOAD_ARGS];
	struct preload_run run;

	preload_need(ctx, p->argv[0]);
	fill(argv, p, quick ? p->quick : p->full);
	preload_do(&run, argv, 1, mib ? make_text(mib) : -1);
	bench_emit(ctx, "", "ms",
		   (double)(bench_wall_now() - run.began) / 1e6);
	bench_emit(ctx, "-cpu", "ms", cpu_ms());
}
