/* SPDX-License-Identifier: MIT */
/* os/call/epoll.h - the kernel says which descriptors have become ready */
#ifndef WEFT_OS_CALL_EPOLL_H
#define WEFT_OS_CALL_EPOLL_H

#include <stdint.h>

#define WEFTI_OS_READABLE	1u	/* or its end, or an error */
#define WEFTI_OS_WRITABLE	2u	/* or an error */

struct wefti_os_event {
	uint64_t data;
	uint32_t ready;			/* WEFTI_OS_* */
};

/* Returns a descriptor that exec closes; -EMFILE, -ENFILE or -ENOMEM. */
int wefti_os_epoll_open(void);

/*
 * From now on there is an event with data each time that fd becomes readable or writable,
 * and one event if it is so now. Returns 0, else
 *   -EPERM   such a file is always ready
 *   -EBADF   fd is not open
 *   -EEXIST  (add) it is watched already
 *   -ENOENT  (again) it is not watched
 *   -ENOMEM, -ENOSPC
 */
int wefti_os_epoll_add(int ep, int fd, uint64_t data);
int wefti_os_epoll_again(int ep, int fd, uint64_t data);
void wefti_os_epoll_remove(int ep, int fd);

/*
 * A descriptor that is readable from wefti_os_eventfd_post() until
 * wefti_os_eventfd_take(); an eventfd, to which the kernel can post too. Or an error as
 * above. open: it is watched, and gives READABLE to each wait.
 */
int wefti_os_eventfd_make(void);
int wefti_os_eventfd_open(int ep, uint64_t data);
void wefti_os_eventfd_post(int wake);
void wefti_os_eventfd_take(int wake);

/*
 * Waits until there are events or the deadline (CLOCK_MONOTONIC, in nanoseconds;
 * 0: not at all, INT64_MAX: for ever). Returns how many there are, up to
 * WEFTI_OS_EVENTS; 0 also when a signal handler ran.
 */
#define WEFTI_OS_EVENTS	32

int wefti_os_epoll_wait(int ep, struct wefti_os_event *events, int64_t deadline);

#endif
