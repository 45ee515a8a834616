/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - the least that test_tls.c needs of a thread: a context, a TLS
 * block, and kernel threads that run them by turns
 */
#ifndef WEFT_TESTS_FIBER_H
#define WEFT_TESTS_FIBER_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "os/tls/tls.h"

#define FIBER_STACK	((size_t)32 << 10)

struct fiber {
	struct wefti_context context;
	struct wefti_context *carrier;	/* to go back to */
	uintptr_t carrier_tp;
	struct wefti_tls tls;
	char *stack;
	void (*body)(struct fiber *self);
	uintptr_t id;
	int done;
	int bad;			/* checks that failed in it */
};

/* A stack and a block for `body`; the same again after it is done. */
void fiber_make(struct fiber *f, uintptr_t id, void (*body)(struct fiber *));
void fiber_renew(struct fiber *f, void (*body)(struct fiber *));
void fiber_free(struct fiber *f);

/*
 * A kernel thread calls it on its own block. It returns when f yields or is
 * done.
 */
void fiber_run(struct fiber *f);
void fiber_yield(struct fiber *self);

/*
 * Runs all of them to their end on two kernel threads, a random one at a time.
 * Returns how often one came to another kernel thread.
 */
size_t fibers_run(struct fiber *f, size_t count);

#define FIBER_CHECK(self, cond)	((self)->bad += !(cond))

#endif
