/* SPDX-License-Identifier: MIT */
/* observe/look.h - copies the registers and the stack of a thread */
#ifndef WEFT_OBSERVE_LOOK_H
#define WEFT_OBSERVE_LOOK_H

#include "os/object/unwind.h"
#include "thread/thread.h"

/* There is one. It belongs to the dump, and each look overwrites it. */
struct wefti_look {
	ucontext_t context;
	struct wefti_stack_copy stack;
	struct wefti_thread *self;	/* for a kernel thread: the thread that it ran */
	int answered;
};

extern struct wefti_look wefti_look;

/* Called before the process's first look. */
void wefti_look_init(void);

/* Called in the child of a fork: a handler that copied does not exist. */
void wefti_look_forget(void);

/*
 * Asks a kernel thread of ours for its registers and stack. Returns 0, or -ETIMEDOUT if
 * it did not answer within 50 ms.
 */
int wefti_look_copy_kthread(int tid);

/*
 * A kernel thread waits in the handler of a fault, which has interrupted t there. t: NULL:
 * no thread. A dump shows t at that place.
 */
void wefti_look_crashed(const struct wefti_thread *t, const void *context);

/* The same as copy_kthread, if t has crashed so. Returns 0 if it has not. */
int wefti_look_copy_crashed(const struct wefti_thread *t);

/* For a thread that does not run: from where it would go on. */
void wefti_look_copy_context(const struct wefti_context *ctx, uintptr_t top);

#endif
