/* SPDX-License-Identifier: MIT */
/*
 * bench-atomic - what do atomic objects cost that no instruction can do?
 *
 * The experiment of J. Gustedt's "Futex based locks for C11's generic atomics":
 * a stack that is a list, with one atomic object as its head. Each thread takes
 * an element off and puts it back, over and over. An operation is a push or a
 * pop: an atomic load, and a compare-exchange until it succeeds.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "atomic/names.h"
#include "atomic/stack.h"

#define THREADS	{ 1, 2, 4, 8, 16, 32, 64 }

static const struct bench_case cases[] = {
	{ .name = "stack-24", .body = "stack24", .threads = THREADS },
	{ .name = "stack-16", .body = "stack16", .threads = THREADS },
	{ .name = "load-24", .body = "load24", .threads = THREADS },
	{ .name = "store-24", .body = "store24", .threads = THREADS },
	{ .name = NULL },
};

/* Loaded apart from the program, which has weft's in it by the same names. */
static void enter_libatomic(struct bench_ctx *ctx,
			    void (*run)(struct bench_ctx *))
{
	void *lib = dlopen("libatomic.so.1", RTLD_NOW | RTLD_LOCAL);
	void *load, *store, *cas;

	if (!lib)
		bench_skip(ctx, "no libatomic.so.1");
	load = dlsym(lib, "__atomic_load");
	store = dlsym(lib, "__atomic_store");
	cas = dlsym(lib, "__atomic_compare_exchange");
	if (!load || !store || !cas)
		bench_fail("libatomic.so.1 is not what it was");
	memcpy(&atomic_ops.load, &load, sizeof(load));
	memcpy(&atomic_ops.store, &store, sizeof(store));
	memcpy(&atomic_ops.cas, &cas, sizeof(cas));
	bench_pin(ctx->vcpus);
	run(ctx);
}

/* Through pointers too, so that the call costs the same. */
static void enter_weft(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	atomic_ops.load = wefti_atomic_load;
	atomic_ops.store = wefti_atomic_store;
	atomic_ops.cas = wefti_atomic_compare_exchange;
	bench_pin(ctx->vcpus);
	run(ctx);
}

static void enter_lock(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	bench_pin(ctx->vcpus);
	run(ctx);
}

static const struct bench_variant libatomic = {
	"libatomic", 1, enter_libatomic, atomic_object_bodies,
};
static const struct bench_variant weft = {
	"weft", 2, enter_weft, atomic_object_bodies,
};
static const struct bench_variant mutex = {
	"mutex", 4, enter_lock, atomic_mutex_bodies,
};
static const struct bench_variant ttas = {
	"ttas", 8, enter_lock, atomic_ttas_bodies,
};

static const struct bench_variant *const variants[] = {
	&libatomic, &weft, &mutex, &ttas, NULL,
};

static const unsigned vcpus[] = { 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "atomic",
		.about = "A stack whose head is an atomic object of 24 bytes.",
		.cases = cases,
		.variants = variants,
		.base = "libatomic",
		.vcpus = vcpus,
		.target_ms = 200,
	};

	return bench_main(argc, argv, &suite);
}
