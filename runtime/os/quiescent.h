/* SPDX-License-Identifier: MIT */
/*
 * os/quiescent.h - grace periods, by liburcu's quiescent states
 *
 * A kernel thread between register and unregister is a reader all the time but
 * at wefti_os_quiescent() and while it is offline. liburcu keeps a reader's
 * state in TLS, so all of these are called on the kernel thread's own TLS (in
 * the scheduler's loop), never on that of a green thread.
 */
#ifndef WEFT_OS_QUIESCENT_H
#define WEFT_OS_QUIESCENT_H

void wefti_os_quiescent_register(void);
void wefti_os_quiescent_unregister(void);

/* This kernel thread holds no reference to anything that may be freed. */
void wefti_os_quiescent(void);

/* The same for as long as it lasts: before a sleep, after it. */
void wefti_os_quiescent_offline(void);
void wefti_os_quiescent_online(void);

/* Waits until each registered kernel thread was quiescent once. Blocks. */
void wefti_os_quiescent_wait(void);

#endif
