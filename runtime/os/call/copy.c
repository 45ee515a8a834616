/* SPDX-License-Identifier: MIT */
/* os/call/copy.c - memory that may change or vanish while it is read */
#include "os/call/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/compiler.h"
#include "os/call/root.h"
#include "syscall.h"

#define PAGE	4096u	/* or a part of one: it is only how we divide */

/* A sandbox may forbid process_vm_readv but seldom files. */
static COLD size_t copy_by_file(void *to, uintptr_t from, size_t bytes)
{
	long fd = wefti_os_proc_open("/proc/self/mem", O_RDONLY);
	long n;

	if (fd < 0)
		return 0;
	n = wefti_arch_syscall(SYS_pread64, fd, (long)to, (long)bytes,
			       (long)from, 0, 0);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return n > 0 ? (size_t)n : 0;
}

/* Copies a part of one page: all of it or nothing. */
static size_t copy_part(char *to, uintptr_t from, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)from, bytes };
	long pid = wefti_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long n = wefti_arch_syscall(SYS_process_vm_readv, pid, (long)&here, 1,
				    (long)&there, 1, 0);

	if (n == -EFAULT)		/* the page is not there */
		return 0;
	if (n < 0)
		return copy_by_file(to, from, bytes);
	return (size_t)n;
}

size_t wefti_os_copy(void *to, const void *from, size_t bytes)
{
	uintptr_t at = (uintptr_t)from;
	size_t done = copy_part(to, at, bytes);

	/* A range that is only partly there may be refused as a whole. */
	while (done < bytes) {
		size_t part = PAGE - (at + done) % PAGE;
		size_t n;

		if (part > bytes - done)
			part = bytes - done;
		n = copy_part((char *)to + done, at + done, part);
		done += n;
		if (n < part)
			break;
	}
	return done;
}
