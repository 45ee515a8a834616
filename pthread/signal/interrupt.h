/* SPDX-License-Identifier: MIT */
/* pthread/signal/interrupt.h - calls that block in the kernel end before their time */
#ifndef WEFT_PTHREAD_SIGNAL_INTERRUPT_H
#define WEFT_PTHREAD_SIGNAL_INTERRUPT_H

#include <ucontext.h>

/* What ends the call of a region. Else the kernel restarts it. */
#define WEFTI_ENDS_BY_HANDLER	1u	/* without SA_RESTART; the result is EINTR */
#define WEFTI_ENDS_BY_CANCEL	2u	/* EINTR as well; the caller acts on it */
#define WEFTI_ENDS_AT_ONCE	4u	/* in libc's wait for a child: acts in place */
#define WEFTI_ENDS_A_FUTEX	8u	/* only libc's futex(2) there, no other call */
#define WEFTI_ENDS		(WEFTI_ENDS_BY_HANDLER | WEFTI_ENDS_BY_CANCEL)

/*
 * Called in the runtime's handler, which returns to *uc. by_handler() and by_terminal():
 * a handler of the program has run that has to end the call. by_cancel(): the caller may
 * have been cancelled.
 */
void wefti_interrupt_by_handler(ucontext_t *uc);
void wefti_interrupt_by_terminal(ucontext_t *uc);
void wefti_interrupt_by_cancel(ucontext_t *uc);

#endif
