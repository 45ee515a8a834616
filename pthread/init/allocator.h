/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/allocator.h - a malloc() that is not libc's, under green threads
 *
 * With WEFT_MALLOC=libc such a program has no green threads.
 *
 * The runtime calls malloc() while it is inside itself, where a thread cannot park. So
 * the functions that an allocator calls are bound to libc again: its locks are the
 * kernel's, and kernel threads hold them. No thread is preempted inside the allocator
 * (sched/preempt.c).
 *
 * An allocator's own threads (jemalloc has some) are green like the program's, if the
 * program made one first. So the condition variables that they wait for are ours, with a
 * mutex of libc's.
 */
#ifndef WEFT_PTHREAD_INIT_ALLOCATOR_H
#define WEFT_PTHREAD_INIT_ALLOCATOR_H

/*
 * Called when libc's functions have been found. That is before the allocator can have
 * made a thread, because it calls syscall() first.
 */
void wefti_allocator_bind(void);

/*
 * Called before the runtime decides about a thread's own block: with a known allocator a
 * program may have green threads. tell() says so.
 */
void wefti_allocator_serve(void);
void wefti_allocator_tell(void);

#endif
