/* SPDX-License-Identifier: MIT */
/* sched/stacks.h - stacks for the recorder: of threads that wait or spawn, and on the CPU */
#ifndef WEFT_SCHED_STACKS_H
#define WEFT_SCHED_STACKS_H

#include "record/memory.h"
#include "sched/vcpu.h"

/* What is wanted. All 0: nothing. The hooks look at it while events are recorded. */
struct wefti_stacks {
	_Atomic uint32_t every;		/* of so many short waits or spawns one; 0: none */
	_Atomic uint32_t bytes;		/* of a stack, at most */
};

extern struct wefti_stacks wefti_stacks;

#define WEFTI_STACK_BYTES_MOST	(63 * 1024u)

/*
 * v's owner has just recorded that v runs `to` from now on. If `to` has waited, the stack
 * with which it did may follow.
 */
COLD void wefti_stacks_of_wait(struct wefti_vcpu *v, const struct wefti_thread *to);

/* The thread in v has just recorded that it spawns another. Its stack may follow. */
COLD void wefti_stacks_of_spawn(struct wefti_vcpu *v);

static inline int wefti_stacks_are_wanted(void)
{
	return load_relaxed(&wefti_stacks.every) != 0;
}

/* How many bytes of t's stack are to be copied from sp on. */
size_t wefti_stack_bytes(const struct wefti_thread *t, uintptr_t sp);

#endif
