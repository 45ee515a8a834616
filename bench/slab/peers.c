/* SPDX-License-Identifier: MIT */
/* slab/peers.c - weft's slab, and allocators that others have packaged */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slab/allocs.h"
#include "weft/slab.h"

static struct weft_slab *set;

static void must(int rc)
{
	if (rc != 0)
		bench_fail("weft_slab_free");
}

ALLOC_OPS(weft, weft_slab_alloc(set, NULL), must(weft_slab_free(set, object)));

void use_weft(struct bench_ctx *ctx)
{
	struct weft_slab_attr attr = { OBJECTS, OBJECT_BYTES, 0 };

	(void)ctx;
	if (weft_slab_create(&set, &attr) != 0)
		bench_fail("weft_slab_create");
	alloc_ops = weft_ops;
}

static void *(*lib_malloc)(size_t bytes);
static void (*lib_free)(void *object);

ALLOC_OPS(lib, lib_malloc(OBJECT_BYTES), lib_free(object));

static void use_library(struct bench_ctx *ctx, const char *name,
			const char *take, const char *give)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL), *a, *b;

	if (!lib)
		bench_skip(ctx, "no %s", name);
	a = dlsym(lib, take);
	b = dlsym(lib, give);
	if (!a || !b)
		bench_fail("%s is not what it was", name);
	memcpy(&lib_malloc, &a, sizeof(a));
	memcpy(&lib_free, &b, sizeof(b));
	alloc_ops = lib_ops;
}

void use_malloc(struct bench_ctx *ctx)
{
	(void)ctx;
	lib_malloc = malloc;
	lib_free = free;
	alloc_ops = lib_ops;
}

/*
 * Its thread-local storage must be there from the start, so this sample's
 * process begins again with the library in front.
 */
void use_jemalloc(struct bench_ctx *ctx)
{
	static char text[4096];
	char *argv[64], *at = text;
	size_t count = 0, bytes;
	FILE *file;

	if (dlsym(RTLD_DEFAULT, "mallctl")) {
		use_malloc(ctx);
		return;
	}
	if (getenv("LD_PRELOAD"))
		bench_skip(ctx, "no libjemalloc.so.2");
	file = fopen("/proc/self/cmdline", "r");
	if (!file)
		bench_fail("/proc/self/cmdline");
	bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	while (at < text + bytes && count < 63) {
		argv[count++] = at;
		at += strlen(at) + 1;
	}
	argv[count] = NULL;
	setenv("LD_PRELOAD", "libjemalloc.so.2", 1);
	execv("/proc/self/exe", argv);
	bench_fail("execv");
}

void use_mimalloc(struct bench_ctx *ctx)
{
	use_library(ctx, "libmimalloc.so.2.0", "mi_malloc", "mi_free");
}
