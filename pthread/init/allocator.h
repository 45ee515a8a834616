/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/allocator.h - a malloc() that is not libc's, under green threads
 *
 * With WEFT_MALLOC=libc there are no green threads then.
 *
 * The runtime calls malloc() inside of itself, where a thread cannot park. So what an
 * allocator calls is libc's again: its locks are the kernel's, and are held by kernel
 * threads. Nobody is preempted inside of it (sched/preempt.c).
 *
 * Its own threads, which jemalloc has, are green like the program's, if the program had
 * one first. So the condition variables that they wait for are ours, with a mutex that is
 * libc's.
 */
#ifndef WEFT_PTHREAD_INIT_ALLOCATOR_H
#define WEFT_PTHREAD_INIT_ALLOCATOR_H

/*
 * When libc's functions have been found, which is before it can have made a thread: it
 * calls syscall() before.
 */
void wefti_allocator_bind(void);

/* Before wefti_tls_init(): a program with one that is known may have green threads. */
void wefti_allocator_serve(void);

#endif
