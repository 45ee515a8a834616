/* SPDX-License-Identifier: MIT */
/* explore/descriptor.h - what calls that read (descriptor.c) and that write (send.c) share */
#ifndef WEFT_EXPLORE_DESCRIPTOR_H
#define WEFT_EXPLORE_DESCRIPTOR_H

#include <sys/types.h>

#include "explore.h"

/*
 * The point of a call on one descriptor. flags: MSG_DONTWAIT, if the call does not wait.
 * Returns 0; -1: a handler has ended the wait.
 */
int wefti_ex_wait_for_one(int fd, short events, int flags, enum wefti_ex_op op,
			  const void *where);

/* Is it a pipe, a socket or a terminal, and without O_NONBLOCK? */
int wefti_ex_may_block(int fd);

/*
 * Sets O_NONBLOCK for a call that must not wait; afterwards the descriptor has its modes
 * again. A descriptor that does not block, or -1, is left alone. The second keeps errno.
 */
int wefti_ex_no_waits(int fd);
void wefti_ex_waits_again(int fd, int modes);

/*
 * A read happens behind the write of its data, and the end of a file behind the close of its
 * other end.
 */
void wefti_ex_wrote(void);
void wefti_ex_wrote_by(struct wefti_ex_thread *self);	/* the same, of a thread of weft's own */
void wefti_ex_read_by(struct wefti_ex_thread *self);

/* Returns the bytes. A call that did not wait may have found nothing. */
ssize_t wefti_ex_tried(ssize_t bytes);

#endif
