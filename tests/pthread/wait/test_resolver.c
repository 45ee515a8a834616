/* SPDX-License-Identifier: MIT */
/*
 * test_resolver.c - libc asks a server for names, and the server is a thread of the
 * same process
 */
#include "compare.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

#define ASKERS	8
#define HEADER	12	/* bytes of a question before the name */

static int server;
static struct sockaddr_in at = { .sin_family = AF_INET };
static _Atomic long answers, ticks, stop;

/* Each name has one address, by its first letter, and no IPv6. */
static size_t answer(unsigned char *m, size_t bytes)
{
	static const unsigned char record[] = {
		0xc0, HEADER, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 1, 2,
	};
	size_t end = HEADER;

	while (end < bytes && m[end])
		end += m[end] + 1u;
	end += 5;		/* its end, type and class */
	m[2] = 0x84;		/* an authority's answer */
	m[3] = 0x80;
	memset(m + 6, 0, 6);
	if (m[end - 3] != 1)	/* not of that type */
		return end;
	m[7] = 1;
	memcpy(m + end, record, sizeof(record));
	m[end + sizeof(record)] = m[HEADER + 1];
	return end + sizeof(record) + 1;
}

/* No name is answered before the thread that has nothing to do with it has gone on. */
static void await_tick(void)
{
	for (const long before = ticks; ticks == before && !stop;)
		usleep(1000);
}

static void *serve(void *arg)
{
	unsigned char m[512];
	struct sockaddr_in from;
	socklen_t bytes = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(server, m, sizeof(m) - 32, 0, (void *)&from,
			     &bytes)) > HEADER) {
		await_tick();
		answers++;
		(void)!sendto(server, m, answer(m, (size_t)n), 0, (void *)&from,
			      bytes);
	}
	return arg;
}

/* A thread that is no name's: it goes on meanwhile. */
static void *tick(void *arg)
{
	while (!stop) {
		usleep(500);
		ticks++;
	}
	return arg;
}

static void *ask(void *letter)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char name[] = "x-name.weft.example", text[32] = "";
	long good = 0;

	name[0] = (char)(long)letter;
	if (res_init() != 0)
		abort();
	_res.nscount = 1;
	_res.nsaddr_list[0] = at;
	_res.options &= ~(unsigned long)RES_DNSRCH;
	for (int i = 0; i < 3; i++) {
		const struct sockaddr_in *is;

		if (getaddrinfo(name, "80", &hints, &found) != 0)
			return NULL;
		is = (const void *)found->ai_addr;
		inet_ntop(AF_INET, &is->sin_addr, text, sizeof(text));
		good += (ntohl(is->sin_addr.s_addr) & 255) == (unsigned)name[0] &&
			ntohs(is->sin_port) == 80 &&
			strncmp(text, "10.1.2.", 7) == 0;
		freeaddrinfo(found);
	}
	return (void *)good;
}

static void names_are_asked_of_a_thread(void)
{
	pthread_t t[ASKERS], serving, ticking;
	socklen_t bytes = sizeof(at);
	long good = 0;

	server = socket(AF_INET, SOCK_DGRAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (void *)&at, bytes) != 0 ||
	    getsockname(server, (void *)&at, &bytes) != 0)
		abort();
	serving = start(serve, NULL);
	ticking = start(tick, NULL);
	for (long i = 0; i < ASKERS; i++)
		t[i] = start(ask, (void *)('a' + i));
	for (int i = 0; i < ASKERS; i++)
		good += (long)finish(t[i]);
	stop = 1;
	(void)!sendto(server, "", 0, 0, (void *)&at, sizeof(at));
	finish(serving);
	finish(ticking);
	printf("%ld, %d, %d\n", good, answers >= ASKERS * 3, ticks > 3);
}

static const struct compare_case cases[] = {
	COMPARE(names_are_asked_of_a_thread),
};

COMPARE_MAIN(cases)
