/* SPDX-License-Identifier: MIT */
/*
 * plan9/io.c - calls that block in the kernel while other threads of the proc run
 *
 * In Plan 9 another proc makes the call. Here the thread makes it itself, in a region
 * that is announced to weft, without its proc's turn. An ioproc makes one call at a
 * time.
 */
#include "plan9.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/plan9/libc.h>
#include <weft/plan9/thread.h>

struct weft_plan9_ioproc {
	struct weft_mutex busy;
};

struct weft_plan9_ioproc *weft_plan9_ioproc(void)
{
	struct weft_plan9_ioproc *io = calloc(1, sizeof(*io));

	if (!io)
		plan9_fatal("ioproc", ENOMEM);
	return io;
}

void weft_plan9_closeioproc(struct weft_plan9_ioproc *io)
{
	free(io);
}

static void begin(struct weft_plan9_ioproc *io)
{
	plan9_give_turn();
	plan9_must(weft_mutex_lock(&io->busy), "iocall");
	weft_block_begin();
}

static void end(struct weft_plan9_ioproc *io)
{
	int error = errno;

	weft_block_end();
	plan9_must(weft_mutex_unlock(&io->busy), "iocall");
	plan9_take_turn();
	errno = error;
}

long weft_plan9_iocall(struct weft_plan9_ioproc *io, long (*op)(va_list *),
		       ...)
{
	va_list args;
	long got;

	begin(io);
	va_start(args, op);
	got = op(&args);
	va_end(args);
	end(io);
	return got;
}

long weft_plan9_ioread(struct weft_plan9_ioproc *io, int fd, void *p, long n)
{
	long got;

	begin(io);
	got = read(fd, p, (size_t)n);
	end(io);
	return got;
}

/* Returns less than n only at the end of the file, or after an error. */
long weft_plan9_ioreadn(struct weft_plan9_ioproc *io, int fd, void *p, long n)
{
	long got;

	begin(io);
	got = weft_plan9_readn(fd, p, n);
	end(io);
	return got;
}

long weft_plan9_iowrite(struct weft_plan9_ioproc *io, int fd, const void *p,
			long n)
{
	long put = 0, one = 1;

	begin(io);
	while (put < n && one > 0) {
		one = write(fd, (const char *)p + put, (size_t)(n - put));
		put += one > 0 ? one : 0;
	}
	end(io);
	return one < 0 && !put ? -1 : put;
}

int weft_plan9_ioopen(struct weft_plan9_ioproc *io, const char *path, int mode)
{
	int fd;

	begin(io);
	fd = open(path, mode | O_CLOEXEC);
	end(io);
	return fd;
}

int weft_plan9_ioclose(struct weft_plan9_ioproc *io, int fd)
{
	int error;

	begin(io);
	error = close(fd);
	end(io);
	return error;
}

/* It parks, and so needs no region. */
int weft_plan9_iodial(struct weft_plan9_ioproc *io, const char *address,
		      const char *local, char *dir, int *control)
{
	int fd, error;

	plan9_give_turn();
	plan9_must(weft_mutex_lock(&io->busy), "iodial");
	fd = weft_plan9_dial(address, local, dir, control);
	error = errno;
	plan9_must(weft_mutex_unlock(&io->busy), "iodial");
	plan9_take_turn();
	errno = error;
	return fd;
}

int weft_plan9_iosleep(struct weft_plan9_ioproc *io, long ms)
{
	(void)io;
	plan9_give_turn();
	(void)weft_sleep(ms * INT64_C(1000000));
	plan9_take_turn();
	return 0;
}
