/* SPDX-License-Identifier: MIT */
/* sched/busy.h - may an interrupted thread hold a lock of malloc's or the loader's? */
#ifndef WEFT_SCHED_BUSY_H
#define WEFT_SCHED_BUSY_H

#include <ucontext.h>

#include "os/signal/signal.h"
#include "sched/preempt.h"

/*
 * Asked by the thread about itself, in a handler, for the place where it goes on. The
 * first may say yes for a thread that only has an address of malloc's on its stack: it
 * is for threads that can be asked again. The second does so only where the thread is
 * in libc, and covers the loader's locks too.
 */
int wefti_may_be_in_malloc(const struct wefti_thread *self, const ucontext_t *uc);
int wefti_is_busy(const struct wefti_thread *self, const ucontext_t *uc);

/* sp is a stack pointer: at the lowest address it belongs to the stack below. */
static inline int wefti_is_in_room(const struct wefti_preempt_room *room,
				   uintptr_t sp)
{
	return wefti_os_is_on_stack(sp, room->low, room->bytes);
}

/* If the stack is not known, all memory counts as the stack. */
static inline struct wefti_preempt_room
wefti_own_stack(const struct wefti_thread *self)
{
	const void *low = self->cold->stack_low;

	return (struct wefti_preempt_room){
		(uintptr_t)low, low ? self->cold->stack_bytes : UINTPTR_MAX,
	};
}

#endif
