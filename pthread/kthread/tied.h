/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/tied.h - what the kernel ties to a kernel thread
 *
 * A green thread goes from one kernel thread to another, so what a call would
 * tie to the present one is kept for the green thread, done for the process, or
 * refused. doc/design/preload.md has the table.
 */
#ifndef WEFT_PTHREAD_KTHREAD_TIED_H
#define WEFT_PTHREAD_KTHREAD_TIED_H

/*
 * pthread/kthread/prctl.c. On the first kernel thread, when the runtime has started; in
 * the child of a fork, where the thread that forked was green.
 */
void wefti_prctl_begin(void);
void wefti_prctl_forget(void);

/* By the receiver of signals, when it is kicked. */
void wefti_death_signal_look(void);

/* Before the kernel thread makes a process or becomes a program. */
void wefti_privileges_hand_on(void);

#endif
