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

/* Receives with these flags do not wait: for errors and urgent data Linux never waits. */
#define WEFTI_RECV_AT_ONCE	(MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)

/* May a receive wait although there is some data? */
static inline int wefti_pt_waits_for_more(int fd, int flags)
{
	return (flags & MSG_WAITALL) || wefti_pt_fd_is(fd, WEFTI_FD_LOWAT);
}

/* An int option of SOL_SOCKET; -1: not a socket. Does not change errno. */
int wefti_pt_socket_option(int fd, int option);

int wefti_pt_fd_is_nonblocking(int fd);

/*
 * poll() without a wait. If a signal of the runtime comes meanwhile, such as the one that
 * interrupts a cancelled thread, the program gets no EINTR.
 */
int wefti_pt_poll_now(struct pollfd *fds, nfds_t count);

/*
 * The following are for green threads, and are cancellation points. They return 0, EAGAIN
 * at the deadline, or EINTR: a handler has run. `handled` is NULL for calls that Linux
 * restarts after a handler with SA_RESTART. Other calls (poll(), select() and so on) end
 * after any handler that has run since *handled was the thread's count.
 *
 * Waits until look() returns something other than 0. It is called at first, and whenever
 * one of the descriptors may have become ready. ENOTSUP: one of them cannot be waited
 * for in this way, and nothing was done.
 */
int wefti_pt_ready_wait(const struct pollfd *fds, nfds_t count,
			int (*look)(void *arg), void *arg, int64_t deadline,
			const uint32_t *handled);

/*
 * Waits until the caller should try again: fd is ready, or may be. The caller took
 * `before` before its last try.
 */
struct wefti_edges {
	uint32_t of[WEFTI_SIDES];
};

struct wefti_edges wefti_pt_fd_edges(int fd);
int wefti_pt_fd_wait(int fd, short events, struct wefti_edges before,
		     int64_t deadline, const uint32_t *handled);

/*
 * How long one call waits for a socket, by the socket's option. It begins as zeros. A
 * call with a deadline is not restarted: it ends after any handler. Nor is a write, to
 * any descriptor, that has written a part.
 */
struct wefti_pt_limit {
	int64_t begun;		/* 0: it has not waited yet */
	int64_t deadline;	/* 0: the kernel was not asked; taken for none */
	uint32_t handled;	/* how many handlers had run before its last try */
	int is_partial;		/* a part is done: handled is not updated any more */
};

/* Called before each try. */
static inline void wefti_pt_limit_try(struct wefti_pt_limit *limit)
{
	if (!limit->is_partial)
		limit->handled = wefti_pt.handled;
}

/* Like wefti_pt_fd_wait(). A descriptor that is not a socket has no deadline. */
int wefti_pt_socket_wait(int fd, short events, struct wefti_edges before,
			 struct wefti_pt_limit *limit);

/* A part is done: for the next part, a socket of AF_UNIX has its whole timeout again. */
void wefti_pt_limit_advance(int fd, struct wefti_pt_limit *limit);

#endif
