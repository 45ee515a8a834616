/* SPDX-License-Identifier: MIT */
/* io/call.h - a call on a descriptor: try, wait, try again */
#ifndef WEFT_IO_CALL_H
#define WEFT_IO_CALL_H


#include "io/fd_wait.h"
#include "os/call/descriptor.h"

struct wefti_call {
	struct wefti_use use;
	int side;
	enum wefti_side_mode mode;
	int kind;			/* enum wefti_os_kind */
	int nonblocking;		/* a plain system call does not wait */
};

/*
 * Does the system call without waiting. Returns -EAGAIN if it would have to wait, and
 * an edge on the call's side may change that. For a file it does the call, in a region.
 */
typedef ssize_t wefti_attempt_fn(const struct wefti_call *call, void *arg);

/* Returns what the attempt returned, or an error of weft/io.h. May park. */
ssize_t wefti_call_do(int fd, int side, enum wefti_side_mode mode,
		      wefti_attempt_fn *attempt, void *arg, int64_t deadline);

/*
 * Is the event, POLLIN or POLLOUT, there now? For blocking descriptors that cannot be
 * tried.
 */
int wefti_call_is_ready(const struct wefti_call *call, short event);

#endif
