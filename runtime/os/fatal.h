/* SPDX-License-Identifier: MIT */
/* os/fatal.h - the end, when the system answers what it cannot answer */
#ifndef WEFT_OS_FATAL_H
#define WEFT_OS_FATAL_H

/*
 * Writes "weft: <what>: unexpected result <result>" to standard error, where
 * `what` is cut after 200 characters, and aborts. No malloc, no stdio, no lock;
 * may be called in a signal handler.
 */
_Noreturn void wefti_os_fatal(const char *what, long result);

#endif
