/* SPDX-License-Identifier: MIT */
/* os/libc/kthread_end.h - calls a function when the calling kernel thread ends */
#ifndef WEFT_OS_LIBC_KTHREAD_END_H
#define WEFT_OS_LIBC_KTHREAD_END_H

/* One function for all kernel threads, one arg each. Returns 0 or -EAGAIN. */
int wefti_os_at_kthread_end(void (*fn)(void *arg), void *arg);

#endif
