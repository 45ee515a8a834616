/* SPDX-License-Identifier: MIT */
/*
 * plan9/net.c - connections: dial, and announce, listen and accept
 *
 * An address is net!host!service or unix!path. Plan 9's folder of a connection is here
 * the text "/dev/fd/N", where N is the socket's descriptor. A call that waits keeps the
 * proc's turn, as in Plan 9; iodial() gives it up.
 */
#include "plan9.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <weft/io.h>
#include <weft/net.h>

#include <weft/plan9/libc.h>

#define LINE	"/dev/fd/"
#define UNIX	"unix!"
#define MOST	512		/* bytes of an address */

struct address {
	char text[MOST];
	char *net, *host, *service;	/* service: NULL if there is none */
};

static int parse(struct address *a, const char *text)
{
	char *part[3];
	int n;

	if (strlen(text) >= sizeof(a->text)) {
		weft_plan9_werrstr("address too long");
		return -1;
	}
	strcpy(a->text, text);
	if (strncmp(text, UNIX, sizeof(UNIX) - 1) == 0) {
		a->text[sizeof(UNIX) - 2] = 0;
		a->net = a->text;
		a->host = a->text + sizeof(UNIX) - 1;	/* a path may have a '!' */
		a->service = NULL;
		return 0;
	}
	n = weft_plan9_getfields(a->text, part, 3, 0, "!");
	a->net = n > 1 ? part[0] : (char *)(uintptr)"net";
	a->host = n > 1 ? part[1] : part[0];
	a->service = n > 2 ? part[2] : NULL;
	return 0;
}

/* What is tried for one of the addresses: a socket, or -1 and errno. */
typedef int attempt_fn(const struct addrinfo *at, const struct addrinfo *local);

static int first_socket(attempt_fn *attempt, const struct addrinfo *all,
			const struct addrinfo *local)
{
	int fd = -1;

	for (; all && fd < 0; all = all->ai_next)
		fd = attempt(all, local);
	return fd;
}

static int unix_socket(attempt_fn *attempt, const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const struct addrinfo at = {
		.ai_family = AF_UNIX, .ai_socktype = SOCK_STREAM,
		.ai_addr = (struct sockaddr *)&name, .ai_addrlen = sizeof(name),
	};

	if (strlen(path) >= sizeof(name.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name.sun_path, path);
	return attempt(&at, NULL);
}

/* NULL with an error text, or the list for freeaddrinfo(). */
static struct addrinfo *look_up(const struct address *a, int flags)
{
	struct addrinfo hints = { .ai_flags = flags }, *list = NULL;
	int is_udp = strcmp(a->net, "udp") == 0, error;

	if (!is_udp && strcmp(a->net, "tcp") != 0 && strcmp(a->net, "net") != 0) {
		weft_plan9_werrstr("unknown network %s", a->net);
		return NULL;
	}
	hints.ai_socktype = is_udp ? SOCK_DGRAM : SOCK_STREAM;
	error = weft_getaddrinfo(*a->host && strcmp(a->host, "*") != 0 ? a->host : NULL,
				 a->service, &hints, &list);
	if (error > 0)
		weft_plan9_werrstr("%s", gai_strerror(-error));
	else if (error)
		errno = -error;
	return error ? NULL : list;
}

static int made(const struct addrinfo *at)
{
	return socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
}

static int failed(int fd, int error)
{
	(void)close(fd);
	errno = error;
	return -1;
}

static int connected(const struct addrinfo *at, const struct addrinfo *local)
{
	int fd = made(at), error;

	if (fd < 0)
		return -1;
	while (local && local->ai_family != at->ai_family)
		local = local->ai_next;
	if (local && bind(fd, local->ai_addr, local->ai_addrlen) != 0)
		return failed(fd, errno);
	error = weft_connect(fd, at->ai_addr, at->ai_addrlen);
	return error ? failed(fd, -error) : fd;
}

static int announced(const struct addrinfo *at, const struct addrinfo *local)
{
	int fd = made(at), on = 1;

	(void)local;
	if (fd < 0)
		return -1;
	if (at->ai_family != AF_UNIX)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 ||
	    (at->ai_socktype == SOCK_STREAM && listen(fd, SOMAXCONN) != 0))
		return failed(fd, errno);
	return fd;
}

