/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/quiescent.h - grace periods, by liburcu's quiescent states
 *
 * Between register and unregister a kernel thread is always a reader, except at
 * wefti_os_quiescent() and while it is offline. liburcu keeps a reader's state in TLS. So
 * all of these are called on the kernel thread's own TLS (in the scheduler's loop), never
 * on that of a green thread.
 */
#ifndef WEFT_OS_KTHREAD_QUIESCENT_H
#define WEFT_OS_KTHREAD_QUIESCENT_H

#include <stddef.h>

struct wefti_os_binding;

/*
 * liburcu calls libc by names that a program may define. From now on these calls go to
 * these functions, or else to libc's. Only the first call in a process counts, and it
 * must come before the other functions.
 */
void wefti_os_quiescent_bind(const struct wefti_os_binding *bindings,
			     size_t count);

/*
 * *reader: by what liburcu knows the kernel thread, for the child of a fork. It is set as
 * long as the kernel thread is in liburcu's list. Else it is NULL or still that value.
 */
void wefti_os_quiescent_register(void **reader);
void wefti_os_quiescent_unregister(void **reader);

/* This kernel thread holds no reference to anything that may be freed. */
void wefti_os_quiescent(void);

/* The same for a longer time: offline() before a sleep, online() after it. */
void wefti_os_quiescent_offline(void);
void wefti_os_quiescent_online(void);

/*
 * Waits until each registered kernel thread was quiescent once. Blocks. Returns
 * 0, or -ENOTSUP: there will be no grace period, nothing may be freed.
 */
int wefti_os_quiescent_wait(void);

/*
 * In the child of a fork, before it makes a kernel thread: after_fork() first, then
 * forget() for each kernel thread that the parent had registered.
 */
void wefti_os_quiescent_after_fork(void);
void wefti_os_quiescent_forget(void *reader);

#endif
