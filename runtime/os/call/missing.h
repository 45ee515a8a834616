/* SPDX-License-Identifier: MIT */
/*
 * os/call/missing.h - the results of a system call that is not available
 *
 * A kernel that is too old returns ENOSYS. A filter returns what its author chose: old
 * profiles of containers return EPERM for all newer calls, and some return EACCES. Only
 * this function decides which results mean that. os/call/calls.h lists what the runtime
 * does then, for each call that it makes.
 *
 * The kernel itself may return EPERM or EACCES for some calls. Then the caller either
 * goes on with another call, which returns the same if the error is the kernel's. Or it
 * asks again in a way in which the kernel does not return that error (os/call/epoll.c).
 */
#ifndef WEFT_OS_CALL_MISSING_H
#define WEFT_OS_CALL_MISSING_H

#include <errno.h>

static inline int wefti_os_is_missing(long result)
{
	return result == -ENOSYS || result == -EPERM || result == -EACCES;
}

#endif
