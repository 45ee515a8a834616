/* SPDX-License-Identifier: MIT */
/*
 * cli/listen.c - weft stat --listen: HTTP for Prometheus, on the loopback address alone
 *
 * A client has two seconds for its request, and two for taking the answer. None waits for
 * another: the descriptors do not block, and poll() says which one can go on. All wait
 * while the process is asked; one that does not answer ends the server. What is not a
 * short GET of /metrics gets an error. Each connection ends with its answer.
 */
#include <argp.h>
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "figures.h"
#include "os/call/clock.h"

#define CLIENTS		16
#define PATIENCE_MS	2000
#define LOOK_MS		1000	/* whether the process is still there */

struct client {
	int fd;			/* -1: none */
	int64_t until;		/* in ms */
	size_t got, bytes, sent;
	char *answer;		/* NULL: the request is not complete */
	char request[2048];
};

struct server {
	long pid;
	int fd;
	int ended;		/* the process has, or does not answer */
	int latency;		/* the process is to record */
	int64_t asked;		/* when it was asked to, in ms */
	int64_t since;		/* the last answer (CLOCK_MONOTONIC, ns); 0: none yet */
	struct client client[CLIENTS];
};

static int64_t now_ms(void)
{
	return wefti_os_now_ns() / 1000000;
}

static void leave(struct client *c)
{
	close(c->fd);
	free(c->answer);
	*c = (struct client){ .fd = -1 };
}

static void reply(struct client *c, const char *status, const char *body, size_t bytes,
		  int with_body)
{
	FILE *to = open_memstream(&c->answer, &c->bytes);

	if (!to)
		return;
	c->until = now_ms() + PATIENCE_MS;	/* the process may have taken its time */
	fprintf(to, "HTTP/1.0 %s\r\nContent-Type: text/plain; version=0.0.4; "
		"charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		status, bytes);
	if (with_body)
		fwrite(body, 1, bytes, to);
	fclose(to);
}

static void refuse(struct client *c, const char *status)
{
	char body[64];

	snprintf(body, sizeof(body), "%s\n", status);
	reply(c, status, body, strlen(body), 1);
}

static void serve(struct server *s, struct client *c, int with_body)
{
	static struct weft_figures figures;
	char *text = NULL;
	size_t bytes = 0;
	FILE *to;

	s->ended = weft_cli_figures(s->pid, "stat", &figures) != 0;
	to = s->ended ? NULL : open_memstream(&text, &bytes);
	if (!to) {
		refuse(c, "503 Service Unavailable");
		return;
	}
	weft_cli_latency(s->pid, s->since, &figures.latency);
	s->since = (int64_t)figures.value[VALUE_TIME_NS];
	weft_cli_prometheus(to, &figures);
	fclose(to);
	reply(c, "200 OK", text, bytes, with_body);
	free(text);
}

/* The first line of a complete request. */
static void judge(struct server *s, struct client *c)
{
	char method[8], path[64], version[16];

	if (sscanf(c->request, "%7[A-Z] %63s %15s", method, path, version) != 3 ||
	    strncmp(version, "HTTP/1.", 7) != 0)
		refuse(c, "400 Bad Request");
	else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		refuse(c, "405 Method Not Allowed");
	else if (strcmp(path, "/metrics") != 0)
		refuse(c, "404 Not Found");
	else
		serve(s, c, *method == 'G');
}

static void hear(struct server *s, struct client *c)
{
	const ssize_t n = recv(c->fd, c->request + c->got,
			       sizeof(c->request) - 1 - c->got, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		leave(c);
		return;
	}
	c->got += (size_t)n;
	c->request[c->got] = 0;
	if (memchr(c->request, 0, c->got))
		refuse(c, "400 Bad Request");
	else if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
		judge(s, c);
	else if (c->got == sizeof(c->request) - 1)
		refuse(c, "431 Request Header Fields Too Large");
}

static void say(struct client *c)
{
	const ssize_t n = send(c->fd, c->answer + c->sent, c->bytes - c->sent,
			       MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->sent += (size_t)n;
	if (n <= 0 || c->sent == c->bytes)
		leave(c);
}

static void let_in(struct server *s)
{
	const int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	for (int i = 0; fd >= 0 && i < CLIENTS; i++)
		if (s->client[i].fd < 0) {
			s->client[i] = (struct client){
				.fd = fd, .until = now_ms() + PATIENCE_MS,
			};
			return;
		}
	if (fd >= 0)
		close(fd);
}

static void go_on(struct server *s, struct client *c, short events)
{
	if (events && !c->answer)
		hear(s, c);
	else if (events)
		say(c);
	if (c->fd >= 0 && now_ms() >= c->until)
		leave(c);
}

static void renew(struct server *s)
{
	if (!s->latency || now_ms() < s->asked + LOOK_MS)
		return;
	s->asked = now_ms();
	weft_cli_latency_ask(s->pid, 1);
}

/* One round. New clients are let in while there is room. */
static void go_round(struct server *s)
{
	struct pollfd fds[CLIENTS + 1];
	int full = 1;

	for (int i = 0; i < CLIENTS; i++) {
		const struct client *c = &s->client[i];

		fds[i] = (struct pollfd){
			.fd = c->fd, .events = c->answer ? POLLOUT : POLLIN,
		};
		full &= c->fd >= 0;
	}
	fds[CLIENTS] = (struct pollfd){ .fd = full ? -1 : s->fd, .events = POLLIN };
	if (poll(fds, CLIENTS + 1, LOOK_MS) < 0)
		return;
	for (int i = 0; i < CLIENTS; i++)
		if (fds[i].fd >= 0)
			go_on(s, &s->client[i], fds[i].revents);
	if (fds[CLIENTS].revents)
		let_in(s);
}

static int say_all(struct server *s)
{
	int left = 0;

	for (int i = 0; i < CLIENTS; i++)
		left |= s->client[i].fd >= 0 && s->client[i].answer;
	return left;
}

static int bind_to(int port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t bytes = sizeof(at);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) != 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 64) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
		return -1;
	printf("http://127.0.0.1:%d/metrics\n", ntohs(at.sin_port));
	return fflush(stdout) == 0 ? fd : -1;
}

int weft_cli_listen(long pid, int port, int latency)
{
	static struct server s;

	s.pid = pid;
	s.latency = latency;
	s.fd = bind_to(port);
	if (s.fd < 0)
		return weft_cli_complain(STATUS_OWN, "--listen", strerror(errno));
	for (int i = 0; i < CLIENTS; i++)
		s.client[i].fd = -1;
	while (!s.ended && !weft_cli_has_ended(pid)) {
		renew(&s);
		go_round(&s);
	}
	while (say_all(&s))
		go_round(&s);
	return s.ended;
}
