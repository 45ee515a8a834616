/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/tied.c - what would change a kernel thread is refused
 *
 * Credentials, namespaces, counters: a green thread
 * would leave them behind on the kernel thread that carried it, for others to
 * find. Where the process has no green threads yet, all is the kernel's. The same by
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

/* They have no way to fail but to tell what is in force. */
EXPORT int setfsuid(uid_t id)
{
	return REAL(setfsuid)(is_green() ? (uid_t)-1 : id);
}

EXPORT int setfsgid(gid_t id)
{
	return REAL(setfsgid)(is_green() ? (gid_t)-1 : id);
}
