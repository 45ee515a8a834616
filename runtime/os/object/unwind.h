/* SPDX-License-Identifier: MIT */
/*
 * os/object/unwind.h - the call stack of a context, by libunwind
 *
 * One user at a time: the dump's lock. No malloc and no wait for anybody.
 */
#ifndef WEFT_OS_OBJECT_UNWIND_H
#define WEFT_OS_OBJECT_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* A stack as it was: bytes from `from` up. */
struct wefti_stack_copy {
	uintptr_t from;
	size_t bytes;
	char text[65536];
};

/*
 * Finds libunwind, and has its file in memory from then on; once a process. Takes no lock
 * and allocates nothing. At the start of the runtime.
 * Returns 0, or -ENOENT: it is not there, or not one that we know, or names have
 * another meaning by now (os/call/root.h).
 */
int wefti_os_unwind_load(void);
int wefti_os_unwind_is_loaded(void);

/* In the child of a fork, when another thread used it: as if it were not. */
void wefti_os_unwind_forget(void);

/*
 * Before each dump. The list of objects was read anew: forgets what it knows of the last
 * ones. The first time, it makes libunwind ready.
 */
void wefti_os_unwind_begin(void);

/* In a program counter: the thread was stopped there, it is no return address. */
#define WEFTI_PC_EXACT	((uintptr_t)1 << 63)

/*
 * Writes up to `most` program counters, the innermost first, and returns how
 * many; 1 without libunwind. Reads the stack from the copy, and what is not in
 * it where it is, without a fault.
 */
size_t wefti_os_unwind(const ucontext_t *context,
		       const struct wefti_stack_copy *copy,
		       uintptr_t *pcs, size_t most);

#endif
