/* SPDX-License-Identifier: MIT */
/* loop.h - sockets on loopback, and descriptors that are counted */
#ifndef WEFT_TESTS_LOOP_H
#define WEFT_TESTS_LOOP_H

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "threads.h"

static inline struct sockaddr_in loop_address(in_port_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = port };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

/* Has fd listen on a free port; *address says which. */
static inline void loop_bind(int fd, struct sockaddr_in *address, int backlog)
{
	socklen_t bytes = sizeof(*address);

	*address = loop_address(0);
	must(bind(fd, (struct sockaddr *)address, bytes) == 0);
	must(listen(fd, backlog) == 0);
	must(getsockname(fd, (struct sockaddr *)address, &bytes) == 0);
}

/* A socket of weft's that listens. */
static inline int loop_listen(struct sockaddr_in *address)
{
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0);
	loop_bind(fd, address, 4096);
	return fd;
}

static inline int loop_connect(const struct sockaddr_in *address)
{
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0);
	must(weft_connect(fd, (const struct sockaddr *)address,
			  sizeof(*address)) == 0);
	return fd;
}

/* The peer may have its connection before the one that listens has it. */
static inline void loop_await_peer(int server)
{
	must(weft_wait_fd(server, POLLIN, WEFT_FOREVER) == POLLIN);
}

/*
 * Descriptors that this process has open. Those of /proc do not count: one is
 * the folder that is read here, and the monitor may look at a kernel thread's
 * state in the same moment.
 */
static inline size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	char target[64];
	size_t n = 0;

	must(dir != NULL);
	while ((e = readdir(dir))) {
		ssize_t got = readlinkat(dirfd(dir), e->d_name, target,
					 sizeof(target));

		n += got > 0 && strncmp(target, "/proc/", 6) != 0;
	}
	closedir(dir);
	return n;
}

#endif
