/* SPDX-License-Identifier: MIT */
/* net_name.c - the addresses of a host, which other threads do not wait for */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <weft.h>

int main(void)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct addrinfo *list = NULL;
	int error, port = 0;

	if (weft_start(NULL) != 0)
		return 1;
	error = weft_getaddrinfo_until("127.0.0.1", "7", &hints, &list,
				       weft_deadline(WEFT_SECONDS(30)));
	if (error) {
		fprintf(stderr, "127.0.0.1: %s\n",
			error > 0 ? gai_strerror(-error) : weft_strerror(error));
		return 1;
	}
	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		const struct sockaddr_in *to = (const void *)a->ai_addr;

		port = ntohs(to->sin_port);
		printf("port %d of %08x\n", port, (unsigned)ntohl(to->sin_addr.s_addr));
	}
	freeaddrinfo(list);
	return port != 7 || weft_stop() != 0;
}
