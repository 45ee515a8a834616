/* SPDX-License-Identifier: MIT */
/*
 * threads/parked.h - what does a thread that waits cost in memory?
 *
 * Resident bytes each, and beside them the kernel's page tables, which count
 * for no process. Kernel threads have a kernel stack each (16 KiB on x86-64)
 * that no figure of the process shows.
 */
#ifndef WEFT_BENCH_THREADS_PARKED_H
#define WEFT_BENCH_THREADS_PARKED_H

#include <stdlib.h>

#include "face.h"
#include "lockfree/atomic.h"

struct parked_crowd {
	struct face_sem wake;
	_Atomic uint64_t come;
};

static void *parked_thread(void *arg)
{
	struct parked_crowd *crowd = arg;

	/* Relaxed: a count that the spawner polls, nothing hangs on it. */
	fetch_add_relaxed(&crowd->come, 1);
	must(face_sem_wait(&crowd->wake), "sem_wait");
	return NULL;
}

/* A value of /proc/self/status in bytes. */
static double parked_status(const char *field)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t len = strlen(field);
	unsigned long long kib = 0;
	char line[256];

	if (!f)
		bench_fail("/proc/self/status cannot be read");
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, field, len) && line[len] == ':')
			sscanf(line + len + 1, "%llu", &kib);
	fclose(f);
	return (double)kib * 1024;
}

static void parked(struct bench_ctx *ctx)
{
	uint64_t n = ctx->threads;
	struct parked_crowd crowd;
	double rss, tables;
	face_thread *id;
	int64_t begin;

	if (!FACE_IS_WEFT)
		bench_need_kernel_threads(ctx, n);
	id = malloc(n * sizeof(*id));
	if (!id)
		bench_fail("out of memory");
	memset(id, 0xff, n * sizeof(*id));	/* resident before we count */
	must(face_sem_init(&crowd.wake, 0), "sem_init");
	atomic_init(&crowd.come, 0);
	rss = parked_status("VmRSS");
	tables = parked_status("VmPTE");

	begin = bench_now(ctx);
	for (uint64_t i = 0; i < n; i++)
		must(face_spawn(&id[i], parked_thread, &crowd), "spawn");
	while (load_relaxed(&crowd.come) < n)
		face_yield();
	bench_emit(ctx, "-spawn", "ns",
		   (double)(bench_now(ctx) - begin) / (double)n);
	bench_emit(ctx, "", "bytes",
		   (parked_status("VmRSS") - rss) / (double)n);
	bench_emit(ctx, "-tables", "bytes",
		   (parked_status("VmPTE") - tables) / (double)n);

	begin = bench_now(ctx);
	for (uint64_t i = 0; i < n; i++)
		must(face_sem_post(&crowd.wake), "sem_post");
	for (uint64_t i = 0; i < n; i++)
		must(face_join(id[i]), "join");
	bench_emit(ctx, "-wake+join", "ns",
		   (double)(bench_now(ctx) - begin) / (double)n);
	free(id);
}

#endif
