/* SPDX-License-Identifier: MIT */
/* pthread/process/memory_lock.h - mlockall() locks what it would with libc's threads */
#ifndef WEFT_PTHREAD_PROCESS_MEMORY_LOCK_H
#define WEFT_PTHREAD_PROCESS_MEMORY_LOCK_H

struct wefti_thread;

/* Called before and after the runtime's start: its memory need not be locked. */
void wefti_memory_lock_pause(void);
void wefti_memory_lock_resume(void);

/* Called before t runs: locks the part of its stack that was asked for. */
void wefti_memory_lock_stack(struct wefti_thread *t);

#endif
