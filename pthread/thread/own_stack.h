/* SPDX-License-Identifier: MIT */
/* pthread/thread/own_stack.h - threads on stacks that the program gives, and guards of its size */
#ifndef WEFT_PTHREAD_THREAD_OWN_STACK_H
#define WEFT_PTHREAD_THREAD_OWN_STACK_H

#include <pthread.h>

#include "pthread/core/self.h"

/* What pthread_attr_setstack() put there; leaves both alone if it did not. */
void wefti_given_stack(const pthread_attr_t *attr, void **low, size_t *bytes);

/* Calls fn(arg) on that stack, by a green thread. May park. */
void *wefti_call_on(void *low, size_t bytes, void *(*fn)(void *arg), void *arg);

/* Before t runs, and by the thread itself at its end. */
void wefti_given_guard(struct wefti_thread *t, struct wefti_begin *begin);
void wefti_given_guard_end(const struct wefti_begin *begin);

#endif
