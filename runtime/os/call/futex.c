/* SPDX-License-Identifier: MIT */
/* os/call/futex.c - a kernel thread sleeps on a word of this process */
#include "os/call/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/call/fatal.h"
#include "syscall.h"

int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value,
			int64_t deadline_ns)
{
	long ret = wefti_os_futex_sleep(w, FUTEX_WAIT_BITSET_PRIVATE, value,
					deadline_ns);

	switch (ret) {
	case 0:
	case -EAGAIN:
	case -EINTR:
		return 0;
	case -ETIMEDOUT:
		return -ETIMEDOUT;
	default:
		wefti_os_fatal("futex wait", ret);
	}
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	long ret = wefti_arch_syscall(SYS_futex, (long)w, FUTEX_WAKE_PRIVATE,
				      count, 0, 0, 0);

	if (ret < 0)
		wefti_os_fatal("futex wake", ret);
	return (int)ret;
}

void wefti_os_futex_wait_shared(_Atomic uint32_t *w, uint32_t value)
{
	long ret = wefti_arch_syscall(SYS_futex, (long)w, FUTEX_WAIT,
				      (long)value, 0, 0, 0);

	if (ret != 0 && ret != -EAGAIN && ret != -EINTR)
		wefti_os_fatal("futex wait", ret);
}

/* The kernel finds a shared word by its mapping, so the word can be missing. */
void wefti_os_futex_wake_shared(_Atomic uint32_t *w, int count)
{
	long ret = wefti_arch_syscall(SYS_futex, (long)w, FUTEX_WAKE, count,
				      0, 0, 0);

	if (ret < 0 && ret != -EFAULT)
		wefti_os_fatal("futex wake", ret);
}
