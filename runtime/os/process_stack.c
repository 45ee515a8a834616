/* SPDX-License-Identifier: MIT */
/* os/process_stack.c - the stack that the kernel gave the process */
#include "os/process_stack.h"

#include <pthread.h>

void wefti_os_process_stack(const void **low, size_t *bytes)
{
	pthread_attr_t attr;
	void *start = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		pthread_attr_getstack(&attr, &start, &size);
		pthread_attr_destroy(&attr);
	}
	*low = start;
	*bytes = size;
}
