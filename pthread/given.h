/* SPDX-License-Identifier: MIT */
/* pthread/given.h - threads on stacks that the program gives */
#ifndef WEFT_PTHREAD_GIVEN_H
#define WEFT_PTHREAD_GIVEN_H

#include <pthread.h>

/* What pthread_attr_setstack() put there; leaves both alone if it did not. */
void wefti_given_stack(const pthread_attr_t *attr, void **low, size_t *bytes);

/* Calls fn(arg) on that stack, by a green thread. May park. */
void *wefti_call_on(void *low, size_t bytes, void *(*fn)(void *arg), void *arg);

#endif
