/* SPDX-License-Identifier: MIT */
/*
 * echo.c - a TCP echo server, a thread a connection
 *
 * usage: echo [PORT]
 *
 * A client that sends and does not read is cut off after ten seconds without
 * progress. A silent client may stay.
 */
#include <stdlib.h>
#include <weft.h>

#include "server.h"

static void echo(int fd)
{
	char buf[4096];
	ssize_t n;

	while ((n = weft_read(fd, buf, sizeof(buf))) > 0)
		if (weft_write_until(fd, buf, (size_t)n,
				     weft_deadline(WEFT_SECONDS(10))) != n)
			return;
}

int main(int argc, char **argv)
{
	const struct server_options options = {
		.port = (uint16_t)(argc > 1 ? atoi(argv[1]) : 7007),
		.grace_ns = WEFT_SECONDS(5),
		.serve = echo,
	};

	return server_run(&options);
}
