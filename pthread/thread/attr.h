/* SPDX-License-Identifier: MIT */
/* pthread/thread/attr.h - the default attributes of threads */
#ifndef WEFT_PTHREAD_THREAD_ATTR_H
#define WEFT_PTHREAD_THREAD_ATTR_H

#include <stddef.h>

/*
 * Returns 1 if the program has not changed the default attributes. Then a thread has
 * these sizes (with WEFT_STACK in mind), is joinable, and has no mask of its own. Returns
 * 0 if pthread_getattr_default_np() has to be asked.
 */
int wefti_defaults_are_first(size_t *stack, size_t *guard);

/* In the child of a fork: its settings may be others. */
void wefti_defaults_forget(void);

#endif
