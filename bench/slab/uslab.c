/* SPDX-License-Identifier: MIT */
/*
 * slab/uslab.c - the design of "Racing to Win", built anew for comparison
 *
 * As many slabs as threads ask for, each with a list through its objects under
 * a head of first object and generation. A pop is one CAS of both, a push one
 * CAS of the first object alone: only pops let an old head come back, and they
 * count. Memory starts as zeros, and a next of 0 means the neighbour. A thread
 * has a slab where it begins, and goes to the next one when that is empty.
 * What was wrong in the original is right here: the slab's end is looked for
 * in the head that the CAS compares with, and slabs hold whole objects.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "lockfree/atomic.h"
#include "slab/allocs.h"
#include "wide.h"

#define SLABS	64u
#define IN_SLAB	(OBJECTS / SLABS)

struct head {
	_Alignas(128) _Atomic uint64_t first;	/* address; end: it is empty */
	_Atomic uint64_t generation;
	uint64_t begin, end;
};

static struct head heads[SLABS];
static _Atomic unsigned threads;
static _Thread_local unsigned own;		/* + 1; 0: not chosen yet */

static void *pop(struct head *h)
{
	struct wefti_wide old, new;

	old.hi = load_seq_cst(&h->generation);
	old.lo = load_seq_cst(&h->first);
	while (old.lo != h->end) {
		uint64_t after = load_relaxed((_Atomic uint64_t *)old.lo);

		new.lo = after ? after : old.lo + OBJECT_BYTES;
		new.hi = old.hi + 1;
		if (wefti_arch_wide_cas(&h->first, &old, new))
			return (void *)old.lo;
	}
	return NULL;
}

static NOINLINE void *uslab_take(void)
{
	if (!own)
		own = fetch_add_relaxed(&threads, 1u) % SLABS + 1;
	for (unsigned i = 0; i < SLABS; i++) {
		void *object = pop(&heads[(own - 1 + i) % SLABS]);

		if (object)
			return object;
	}
	bench_fail("uslab is empty");
}

static NOINLINE void uslab_give(void *object)
{
	uint64_t at = (uint64_t)(uintptr_t)object;
	struct head *h = &heads[(at - heads[0].begin) /
				(IN_SLAB * OBJECT_BYTES)];
	uint64_t first = load_seq_cst(&h->first);

	do {
		store_relaxed((_Atomic uint64_t *)object, first);
	} while (!cas_weak_seq_cst(&h->first, &first, at));
}

ALLOC_OPS(uslab, uslab_take(), uslab_give(object));

void use_uslab(struct bench_ctx *ctx)
{
	char *start;

	if (!(wefti_arch_wide_can() & WEFTI_WIDE_CAS))
		bench_skip(ctx, "no compare-and-swap of 16 bytes");
	start = mmap(NULL, OBJECTS * OBJECT_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		bench_fail("no memory");
	for (unsigned i = 0; i < SLABS; i++) {
		heads[i].begin = (uint64_t)(uintptr_t)start +
				 i * IN_SLAB * OBJECT_BYTES;
		heads[i].end = heads[i].begin + IN_SLAB * OBJECT_BYTES;
		store_relaxed(&heads[i].first, heads[i].begin);
	}
	alloc_ops = uslab_ops;
}
