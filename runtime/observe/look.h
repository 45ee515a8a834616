/* SPDX-License-Identifier: MIT */
/* observe/look.h - registers and stack of a thread, copied */
#ifndef WEFT_OBSERVE_LOOK_H
#define WEFT_OBSERVE_LOOK_H

#include "os/object/unwind.h"
#include "thread/thread.h"

/* One; it belongs to the dump, and each look overwrites it. */
struct wefti_look {
	ucontext_t context;
	struct wefti_stack_copy stack;
	struct wefti_thread *self;	/* of a kernel thread: what it ran */
	int answered;
};

extern struct wefti_look wefti_look;

/* Before the first look of the process. */
void wefti_look_init(void);

/* In the child of a fork: a handler that copied is not there. */
void wefti_look_forget(void);

/*
 * A kernel thread of ours is asked for its registers and stack. Returns 0, or
 * -ETIMEDOUT: it did not answer in 50 ms.
 */
int wefti_look_at_kthread(int tid);

/* A thread that does not run, from where it would go on. */
void wefti_look_at_context(const struct wefti_context *ctx, uintptr_t top);

#endif
