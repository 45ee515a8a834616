/* SPDX-License-Identifier: MIT */
/* os/fork.c - what is done in the child of fork() */
#include "os/fork.h"

#include <errno.h>
#include <pthread.h>

int wefti_os_at_fork(void (*child)(void))
{
	return pthread_atfork(NULL, NULL, child) == 0 ? 0 : -ENOMEM;
}
