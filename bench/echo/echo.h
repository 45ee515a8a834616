/* SPDX-License-Identifier: MIT */
/* echo.h - what the driver and the servers of the suite share */
#ifndef WEFT_BENCH_ECHO_H
#define WEFT_BENCH_ECHO_H

#include <netinet/in.h>
#include <sys/types.h>

#include "bench.h"

#define ECHO_BYTES	64	/* of a request and its answer */
#define ECHO_BUFFER	4096	/* what a server reads at once */

/*
 * Runs in a process of its own, which ends by a signal: accepts connections from
 * `fd`, which listens and is blocking, and echoes until their end.
 */
typedef void echo_serve_fn(struct bench_ctx *ctx, int fd);

/* The driver: starts the server, loads it, and emits what the clients saw. */
void echo_drive(struct bench_ctx *ctx, echo_serve_fn *serve);

/* What a client says again and again, and how much it is answered. */
struct echo_talk {
	const void *request;
	size_t request_bytes, answer_bytes;
};

/* The same, of a server that runs and will be killed by the caller. */
void echo_load(struct bench_ctx *ctx, const struct echo_talk *talk,
	       const struct sockaddr_in *address, pid_t pid);

/* A variant is run as it is: its server starts what it needs. */
void echo_enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *ctx));

extern const struct bench_variant bench_echo_light, bench_echo_tls;
extern const struct bench_variant bench_echo_pthreads, bench_echo_go;
extern const struct bench_variant bench_echo_epoll;

#endif
