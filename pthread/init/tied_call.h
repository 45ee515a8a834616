/* SPDX-License-Identifier: MIT */
/* pthread/init/tied_call.h - system calls that name a kernel thread, or change one */
#ifndef WEFT_PTHREAD_INIT_TIED_CALL_H
#define WEFT_PTHREAD_INIT_TIED_CALL_H

/*
 * A call by syscall() that names a kernel thread, or changes one. Returns 1 if it is done
 * or refused; then *result is what syscall() has to return.
 */
int wefti_tied_syscall(long number, const long *a, long *result);

/* pthread/init/sigsys.c: the same for calls about signals. */
int wefti_signal_syscall(long number, const long *a, long *result);

#endif
