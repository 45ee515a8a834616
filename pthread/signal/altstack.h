/* SPDX-License-Identifier: MIT */
/* pthread/signal/altstack.h - each green thread has its own alternate stack */
#ifndef WEFT_PTHREAD_SIGNAL_ALTSTACK_H
#define WEFT_PTHREAD_SIGNAL_ALTSTACK_H

#include <signal.h>

#include "sched/preempt.h"

/* Called before the first thread becomes green. */
void wefti_altstack_begin(void);

/* The first thread is no longer green, or this is a fork's child: tells the kernel. */
void wefti_altstack_end(void);

/* The caller's alternate stack, and whether the caller is on it. */
stack_t wefti_altstack_tell(void);

/* The bounds of the caller's alternate stack, for sched/preempt.h. */
struct wefti_preempt_room wefti_altstack_room(void);

/* Calls fn(arg) on the caller's alternate stack, if there is one. May park. */
void wefti_altstack_call(void (*fn)(void *arg), void *arg);

#endif
