/* SPDX-License-Identifier: MIT */
/* os/fork.c - what is done around fork(), and in its child */
#include "os/fork.h"

#include <errno.h>
#include <pthread.h>

int wefti_os_at_fork(void (*child)(void))
{
	return pthread_atfork(NULL, NULL, child) == 0 ? 0 : -ENOMEM;
}

int wefti_os_around_fork(void (*before)(void), void (*after)(void))
{
	return pthread_atfork(before, after, after) == 0 ? 0 : -ENOMEM;
}
