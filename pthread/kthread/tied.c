/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/tied.c - calls that would change one kernel thread are refused
 *
 * Such calls change credentials, namespaces, counters. A green thread would leave the
 * change behind on the kernel thread that carried it, for the threads it carries next.
 * While the process has no green threads, all these calls are the kernel's. The same by
 * syscall() is in pthread/init/tied_call.c.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/personality.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"

static int is_green(void)
{
	return wefti_pt_green() && wefti_pt_is_started();
}

EXPORT int capset(cap_user_header_t head, const cap_user_data_t data)
{
	return is_green() ? wefti_answer(EPERM) : REAL(capset)(head, data);
}

EXPORT int unshare(int flags)
{
	return is_green() ? wefti_answer(EINVAL) : REAL(unshare)(flags);
}

EXPORT int setns(int fd, int type)
{
	return is_green() ? wefti_answer(EINVAL) : REAL(setns)(fd, type);
}

#define ONLY_TELL	0xffffffffuL

EXPORT int personality(unsigned long what)
{
	int now = is_green() ? REAL(personality)(ONLY_TELL) : -1;

	if (now == -1)
		return REAL(personality)(what);
	return what == ONLY_TELL || what == (unsigned)now ? now :
	       wefti_answer(EINVAL);
}

/* These cannot fail: they return the id in force, and here do not change it. */
EXPORT int setfsuid(uid_t id)
{
	return REAL(setfsuid)(is_green() ? (uid_t)-1 : id);
}

EXPORT int setfsgid(gid_t id)
{
	return REAL(setfsgid)(is_green() ? (gid_t)-1 : id);
}
