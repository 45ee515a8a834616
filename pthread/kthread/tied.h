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

#include <errno.h>
#include <time.h>

#include "pthread/core/self.h"

/*
 * pthread/kthread/prctl.c. On the first kernel thread, when the runtime has started; in
 * the child of a fork, where the thread that forked was green.
 */
void wefti_prctl_begin(void);
void wefti_prctl_forget(void);

/* pthread/thread/tid_address.c, of the caller; the last when its function has returned. */
int *wefti_tid_address(void);
void wefti_tid_address_set(int *address);
void wefti_tid_address_end(void);

/* By the receiver of signals, when it is kicked. */
void wefti_death_signal_look(void);

/* Before the kernel thread makes a process or becomes a program. */
void wefti_privileges_hand_on(void);

/*
 * A call by syscall() that names a kernel thread, or changes one: returns 1 when
 * it is done or refused, *result being what syscall() returns.
 */
int wefti_tied_syscall(long number, const long *a, long *result);

/* pthread/signal/sigsys.c: the same for those that are about signals. */
int wefti_signal_syscall(long number, const long *a, long *result);

/* A clock on which the kernel can have no timer; 0: it can. */
int wefti_timer_error(clockid_t clock);

/* What calls return that set errno. */
static inline int wefti_answer(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

#endif
