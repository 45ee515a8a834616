/* SPDX-License-Identifier: MIT */
/* net_message.c - a message in two pieces through a pair of sockets */
#include <stdio.h>
#include <string.h>
#include <weft.h>

int main(void)
{
	char head[] = "head ", body[] = "and body", got[32] = "";
	struct iovec pieces[2] = {
		{ .iov_base = head, .iov_len = strlen(head) },
		{ .iov_base = body, .iov_len = strlen(body) },
	}, whole = { .iov_base = got, .iov_len = sizeof(got) - 1 };
	struct msghdr out = { .msg_iov = pieces, .msg_iovlen = 2 };
	struct msghdr in = { .msg_iov = &whole, .msg_iovlen = 1 };
	int fd[2];

	if (weft_start(NULL) != 0 || weft_socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) != 0)
		return 1;
	if (weft_sendmsg(fd[0], &out, MSG_NOSIGNAL) != 13 ||
	    weft_recvmsg_until(fd[1], &in, 0, weft_deadline(WEFT_SECONDS(30))) != 13)
		return 1;
	printf("%s\n", got);
	weft_close(fd[0]);
	weft_close(fd[1]);
	return strcmp(got, "head and body") != 0 || weft_stop() != 0;
}
