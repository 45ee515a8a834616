/* SPDX-License-Identifier: MIT */
/* pthread/kthread/filter.h - filters of system calls that the program sets on itself */
#ifndef WEFT_PTHREAD_KTHREAD_FILTER_H
#define WEFT_PTHREAD_KTHREAD_FILTER_H

#include "os/call/filter.h"

struct wefti_filter {
	struct wefti_os_filtered seen;
	int process;		/* which sets it */
};

/* Does the call set a filter for the whole process? Then its address, else NULL. */
const void *wefti_filter_of_call(long number, const long *a);
int wefti_filter_is_done(long number, const long *a, long result);

/*
 * Called before the filter is set: afterwards a call of ours may end the process. If
 * threads are green and weft cannot go on with it, one line says so and the process ends.
 */
void wefti_filter_look(const void *filter, struct wefti_filter *f);

/* The filter is in force. */
void wefti_filter_is_set(const struct wefti_filter *f);

/* The call for which threads have to stay libc's in this process; NULL: none. */
const char *wefti_filter_refuses(void);

/* When this library is loaded, and in the child of a fork. */
void wefti_filter_process(void);

#endif
