/* SPDX-License-Identifier: MIT */
/*
 * threads/preload.c - what pthreads cost, unchanged, under `weft run'
 *
 * The sample's process puts the command in its own place. That runs this program again,
 * for the same sample.
 */
#define FACE_PTHREADS
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "enter.h"
#include "threads/forkjoin.h"
#include "threads/pingpong.h"
#include "threads/spawn.h"
#include "threads/start.h"
#include "threads/threads.h"
#include "threads/yield.h"

#define MARK		"WEFT_BENCH_PRELOADED"
#define ARGS		40
#define ARGS_BYTES	4096

/* The words of a command line as the kernel shows it. */
static void add_own_words(char **argv, size_t n, char *text, size_t bytes)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, bytes - 1);

	if (got <= 0)
		bench_fail("/proc/self/cmdline: %s", strerror(errno));
	close(fd);
	text[got] = '\0';
	for (char *at = text + strlen(text) + 1; at < text + got && n < ARGS;
	     at += strlen(at) + 1)
		argv[n++] = at;
	argv[n] = NULL;
}

static void run_again(struct bench_ctx *ctx)
{
	char self[ARGS_BYTES], weft[ARGS_BYTES], text[ARGS_BYTES], vcpus[16];
	char *argv[ARGS + 1] = { weft, (char *)"run", (char *)"--", self };
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		bench_fail("/proc/self/exe: %s", strerror(errno));
	snprintf(weft, sizeof(weft), "%.*s/../cli/weft", (int)(slash - self), self);
	if (access(weft, X_OK) != 0)
		bench_skip(ctx, "cli/weft was not built");
	add_own_words(argv, 4, text, sizeof(text));
	snprintf(vcpus, sizeof(vcpus), "%u", ctx->vcpus);
	setenv("WEFT_VCPUS", vcpus, 1);
	setenv(MARK, "1", 1);
	execv(weft, argv);
	bench_fail("%s: %s", weft, strerror(errno));
}

static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *ctx))
{
	if (!getenv(MARK))
		run_again(ctx);
	face_enter(ctx, run);
}

static const struct bench_body bodies[] = {
	{ "yield", yield },
	{ "spawn-join", spawn_join },
	{ "fan-out", fan_out },
	{ "fib", fib },
	{ "skynet", skynet },
	{ "sem-pingpong", sem_pingpong },
	{ "cond-pingpong", cond_pingpong },
	{ "start", start },
	{ NULL, NULL },
};

const struct bench_variant bench_threads_preload = {
	.name = "preload",
	.enter = enter,
	.bodies = bodies,
};
