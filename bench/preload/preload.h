/* SPDX-License-Identifier: MIT */
/* preload.h - what the cases of the suite share: programs, stock or under weft */
#ifndef WEFT_BENCH_PRELOAD_H
#define WEFT_BENCH_PRELOAD_H

#include <sys/types.h>

#include "bench.h"

#define PRELOAD_ARGS	40

/* A program that runs, or has run. */
struct preload_run {
	const char *name;
	pid_t pid;
	int said;		/* a file with what it wrote */
	int64_t began;		/* bench_wall_now() */
};

/* Ends the sample by bench_skip() if there is no such program. */
void preload_need(struct bench_ctx *ctx, const char *name);

/*
 * Where one of our own programs is, in the build tree; to be freed. Ends the
 * sample if it is not there.
 */
char *preload_own(struct bench_ctx *ctx, const char *name);

/*
 * Starts argv, which ends with NULL. A `subject` runs as the variant says: as it
 * is, or by `weft run`; a helper as it is. `in` is its standard input, -1: none.
 */
void preload_start(struct preload_run *run, const char *const *argv,
		   int subject, int in);

/* Waits for its end; a status other than 0 fails the sample. */
void preload_wait(struct preload_run *run);

/* Kills it, and fails the sample unless it has lived until now. */
void preload_kill(struct preload_run *run);

/* All that it has written until now; to be freed. */
char *preload_said(const struct preload_run *run);

/* Starts argv and waits. */
void preload_do(struct preload_run *run, const char *const *argv, int subject,
		int in);

/* The bodies. */
void preload_fixed_body(struct bench_ctx *ctx);		/* fixed.c */
void preload_create_body(struct bench_ctx *ctx);	/* own.c */
void preload_teams_body(struct bench_ctx *ctx);
void preload_teams_passive_body(struct bench_ctx *ctx);
void preload_idle_body(struct bench_ctx *ctx);
void preload_echo_body(struct bench_ctx *ctx);
void preload_memcached_body(struct bench_ctx *ctx);	/* servers.c */
void preload_redis_body(struct bench_ctx *ctx);
void preload_mariadb_body(struct bench_ctx *ctx);

extern int preload_by_weft;	/* the variant of this sample */

/* Less of everything, as --quick asks for. */
static inline int preload_is_quick(const struct bench_ctx *ctx)
{
	return ctx->target_ns < 1000000000;
}

#endif
