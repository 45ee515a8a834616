/* SPDX-License-Identifier: MIT */
/* net.c - a client and a server of one connection, on a free port of this machine */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <weft.h>

static struct sockaddr_in address = { .sin_family = AF_INET };

static void *ask(void *arg)
{
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	if (fd >= 0 && weft_connect_until(fd, (struct sockaddr *)&address, sizeof(address),
					  weft_deadline(WEFT_SECONDS(30))) == 0 &&
	    weft_send(fd, "hello", 5, MSG_NOSIGNAL) == 5 &&
	    weft_recv(fd, arg, 5, MSG_WAITALL) == 5)
		printf("the answer: %s\n", (char *)arg);
	weft_close(fd);
	return NULL;
}

int main(void)
{
	socklen_t bytes = sizeof(address);
	char got[6] = "", answer[6] = "";
	int listener, fd;
	uint64_t id;

	if (weft_start(NULL) != 0)
		return 1;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = weft_socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 ||	/* bind() and listen() never wait */
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 16) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &bytes) != 0 ||
	    weft_spawn(&id, NULL, ask, answer) != 0)
		return 1;
	fd = weft_accept(listener, NULL, NULL);
	if (fd < 0 || weft_recv(fd, got, 5, MSG_WAITALL) != 5 ||
	    weft_send(fd, "HELLO", 5, MSG_NOSIGNAL) != 5 || weft_join(id, NULL) != 0)
		return 1;
	weft_close(fd);
	weft_close(listener);
	return strcmp(got, "hello") != 0 || strcmp(answer, "HELLO") != 0 || weft_stop() != 0;
}
