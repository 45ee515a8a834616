/* SPDX-License-Identifier: MIT */
/* pthread/signal/interrupt.h - calls that block in the kernel end before their time */
#ifndef WEFT_PTHREAD_SIGNAL_INTERRUPT_H
#define WEFT_PTHREAD_SIGNAL_INTERRUPT_H

#include <ucontext.h>

/* What ends the call of a region, else the kernel goes on with it. */
#define WEFTI_ENDS_BY_HANDLER	1u	/* one without SA_RESTART; the result is EINTR */
#define WEFTI_ENDS_BY_CANCEL	2u	/* the same; who has called acts on it */
#define WEFTI_ENDS_AT_ONCE	4u	/* libc's wait for a child, in it */
#define WEFTI_ENDS_A_FUTEX	8u	/* and no other call that libc makes there */
#define WEFTI_ENDS		(WEFTI_ENDS_BY_HANDLER | WEFTI_ENDS_BY_CANCEL)

/*
 * In the runtime's handler, which goes back to *uc: a handler has run that is to end
 * the call; the caller has been cancelled, perhaps.
 */
void wefti_interrupt_by_handler(ucontext_t *uc);
void wefti_interrupt_by_terminal(ucontext_t *uc);
void wefti_interrupt_by_cancel(ucontext_t *uc);

#endif
