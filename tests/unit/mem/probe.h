/* SPDX-License-Identifier: MIT */
/* probe.h - what the kernel says of an address, for the tests of mem */
#ifndef WEFT_TESTS_MEM_PROBE_H
#define WEFT_TESTS_MEM_PROBE_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "holdings.h"
#include "support.h"

/*
 * Can a byte be read there? The kernel tries, so that nothing has to catch a
 * signal; by a bare call, so that no sanitizer looks first.
 */
static inline int can_read(const void *address)
{
	static int fd[2] = { -1, -1 };
	char byte;

	if (fd[0] < 0)
		CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	if (syscall(SYS_write, fd[1], address, 1) == 1) {
		CU_ASSERT_EQUAL(read(fd[0], &byte, 1), 1);
		return 1;
	}
	CU_ASSERT_EQUAL(errno, EFAULT);
	return 0;
}

#endif
