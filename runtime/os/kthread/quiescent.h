/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/quiescent.h - grace periods, by liburcu's quiescent states
 *
 * A kernel thread between register and unregister is a reader all the time but
 * at wefti_os_quiescent() and while it is offline. liburcu keeps a reader's
 * state in TLS, so all of these are called on the kernel thread's own TLS (in
 * the scheduler's loop), never on that of a green thread.
 */
#ifndef WEFT_OS_KTHREAD_QUIESCENT_H
#define WEFT_OS_KTHREAD_QUIESCENT_H

#include <stddef.h>

struct wefti_os_binding;

/*
 * liburcu's calls of libc go by name, which a program may define: from now on to these
 * functions, or else to libc's. Once a process, the first caller's; before others.
 */
void wefti_os_quiescent_bind(const struct wefti_os_binding *bindings,
			     size_t count);

/*
 * *reader: what liburcu knows the kernel thread by, for the child of a fork. It is
 * there for as long as liburcu's list has it, and else NULL or the thread's.
 */
void wefti_os_quiescent_register(void **reader);
void wefti_os_quiescent_unregister(void **reader);

/* This kernel thread holds no reference to anything that may be freed. */
void wefti_os_quiescent(void);

/* The same for as long as it lasts: before a sleep, after it. */
void wefti_os_quiescent_offline(void);
void wefti_os_quiescent_online(void);

/*
 * Waits until each registered kernel thread was quiescent once. Blocks. Returns
 * 0, or -ENOTSUP: there will be no grace period, nothing may be freed.
 */
int wefti_os_quiescent_wait(void);

/*
 * In the child of a fork, before it makes a kernel thread: first, and then for
 * each kernel thread that the parent had registered.
 */
void wefti_os_quiescent_after_fork(void);
void wefti_os_quiescent_forget(void *reader);

#endif
