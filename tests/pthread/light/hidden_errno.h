/* SPDX-License-Identifier: MIT */
/*
 * hidden_errno.h - errno where threads are light: the sanitizer does not see its accesses
 *
 * Light threads share the errno of the kernel thread that carries them, and their switches
 * order nothing for ThreadSanitizer. So it would report two threads that use errno one
 * after the other. Included before each file of pthread/ and of a test; the compiler calls
 * the functions below for volatile accesses (--param=tsan-distinguish-volatile=1), and
 * light.c defines them empty.
 */
#ifndef WEFT_TESTS_HIDDEN_ERRNO_H
#define WEFT_TESTS_HIDDEN_ERRNO_H

#include <errno.h>

#undef errno
#define errno	(*(volatile int *)__errno_location())

#endif
