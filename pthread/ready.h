/* SPDX-License-Identifier: MIT */
/* pthread/ready.h - a green thread waits until descriptors are ready */
#ifndef WEFT_PTHREAD_READY_H
#define WEFT_PTHREAD_READY_H

#include <poll.h>
#include <stdint.h>

#include "io/table.h"

/* The end of the time that a socket's option (SO_RCVTIMEO, ...) gives. */
int64_t wefti_pt_socket_deadline(int fd, int option);

int wefti_pt_fd_is_nonblocking(int fd);

/*
 * poll() without a wait. A signal of the runtime's that comes meanwhile, such as
 * the one by which a cancelled thread is interrupted, is no EINTR of the program's.
 */
int wefti_pt_poll_now(struct pollfd *fds, nfds_t count);

/*
 * All are cancellation points, by green threads. They return 0, EAGAIN at the
 * deadline, or EINTR: a handler has run.
 *
 * Until look() does not return 0, which it is asked at first and whenever one
 * of the descriptors may have become ready. -ENOTSUP: one of them cannot be
 * waited for so, and nothing was done.
 */
int wefti_pt_ready_wait(const struct pollfd *fds, nfds_t count,
			int (*look)(void *arg), void *arg, int64_t deadline);

/*
 * Until the caller should try again: it is ready, or may be. `before` was had
 * before the caller's last try.
 */
struct wefti_edges {
	uint32_t of[WEFTI_SIDES];
};

struct wefti_edges wefti_pt_fd_edges(int fd);
int wefti_pt_fd_wait(int fd, short events, struct wefti_edges before,
		     int64_t deadline);

#endif
