/* SPDX-License-Identifier: MIT */
/*
 * serve.h - how many requests a second do threads echo, one a connection?
 *
 * Blocking reads and writes, as one writes them without thinking of a poller.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "echo/echo.h"
#include "face.h"

#if FACE_IS_WEFT
#define face_read	weft_read
#define face_write	weft_write
#define face_close	weft_close

static int face_accept(int fd)
{
	return weft_accept(fd, NULL, NULL);
}
#else
#define face_read	read
#define face_write	write
#define face_close	close

static int face_accept(int fd)
{
	return accept(fd, NULL, NULL);
}
#endif

static void *echo_connection(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[ECHO_BUFFER];
	ssize_t n;

	while ((n = face_read(fd, buf, sizeof(buf))) > 0)
		if (face_write(fd, buf, (size_t)n) != n)
			break;
	face_close(fd);
	return NULL;
}

static void *echo_accept(void *arg)
{
	int server = (int)(intptr_t)arg;

	for (;;) {
		int fd = face_accept(server);
		face_thread id;

		if (fd < 0)
			bench_fail("accept: %s", strerror(fd == -1 ? errno :
							  -fd));
		must(face_spawn(&id, echo_connection, (void *)(intptr_t)fd),
		     "spawn");
	}
	return NULL;
}

static void echo_serve(struct bench_ctx *ctx, int fd)
{
	face_thread acceptor;

	must(face_start(ctx), "start");
#if FACE_IS_WEFT
	must(weft_adopt(fd), "adopt");
#endif
	must(face_spawn(&acceptor, echo_accept, (void *)(intptr_t)fd),
	     "spawn");
	must(face_join(acceptor), "join");
}

static void echo_run(struct bench_ctx *ctx)
{
	echo_drive(ctx, echo_serve);
}

static const struct bench_body echo_bodies[] = {
	{ "echo", echo_run },
	{ NULL, NULL },
};

const struct bench_variant FACE_SYMBOL(bench_echo_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = echo_enter,
	.bodies = echo_bodies,
};
