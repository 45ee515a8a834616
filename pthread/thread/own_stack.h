/* SPDX-License-Identifier: MIT */
/* pthread/thread/own_stack.h - stacks that the program gives, and guards of its size */
#ifndef WEFT_PTHREAD_THREAD_OWN_STACK_H
#define WEFT_PTHREAD_THREAD_OWN_STACK_H

#include <pthread.h>

#include "pthread/core/self.h"

/* Reads what pthread_attr_setstack() has set. If it was not called, changes neither. */
void wefti_given_stack(const pthread_attr_t *attr, void **low, size_t *bytes);

/* Called by a green thread: calls fn(arg) on that stack. May park. */
void *wefti_call_on(void *low, size_t bytes, void *(*fn)(void *arg), void *arg);

/*
 * If the thread wants a larger guard (begin->more_guard): the first is called before t
 * runs, the second by the thread itself at its end.
 */
void wefti_given_guard(struct wefti_thread *t, struct wefti_begin *begin);
void wefti_given_guard_end(const struct wefti_begin *begin);

#endif