/* Writes the line's name; `to` may be NULL, and has 40 bytes, as Plan 9's callers give. */
static void name_line(char *to, int fd)
{
	if (to)
		weft_plan9_snprint(to, 40, LINE "%d", fd);
}

int weft_plan9_dial(const char *address, const char *local, char *dir, int *control)
{
	struct addrinfo *all = NULL, *from = NULL;
	struct address a, b;
	int fd = -1;

	if (parse(&a, address) != 0)
		return -1;
	if (strcmp(a.net, "unix") == 0) {
		fd = unix_socket(connected, a.host);
	} else if (!local || (parse(&b, local) == 0 &&
			      (b.net = a.net, from = look_up(&b, AI_PASSIVE)) != NULL)) {
		all = look_up(&a, 0);
		fd = first_socket(connected, all, from);
	}
	if (all)
		freeaddrinfo(all);
	if (from)
		freeaddrinfo(from);
	if (fd >= 0) {
		name_line(dir, fd);
		if (control)
			*control = -1;
	}
	return fd;
}

int weft_plan9_announce(const char *address, char *dir)
{
	struct addrinfo *all;
	struct address a;
	int fd = -1;

	if (parse(&a, address) != 0)
		return -1;
	if (strcmp(a.net, "unix") == 0) {
		fd = unix_socket(announced, a.host);
	} else {
		all = look_up(&a, AI_PASSIVE);
		fd = first_socket(announced, all, NULL);
		if (all)
			freeaddrinfo(all);
	}
	if (fd >= 0)
		name_line(dir, fd);
	return fd;
}

/*
 * Waits for a call. Returns its descriptor, for accept() or reject(). weft keeps state for
 * the number that weft_accept() returns, and the caller closes his by close(). So he gets
 * another one, for read() and write().
 */
int weft_plan9_listen(const char *dir, char *new_dir)
{
	int made = -EINVAL, fd, error;

	if (strncmp(dir, LINE, sizeof(LINE) - 1) == 0)
		made = weft_accept(atoi(dir + sizeof(LINE) - 1), NULL, NULL);
	if (made < 0) {
		errno = -made;
		return -1;
	}
	fd = fcntl(made, F_DUPFD_CLOEXEC, 0);
	error = errno;
	(void)weft_close(made);
	if (fd < 0) {
		errno = error;
		return -1;
	}
	(void)fcntl(fd, F_SETFL, O_RDWR);
	name_line(new_dir, fd);
	return fd;
}

/* The caller closes both descriptors. */
int weft_plan9_accept(int control, const char *dir)
{
	(void)dir;
	return fcntl(control, F_DUPFD_CLOEXEC, 0);
}

int weft_plan9_reject(int control, const char *dir, const char *cause)
{
	(void)dir;
	(void)cause;
	return shutdown(control, SHUT_RDWR);
}

/* In a buffer of the calling thread's. */
char *weft_plan9_netmkaddr(const char *address, const char *net, const char *service)
{
	static _Thread_local char made_up[MOST];
	const char *first = strchr(address, '!'), *colon = strrchr(address, ':');

	if (*address == '/')
		weft_plan9_snprint(made_up, sizeof(made_up), UNIX "%s", address);
	else if (!first && colon)
		weft_plan9_snprint(made_up, sizeof(made_up), "%s!%.*s!%s",
				   net ? net : "net", (int)(colon - address), address,
				   colon + 1);
	else if (!first)
		weft_plan9_snprint(made_up, sizeof(made_up), service ? "%s!%s!%s" : "%s!%s",
				   net ? net : "net", address, service);
	else if (!strchr(first + 1, '!') && service && strncmp(address, UNIX, sizeof(UNIX) - 1) != 0)
		weft_plan9_snprint(made_up, sizeof(made_up), "%s!%s", address, service);
	else
		weft_plan9_snprint(made_up, sizeof(made_up), "%s", address);
	return made_up;
}
