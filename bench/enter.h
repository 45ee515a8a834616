/* SPDX-License-Identifier: MIT */
/*
 * enter.h - a body runs in a thread of the variant's kind, not in the first one
 *
 * weft's first thread has TLS, so a switch between it and a light thread costs
 * more than one between light threads. And glibc leaves atomics out of its
 * locks while a process has only one thread. A program with threads never sees
 * that.
 */
#ifndef WEFT_BENCH_ENTER_H
#define WEFT_BENCH_ENTER_H

#include "face.h"

struct enter_args {
	struct bench_ctx *ctx;
	void (*run)(struct bench_ctx *ctx);
};

static void *enter_root(void *arg)
{
	struct enter_args *args = arg;

	args->run(args->ctx);
	return NULL;
}

static void face_enter(struct bench_ctx *ctx,
		       void (*run)(struct bench_ctx *ctx))
{
	struct enter_args args = { ctx, run };
	face_thread root;

	must(face_start(ctx), "start");
	must(face_spawn(&root, enter_root, &args), "spawn");
	must(face_join(root), "join");
	must(face_stop(), "stop");
}

#endif
