/* SPDX-License-Identifier: MIT */
/* echo/go.c - the same server in Go, which make bench builds where Go is */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "echo/echo.h"

/* Beside this program, or a folder higher (libtool's .libs). */
static int find(char *path, size_t size)
{
	static const char *const names[] = { "/echo-go", "/../echo-go" };
	ssize_t n = readlink("/proc/self/exe", path, size - 16);
	char *slash;

	path[n < 0 ? 0 : n] = 0;
	slash = strrchr(path, '/');
	for (size_t i = 0; slash && i < 2; i++) {
		strcpy(slash, names[i]);
		if (access(path, X_OK) == 0)
			return 0;
	}
	return -1;
}

static void serve(struct bench_ctx *ctx, int fd)
{
	char path[4096], listener[16], procs[16];

	if (find(path, sizeof(path)) != 0)
		bench_fail("there is no echo-go");
	snprintf(listener, sizeof(listener), "%d", fd);
	snprintf(procs, sizeof(procs), "%u", ctx->vcpus);
	setenv("GOMAXPROCS", procs, 1);
	execl(path, path, listener, (char *)NULL);
	bench_fail("%s: %s", path, strerror(errno));
}

static void run(struct bench_ctx *ctx)
{
	char path[4096];

	if (find(path, sizeof(path)) != 0)
		bench_skip(ctx, "Go was not there when this was built");
	echo_drive(ctx, serve);
}

static const struct bench_body bodies[] = {
	{ "echo", run },
	{ NULL, NULL },
};

const struct bench_variant bench_echo_go = {
	.name = "go",
	.enter = echo_enter,
	.bodies = bodies,
};
