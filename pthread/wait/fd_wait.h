/* SPDX-License-Identifier: MIT */
/* pthread/wait/fd_wait.h - a green thread waits until descriptors are ready */
#ifndef WEFT_PTHREAD_WAIT_FD_WAIT_H
#define WEFT_PTHREAD_WAIT_FD_WAIT_H

#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

#include "io/table.h"
#include "pthread/core/self.h"
#include "pthread/wait/fd_table.h"

/* Receives so do not wait: Linux has errors and urgent data, or it has none. */
#define WEFTI_RECV_AT_ONCE	(MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)

/* A receive that may wait although there is something. */
static inline int wefti_pt_waits_for_more(int fd, int flags)
{
	return (flags & MSG_WAITALL) || wefti_pt_fd_is(fd, WEFTI_FD_LOWAT);
}

/* An option of SOL_SOCKET that is a number; -1: not a socket. Leaves errno. */
int wefti_pt_socket_option(int fd, int option);

int wefti_pt_fd_is_nonblocking(int fd);

/*
 * poll() without a wait. A signal of the runtime's that comes meanwhile, such as
 * the one by which a cancelled thread is interrupted, is no EINTR of the program's.
 */
int wefti_pt_poll_now(struct pollfd *fds, nfds_t count);

/*
 * All are cancellation points, by green threads. They return 0, EAGAIN at the
 * deadline, or EINTR: a handler has run. `handled` is NULL for calls that Linux
 * restarts after a handler with SA_RESTART; others (poll(), select() and so on)
 * end after any that has run since *handled was the thread's count.
 *
 * Until look() does not return 0, which it is asked at first and whenever one
 * of the descriptors may have become ready. -ENOTSUP: one of them cannot be
 * waited for so, and nothing was done.
 */
int wefti_pt_ready_wait(const struct pollfd *fds, nfds_t count,
			int (*look)(void *arg), void *arg, int64_t deadline,
			const uint32_t *handled);

/*
 * Until the caller should try again: it is ready, or may be. `before` was had
 * before the caller's last try.
 */
struct wefti_edges {
	uint32_t of[WEFTI_SIDES];
};

struct wefti_edges wefti_pt_fd_edges(int fd);
int wefti_pt_fd_wait(int fd, short events, struct wefti_edges before,
		     int64_t deadline, const uint32_t *handled);

/*
 * How long one call waits for a socket, whose option says that. It begins with
 * zeros. With a deadline the call has no restart; nor has a write, of whatever, of
 * which a part is done: it ends after any handler.
 */
struct wefti_pt_limit {
	int64_t begun;		/* 0: it has not waited yet */
	int64_t deadline;	/* 0: the kernel was not asked; none is believed */
	uint32_t handled;	/* handlers that had run before its last try */
	int is_partial;		/* ... before the first of which something came */
};

/* Before each try. */
static inline void wefti_pt_limit_try(struct wefti_pt_limit *limit)
{
	if (!limit->is_partial)
		limit->handled = wefti_pt.handled;
}

/* As wefti_pt_fd_wait(). What is no socket has no deadline. */
int wefti_pt_socket_wait(int fd, short events, struct wefti_edges before,
			 struct wefti_pt_limit *limit);

/* A part is done: a socket of AF_UNIX has all of its time for the next. */
void wefti_pt_limit_advance(int fd, struct wefti_pt_limit *limit);

#endif
