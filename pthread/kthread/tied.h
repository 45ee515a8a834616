/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/tied.h - what the kernel ties to a kernel thread
 *
 * A green thread moves from one kernel thread to another. So what a call would tie to the
 * present kernel thread is kept for the green thread, done for the whole process, or
 * refused. doc/design/preload.md has the table.
 */
#ifndef WEFT_PTHREAD_KTHREAD_TIED_H
#define WEFT_PTHREAD_KTHREAD_TIED_H

/*
 * pthread/kthread/prctl.c. begin(): on the first kernel thread, when the runtime has
 * started. forget(): in the child of a fork, if the thread that forked was green.
 */
void wefti_prctl_begin(void);
void wefti_prctl_forget(void);

/* Called by the receiver of signals when it is woken. */
void wefti_death_signal_serve(void);

/* Called before the kernel thread makes a process or executes a program. */
void wefti_privileges_hand_on(void);

#endif
