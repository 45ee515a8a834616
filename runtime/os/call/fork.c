/* SPDX-License-Identifier: MIT */
/* os/call/fork.c - what is done around fork(), and in its child */
#include "os/call/fork.h"

#include <errno.h>
#include <stddef.h>

/*
 * A function of libc. pthread_atfork() is linked into its caller, and would call this by
 * name from there.
 */
int __register_atfork(void (*before)(void), void (*parent)(void),
		      void (*child)(void), void *object);

extern void *__dso_handle __attribute__((visibility("hidden")));

int wefti_os_at_fork(void (*child)(void))
{
	return __register_atfork(NULL, NULL, child, &__dso_handle) == 0 ? 0 : -ENOMEM;
}

int wefti_os_around_fork(void (*before)(void), void (*after)(void))
{
	return __register_atfork(before, after, after, &__dso_handle) == 0 ? 0 : -ENOMEM;
}
