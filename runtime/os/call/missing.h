/* SPDX-License-Identifier: MIT */
/*
 * os/call/missing.h - what a system call says where it is not to be had
 *
 * A kernel that is too old says ENOSYS. A filter says what its author chose: old
 * profiles of containers say EPERM to all calls that came after them, and some say
 * EACCES. This function alone decides which results mean that; os/call/calls.h lists what
 * the runtime does then, for each call that it makes.
 *
 * Where the kernel itself has EPERM or EACCES among its results, the caller either goes
 * on with another call, which then says the same if the kernel means it, or asks
 * again in a way in which the kernel does not say that (os/call/epoll.c).
 */
#ifndef WEFT_OS_CALL_MISSING_H
#define WEFT_OS_CALL_MISSING_H

#include <errno.h>

static inline int wefti_os_is_missing(long result)
{
	return result == -ENOSYS || result == -EPERM || result == -EACCES;
}

#endif
