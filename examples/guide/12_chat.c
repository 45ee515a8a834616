/* SPDX-License-Identifier: MIT */
/* 12_chat [PORT] - a chat server with a graceful stop; clients come with nc */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define NAME_MOST	16
#define LINE_MOST	200
#define OUTBOX		100	/* lines that a client may be behind */
#define PATIENCE	WEFT_SECONDS(10)
#define GRACE		WEFT_SECONDS(5)

struct line {
	size_t bytes;
	char text[NAME_MOST + LINE_MOST + 4];
};

WEFT_CHAN_OF(lines, struct line);

/* A client has two threads: one reads from it, the other writes to it. */
struct client {
	int fd;
	struct lines outbox;		/* from any reader to this writer */
	char name[NAME_MOST + 1];	/* "": not told yet; under room.mutex */
	struct client *next;		/* under room.mutex */
};

static struct {
	struct weft_mutex mutex;	/* protects the list, and stops */
	struct client *first;
	int stops;
} room;

static struct weft_group clients = WEFT_GROUP_INIT;
static struct weft_sem asked_to_stop = WEFT_SEM_INIT;

static void must(int error, const char *what)
{
	if (error < 0) {
		fprintf(stderr, "chat: %s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

/* --- what is said --------------------------------------------------------- */

/* Does not wait: a client that reads too slowly is cut off. */
static void tell(struct client *c, const struct line *line)
{
	if (lines_send_until(c->outbox, line, WEFT_NO_WAIT) == -EAGAIN)
		shutdown(c->fd, SHUT_RDWR);
}

static void tell_all(const char *name, const char *text)
{
	struct line line;
	int n = snprintf(line.text, sizeof(line.text), "%.*s: %.*s\n",
			 NAME_MOST, name, LINE_MOST, text);

	line.bytes = (size_t)n;
	weft_mutex_lock(&room.mutex);
	for (struct client *c = room.first; c; c = c->next)
		if (c->name[0])
			tell(c, &line);
	weft_mutex_unlock(&room.mutex);
}

/* --- a client ------------------------------------------------------------- */

static int enter(struct client *c)
{
	static const struct line question = { 11, "your name?\n" };
	int stops;

	weft_mutex_lock(&room.mutex);
	stops = room.stops;
	if (!stops) {
		c->next = room.first;
		room.first = c;
		tell(c, &question);
	}
	weft_mutex_unlock(&room.mutex);
	return stops ? -ESHUTDOWN : 0;
}

static void leave(struct client *c)
{
	struct client **at = &room.first;
	int stops;

	weft_mutex_lock(&room.mutex);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	stops = room.stops;
	weft_mutex_unlock(&room.mutex);
	if (c->name[0] && !stops)
		tell_all(c->name, "has gone");
}

/* Until the client ends, is cut off, or is cancelled. */
static void read_lines(struct client *c)
{
	char buffer[LINE_MOST + 2], *text;
	struct weft_reader in;

	weft_reader_init(&in, c->fd, buffer, sizeof(buffer));
	if (weft_reader_line(&in, &text, weft_deadline(WEFT_SECONDS(60))) <= 0)
		return;
	weft_mutex_lock(&room.mutex);
	snprintf(c->name, sizeof(c->name), "%.*s", NAME_MOST, text);
	weft_mutex_unlock(&room.mutex);
	tell_all(c->name, "has come");
	while (weft_reader_line(&in, &text, WEFT_FOREVER) >= 0)
		tell_all(c->name, text);
}

/* Until the outbox is closed and empty. */
static int write_lines(void *arg)
{
	struct client *c = arg;
	struct line line;
	int error;

	while ((error = lines_recv(c->outbox, &line)) == 0)
		if (weft_send_until(c->fd, line.text, line.bytes, MSG_NOSIGNAL,
				    weft_deadline(PATIENCE)) !=
		    (ssize_t)line.bytes) {
			shutdown(c->fd, SHUT_RDWR);	/* the reader ends, too */
			return -EIO;
		}
	return error == -EPIPE ? 0 : error;
}

static int client_main(void *arg)
{
	struct weft_group writer = WEFT_GROUP_INIT;
	struct client *c = arg;

	if (weft_group_spawn(&writer, NULL, NULL, write_lines, c) == 0 &&
	    enter(c) == 0) {
		read_lines(c);
		leave(c);
	}
	lines_close(c->outbox);		/* the writer sends what is left */
	(void)!weft_group_wait(&writer, WEFT_FOREVER, NULL);
	lines_destroy(c->outbox);
	weft_close(c->fd);
	free(c);
	return 0;			/* no failure: the others go on */
}

static void begin_client(int fd)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c) {
		c->fd = fd;
		if (lines_create(&c->outbox, OUTBOX, 0) == 0) {
			if (weft_group_spawn(&clients, NULL, NULL, client_main,
					     c) == 0)
				return;
			lines_destroy(c->outbox);
		}
	}
	free(c);
	weft_close(fd);
}

/* --- the server ------------------------------------------------------------ */

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	socklen_t bytes = sizeof(address);
	int on = 1, fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	must(fd, "socket");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, bytes) != 0 ||
	    listen(fd, 128) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
		must(-errno, "listen");
	printf("listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

/* Until the listening socket is closed. */
static void *accept_all(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;

	while ((fd = weft_accept(listener, NULL, NULL)) != -EBADF) {
		if (fd >= 0)
			begin_client(fd);
		else	/* no descriptor is left: until a client has gone */
			weft_sleep(WEFT_MS(10));
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
	weft_sem_post(&asked_to_stop);
}

/* Nobody says anything more; each client still gets what was said to it. */
static void end_conversation(void)
{
	weft_mutex_lock(&room.mutex);
	room.stops = 1;
	for (struct client *c = room.first; c; c = c->next)
		shutdown(c->fd, SHUT_RD);	/* its reader finds the end */
	weft_mutex_unlock(&room.mutex);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	uint64_t acceptor;
	int listener;

	must(weft_start(NULL), "start");
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	listener = listen_on((uint16_t)(argc > 1 ? atoi(argv[1]) : 7012));
	must(weft_spawn(&acceptor, NULL, accept_all, (void *)(intptr_t)listener),
	     "spawn");

	weft_sem_wait(&asked_to_stop);
	weft_close(listener);
	must(weft_join(acceptor, NULL), "join");
	tell_all("chat", "the server stops");
	end_conversation();
	if (weft_group_wait(&clients, weft_deadline(GRACE), NULL) != 0)
		fprintf(stderr, "chat: some clients were cut off\n");
	must(weft_stop(), "stop");
	printf("stopped\n");
	return 0;
}
