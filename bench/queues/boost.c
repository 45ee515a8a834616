/* SPDX-License-Identifier: MIT */
/* queues/boost.c - Boost.Lockfree, in bench/queues-boost.so (boost.cc) */
#include <dlfcn.h>
#include <unistd.h>

#include "queues/queues.h"

static size_t (*lib_put)(uint64_t first, size_t n);
static size_t (*lib_get)(uint64_t *to, size_t n);

static void load(struct bench_ctx *ctx, const char *put, const char *get)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	void *lib, *a, *b;
	char *slash;

	if (n < 0)
		bench_fail("readlink");
	path[n] = 0;
	slash = strrchr(path, '/');
	memcpy(slash, "/queues-boost.so", sizeof("/queues-boost.so"));
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		bench_skip(ctx, "no C++ or no Boost (Debian: libboost-dev)");
	a = dlsym(lib, put);
	b = dlsym(lib, get);
	if (!a || !b)
		bench_fail("%s is not what it was", path);
	memcpy(&lib_put, &a, sizeof(a));
	memcpy(&lib_get, &b, sizeof(b));
}

static void spsc_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)pairs;
	load(ctx, "boost_spsc_put", "boost_spsc_get");
}

static void many_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)pairs;
	load(ctx, "boost_spsc_put_many", "boost_spsc_get_many");
}

static void queue_init(struct bench_ctx *ctx, unsigned pairs)
{
	(void)pairs;
	load(ctx, "boost_queue_put", "boost_queue_get");
}

static size_t put(struct crew_member *me, uint64_t first, size_t n)
{
	(void)me;
	return lib_put(first, n);
}

static size_t get(struct crew_member *me, uint64_t *to, size_t n)
{
	(void)me;
	return lib_get(to, n);
}

const struct queue_ops queue_boost_spsc = {
	.init = spsc_init, .put = put, .get = get,
};

const struct queue_ops queue_boost_spsc_many = {
	.init = many_init, .put = put, .get = get,
};

const struct queue_ops queue_boost_queue = {
	.init = queue_init, .put = put, .get = get,
};
