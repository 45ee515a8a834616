/* SPDX-License-Identifier: MIT */
/* os/call/filter.h - what a program's own filter of system calls would do to weft */
#ifndef WEFT_OS_CALL_FILTER_H
#define WEFT_OS_CALL_FILTER_H

/* Names of calls. NULL: there is none. */
struct wefti_os_filtered {
	const char *needed;	/* it is refused, and weft ends the process without it */
	const char *deadly;	/* weft makes it, and the filter ends the process then */
};

/*
 * `filter` is the struct sock_fprog of seccomp(2). A call counts only if the filter
 * refuses it whatever its arguments are. If the filter cannot be read there is none:
 * the kernel refuses it, too.
 */
void wefti_os_filter_look(const void *filter, struct wefti_os_filtered *seen);

/* A call that weft cannot do without, and that is not available now. NULL: there is none. */
const char *wefti_os_needed_refused(void);

#endif
