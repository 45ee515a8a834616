/* SPDX-License-Identifier: MIT */
/* os/libc/thread_end.c - calls a function when the owner of the current TLS ends */
#include "os/libc/thread_end.h"

#include <errno.h>

/* Libc's; what C++ compilers call for a thread_local object. */
int __cxa_thread_atexit_impl(void (*fn)(void *arg), void *arg, void *library);

extern void *__dso_handle __attribute__((visibility("hidden")));

int wefti_os_at_thread_end(void (*fn)(void *arg), void *arg)
{
	return __cxa_thread_atexit_impl(fn, arg, &__dso_handle) == 0 ? 0 :
								       -ENOMEM;
}
