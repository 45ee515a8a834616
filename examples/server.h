/* SPDX-License-Identifier: MIT */
/* server.h - a TCP server with a thread a connection, and a graceful stop */
#ifndef WEFT_EXAMPLES_SERVER_H
#define WEFT_EXAMPLES_SERVER_H

#include <stdint.h>

struct server_options {
	uint16_t port;		/* on loopback; 0: a free one */
	int64_t grace_ns;	/* after a stop, until connections are cut */
	void (*serve)(int fd);	/* one connection; runs in its thread */
};

/*
 * Starts weft, prints "listening on 127.0.0.1:PORT", and serves until SIGINT or
 * SIGTERM. Then nobody is accepted any more, and connections get no more input:
 * what has been received is answered. Returns the program's exit status.
 */
int server_run(const struct server_options *options);

/*
 * Its parts, for servers of another kind. SIGINT and SIGTERM from now on make a
 * descriptor readable, and SIGPIPE does nothing. Returns it, or a negative errno.
 */
int server_signals(void);

/* Listens on loopback, prints where. Returns a descriptor or a negative errno. */
int server_listen(uint16_t port);

#endif
