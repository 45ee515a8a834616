/* SPDX-License-Identifier: MIT */
/* pthread/ready.h - a green thread waits until a descriptor is ready */
#ifndef WEFT_PTHREAD_READY_H
#define WEFT_PTHREAD_READY_H

#include <stdint.h>

/* The time that a socket's option gives; the socket's way to say EAGAIN. */
int64_t wefti_socket_deadline(int fd, int option);

int wefti_pt_fd_is_nonblocking(int fd);

/*
 * A cancellation point. events as for poll(). Returns 0: look again; EAGAIN at
 * the deadline; EINTR: a handler has run.
 */
int wefti_pt_fd_wait(int fd, short events, int64_t deadline);

#endif
