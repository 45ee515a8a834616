/* SPDX-License-Identifier: MIT */
/* os/call/tid.c - the ids of kernel threads, and signals to one */
#include "os/call/tid.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/call/fatal.h"
#include "syscall.h"

static int (*tid_of_caller)(void);	/* set while the process has one thread */

void wefti_os_gettid_by(int (*fn)(void))
{
	tid_of_caller = fn;
}

int wefti_os_gettid(void)
{
	long tid;

	if (unlikely(tid_of_caller))
		return tid_of_caller();
	tid = wefti_arch_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (unlikely(tid < 0))
		wefti_os_fatal("gettid", tid);
	return (int)tid;
}

int wefti_os_pid(void)
{
	return getpid();
}

int wefti_os_is_privileged(void)
{
	const int saved = errno;	/* getauxval() may set it to ENOENT */
	const int is = getauxval(AT_SECURE) != 0;

	errno = saved;
	return is;
}

int wefti_os_kthread_signal(int tid, int signal)
{
	long ret = tid == 0 ? -ESRCH :
		   wefti_arch_syscall(SYS_tgkill, getpid(), tid, signal, 0, 0, 0);

	if (ret != 0 && ret != -ESRCH && ret != -EAGAIN)
		wefti_os_fatal("tgkill", ret);
	return (int)ret;
}
