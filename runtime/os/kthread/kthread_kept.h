/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/kthread_kept.h - a kernel thread that waits for its work
 *
 * There is one in a process. First it serves to look at what libc makes. Then it is used
 * as the next kernel thread that is wanted. To end it would touch 200 KB of libc's text
 * and data, which a program does not need if its threads do not end.
 */
#ifndef WEFT_OS_KTHREAD_KTHREAD_KEPT_H
#define WEFT_OS_KTHREAD_KTHREAD_KEPT_H

#include <stddef.h>

#include "os/kthread/kthread.h"

/*
 * Makes it, on a stack of about `bytes`, a multiple of the page size, and makes it run
 * first(arg, stack, the stack's bytes). Signals are blocked in it as in others. Returns
 * when first() has returned: 0, -EAGAIN or -ENOMEM.
 */
int wefti_os_kthread_keep(size_t bytes,
			  void (*first)(void *arg, char *stack, size_t bytes),
			  void *arg);

/* Makes it run that as well, if it still waits. Returns 1 when run() has returned, or 0. */
int wefti_os_kthread_kept_again(void (*run)(void *arg, char *stack, size_t bytes),
				void *arg);

/* Ends it, if it still waits. */
void wefti_os_kthread_unkeep(void);

/*
 * For os/kthread/kthread.c. take(): makes it run run(k) and returns 1, if it waits and
 * has a stack of that size. joined(): its stack is given back.
 */
int wefti_os_kthread_kept_take(struct wefti_os_kthread *k, size_t stack_bytes,
			       void *(*run)(void *k));
void wefti_os_kthread_kept_joined(uintptr_t pthread);

#endif
