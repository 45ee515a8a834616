/* SPDX-License-Identifier: MIT */
/*
 * cli/descriptor.c - what a descriptor of another process is, by /proc
 *
 * A socket has a number in /proc/PID/fd. The lists of /proc/PID/net, of that process's
 * network, say which addresses belong to the number.
 */
#include "descriptor.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An address as the kernel lists it: words in the machine's order, and a port. */
static void read_address(const char *from, char *text, size_t bytes)
{
	const size_t digits = strcspn(from, ":");
	const int family = digits == 8 ? AF_INET : AF_INET6;
	char host[INET6_ADDRSTRLEN] = "?", word[9] = "";
	uint32_t address[4] = { 0 };

	for (size_t i = 0; i < 4 && (i + 1) * 8 <= digits; i++) {
		memcpy(word, from + i * 8, 8);
		address[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	(void)inet_ntop(family, address, host, sizeof(host));
	snprintf(text, bytes, family == AF_INET ? "%s:%lu" : "[%s]:%lu", host,
		 from[digits] ? strtoul(from + digits + 1, NULL, 16) : 0);
}

/* A line of tcp, tcp6, udp or udp6. Returns 1 if it is the socket's. */
static int read_inet(const char *line, const char *name, unsigned long inode, char *text,
		     size_t bytes)
{
	char from[64], to[64], local[64], remote[64];
	unsigned long of;
	unsigned state;

	if (sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %*u %*u %lu", from, to, &state,
		   &of) != 4 || of != inode)
		return 0;
	read_address(from, local, sizeof(local));
	read_address(to, remote, sizeof(remote));
	if (strtoul(strrchr(to, ':') ? strrchr(to, ':') + 1 : "0", NULL, 16) == 0)
		snprintf(text, bytes, "%s %s", name, local);
	else
		snprintf(text, bytes, "%s %s -> %s", name, local, remote);
	return 1;
}

static int read_unix(const char *line, unsigned long inode, char *text, size_t bytes)
{
	unsigned long of;
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu%n", &of, &path) != 1 || of != inode)
		return 0;
	line += path + strspn(line + path, " ");
	if (*line == '\n')
		snprintf(text, bytes, "UNIX socket");
	else
		snprintf(text, bytes, "UNIX socket %.*s", (int)strcspn(line, "\n"), line);
	return 1;
}

static int find_socket(long pid, unsigned long inode, char *text, size_t bytes)
{
	static const struct {
		const char *file, *name;
	} lists[] = {
		{ "tcp", "TCP" }, { "tcp6", "TCP" }, { "udp", "UDP" }, { "udp6", "UDP" },
		{ "unix", NULL },
	};
	int found = 0;

	for (size_t i = 0; !found && i < sizeof(lists) / sizeof(*lists); i++) {
		char path[64], line[512];
		FILE *list;

		snprintf(path, sizeof(path), "/proc/%ld/net/%s", pid, lists[i].file);
		list = fopen(path, "re");
		while (list && !found && fgets(line, sizeof(line), list))
			found = lists[i].name ?
				read_inet(line, lists[i].name, inode, text, bytes) :
				read_unix(line, inode, text, bytes);
		if (list)
			fclose(list);
	}
	return found;
}

int weft_cli_descriptor(long pid, int fd, char *text, size_t bytes)
{
	char path[64], to[256];
	unsigned long inode;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return 0;
	to[n] = 0;
	if (sscanf(to, "socket:[%lu]", &inode) == 1) {
		if (!find_socket(pid, inode, text, bytes))
			snprintf(text, bytes, "socket");
	} else if (strncmp(to, "pipe:", 5) == 0) {
		snprintf(text, bytes, "pipe");
	} else if (strncmp(to, "anon_inode:", 11) == 0) {
		snprintf(text, bytes, "%s", to + 11);
	} else {
		snprintf(text, bytes, "%s", to);
	}
	return 1;
}
