/* SPDX-License-Identifier: MIT */
/* os/fork.c - what is done around fork() */
#include "os/fork.h"

#include <errno.h>
#include <pthread.h>

int wefti_os_at_fork(void (*before)(void), void (*parent)(void),
		     void (*child)(void))
{
	return pthread_atfork(before, parent, child) == 0 ? 0 : -ENOMEM;
}
