/* SPDX-License-Identifier: MIT */
/* os/call/fatal.h - the end, when the system answers what it cannot answer */
#ifndef WEFT_OS_CALL_FATAL_H
#define WEFT_OS_CALL_FATAL_H

/* The exit status where a system call that weft needs is not to be had. */
#define WEFTI_EXIT_REFUSED	71	/* EX_OSERR */

/*
 * Writes "weft: <what>: unexpected result <result>" to standard error, where
 * `what` is cut after 200 characters, and aborts. A result that means that the call is
 * not to be had (os/call/missing.h) is not the program's fault nor ours: then it writes
 * that weft needs the call, and the process ends with WEFTI_EXIT_REFUSED. `what` begins
 * with the name of the call. No malloc, no stdio, no lock; may be called in a signal
 * handler.
 */
_Noreturn void wefti_os_fatal(const char *what, long result);

#endif
