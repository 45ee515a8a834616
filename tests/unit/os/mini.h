/* SPDX-License-Identifier: MIT */
/*
 * mini.h - the least that test_tls.c needs of a thread: a context, a TLS
 * block, and kernel threads that run them by turns
 */
#ifndef WEFT_TESTS_OS_MINI_H
#define WEFT_TESTS_OS_MINI_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "os/tls/tls.h"

#define MINI_STACK	((size_t)32 << 10)

struct mini {
	struct wefti_context context;
	struct wefti_context *carrier;	/* to go back to */
	uintptr_t carrier_tp;
	struct wefti_tls tls;
	char *stack;
	void (*body)(struct mini *self);
	uintptr_t id;
	int done;
	int bad;			/* checks that failed in it */
};

/* A stack and a block for `body`; the same again after it is done. */
void mini_make(struct mini *f, uintptr_t id, void (*body)(struct mini *));
void mini_renew(struct mini *f, void (*body)(struct mini *));
void mini_free(struct mini *f);

/*
 * A kernel thread calls it on its own block. It returns when f yields or is
 * done.
 */
void mini_run(struct mini *f);
void mini_yield(struct mini *self);

/*
 * Runs all of them to their end on two kernel threads, a random one at a time.
 * Returns how often one came to another kernel thread.
 */
size_t minis_run(struct mini *f, size_t count);

#define MINI_CHECK(self, cond)	((self)->bad += !(cond))

#endif
