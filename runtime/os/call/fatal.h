/* SPDX-License-Identifier: MIT */
/* os/call/fatal.h - the end, if a system call has an impossible result */
#ifndef WEFT_OS_CALL_FATAL_H
#define WEFT_OS_CALL_FATAL_H

/* The exit status if a system call that weft needs is not available. */
#define WEFTI_EXIT_REFUSED	71	/* EX_OSERR */

/*
 * Writes "weft: <what>: unexpected result <result>" to standard error, with `what` cut
 * after 200 characters, and aborts. If the result means that the call is not available
 * (os/call/missing.h), neither the program nor weft is at fault. Then it writes that weft
 * needs the call, and the process ends with WEFTI_EXIT_REFUSED. `what` begins with the
 * name of the call. Uses no malloc, no stdio and no lock, and may be called in a signal
 * handler.
 */
_Noreturn void wefti_os_fatal(const char *what, long result);

#endif
