/* SPDX-License-Identifier: MIT */
/* os/libc/thread_end.h - calls a function when the owner of the current TLS ends */
#ifndef WEFT_OS_LIBC_THREAD_END_H
#define WEFT_OS_LIBC_THREAD_END_H

/*
 * fn(arg) runs where C++ runs the destructors of thread_local objects, in the reverse
 * order of the calls. That is at the end of a kernel thread, of a thread with complete
 * TLS, or of the process by exit(). Returns 0 or -ENOMEM.
 */
int wefti_os_at_thread_end(void (*fn)(void *arg), void *arg);

#endif
