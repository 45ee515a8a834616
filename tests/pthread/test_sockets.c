/* SPDX-License-Identifier: MIT */
/* test_sockets.c - what calls on sockets wait for, for how long, and refuse */
#include "compare.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

static _Atomic int handled;
static int ends[2];

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void handle(int signal, int flags)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void make_pair(int type)
{
	if (socketpair(AF_UNIX, type, 0, ends) != 0)
		abort();
}

/* --- nobody receives ----------------------------------------------- */

static void send_all_ways(const char *what)
{
	struct iovec iov = { "x", 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int copy = dup(ends[0]);

	printf("%s\n", what);
	show_errno("send", send(ends[0], "x", 1, 0));
	show_errno("quietly", send(ends[0], "x", 1, MSG_NOSIGNAL));
	show_errno("sendmsg", sendmsg(ends[0], &message, 0));
	show_errno("write", write(ends[0], "x", 1));
	show_errno("writev", writev(ends[0], &iov, 1));
	show_errno("a copy", write(copy, "x", 1));
	printf("%d\n", handled);
	close(copy);
	close(ends[0]);
}

static void *send_to_nobody(void *arg)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = 9 };

	for (int i = 0; i < 3; i++) {
		make_pair(types[i]);
		shutdown(ends[1], SHUT_RD);
		send_all_ways("unix");
		close(ends[1]);
	}
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[0] = socket(AF_INET, SOCK_DGRAM, 0);
	if (connect(ends[0], (struct sockaddr *)&to, sizeof(to)) != 0)
		abort();
	shutdown(ends[0], SHUT_WR);
	send_all_ways("UDP");
	return arg;
}

static void streams_alone_have_sigpipe(void)
{
	handle(SIGPIPE, 0);
	finish(start(send_to_nobody, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(streams_alone_have_sigpipe),
};

COMPARE_MAIN(cases)
