/* SPDX-License-Identifier: MIT */
/* pthread/signal/altstack.h - each green thread has its own alternate stack */
#ifndef WEFT_PTHREAD_SIGNAL_ALTSTACK_H
#define WEFT_PTHREAD_SIGNAL_ALTSTACK_H

#include <signal.h>

#include "sched/preempt.h"

/* The first thread is about to become green. */
void wefti_altstack_begin(void);

/* It is not, or this is the child of a fork: the kernel's is the thread's. */
void wefti_altstack_end(void);

/* What the caller has; is it on it? */
stack_t wefti_altstack_tell(void);

/* The caller's, for sched/preempt.h. */
struct wefti_preempt_room wefti_altstack_room(void);

/* Calls fn(arg) there, if the caller has one. May park. */
void wefti_altstack_call(void (*fn)(void *arg), void *arg);

#endif
