/* SPDX-License-Identifier: MIT */
/* pthread/shared/watch_words.c - a kernel thread sleeps on many words */
#include "pthread/shared/watch_words.h"

#include <errno.h>
#include <sys/syscall.h>

#include "os/call/missing.h"
#include "os/call/newer.h"
#include "os/kthread/kthread.h"
#include "syscall.h"

int wefti_words_can_sleep(void)
{
	/* A call with no words: EINVAL from a kernel that has the call. */
	return !wefti_os_is_missing(wefti_arch_syscall(SYS_futex_waitv, 0, 0, 0,
						       0, 0, 0));
}

int wefti_words_sleep(struct wefti_words *all)
{
	long result = wefti_arch_syscall(SYS_futex_waitv, (long)all->of,
					 all->count, 0, 0, 0, 0);

	/* Out of memory, or a word was unmapped after its waiting threads left. */
	if (result < 0 && result != -EAGAIN && result != -EINTR)
		wefti_os_nap();
	return wefti_os_is_missing(result) ? -1 : result >= 0;
}
