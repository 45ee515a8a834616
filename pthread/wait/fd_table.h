/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/fd_table.h - what is remembered about descriptors, by their numbers
 *
 * The table is a guess that saves system calls, and it may be wrong: libc makes and
 * closes descriptors for itself, and another process may share the open file. A thread
 * that waits for a descriptor because of the table waits for WEFTI_FD_TRUST_NS at most,
 * then doubts the entry. Only waits for a WEFTI_FD_WATCHED descriptor have that limit.
 * So WEFTI_FD_BLOCKS is believed only together with WEFTI_FD_WATCHED.
 */
#ifndef WEFT_PTHREAD_WAIT_FD_TABLE_H
#define WEFT_PTHREAD_WAIT_FD_TABLE_H

#include "lockfree/atomic.h"

#define WEFTI_FD_SOCKET		1u	/* if it is none, ENOTSOCK will tell */
#define WEFTI_FD_WATCHED	2u	/* the poller watches it */
#define WEFTI_FD_BLOCKS		4u	/* no O_NONBLOCK; not believed alone */
#define WEFTI_FD_NO_RCVTIMEO	8u	/* the socket has no such limit */
#define WEFTI_FD_NO_SNDTIMEO	16u
#define WEFTI_FD_FLOWS		32u	/* not a file, where a read may wait for a disk */
#define WEFTI_FD_CACHED		64u	/* neither O_DIRECT nor O_DSYNC */
#define WEFTI_FD_LOWAT		128u	/* a socket with SO_RCVLOWAT above 1 */
#define WEFTI_FD_ALL		255u
#define WEFTI_FD_GUESSED	(WEFTI_FD_ALL & ~(WEFTI_FD_SOCKET | WEFTI_FD_LOWAT))

#define WEFTI_FD_TRUST_NS	20000000
#define WEFTI_FD_MOST		65536u	/* nothing is known of higher numbers */

extern _Atomic uint8_t wefti_pt_fds[WEFTI_FD_MOST];

static inline int wefti_pt_fd_is(int fd, uint8_t what)
{
	return (unsigned)fd < WEFTI_FD_MOST &&
	       (load_relaxed(&wefti_pt_fds[fd]) & what);
}

static inline int wefti_pt_fd_is_all(int fd, uint8_t what)
{
	return (unsigned)fd < WEFTI_FD_MOST &&
	       (load_relaxed(&wefti_pt_fds[fd]) & what) == what;
}

static inline void wefti_pt_fd_note(int fd, uint8_t what)
{
	if ((unsigned)fd < WEFTI_FD_MOST && !wefti_pt_fd_is(fd, what))
		fetch_or_relaxed(&wefti_pt_fds[fd], what);
}

static inline void wefti_pt_fd_doubt(int fd, uint8_t what)
{
	if (wefti_pt_fd_is(fd, what))
		fetch_and_relaxed(&wefti_pt_fds[fd], (uint8_t)~what);
}

/* The number now belongs to another descriptor. */
static inline void wefti_pt_fd_forget(int fd)
{
	wefti_pt_fd_doubt(fd, WEFTI_FD_ALL);
}

/* ... and this one is a socket. */
static inline int wefti_pt_fd_made_socket(int fd)
{
	wefti_pt_fd_doubt(fd, (uint8_t)~WEFTI_FD_SOCKET);
	wefti_pt_fd_note(fd, WEFTI_FD_SOCKET);
	return fd;
}

#endif
