/* SPDX-License-Identifier: MIT */
/*
 * explore/named.c - the open of a named pipe, which waits for the other end
 *
 * Each end is opened without a wait. A writing end cannot be had so before there is a
 * reading end, and is tried again. A reading end can, and the thread then waits
 * until there is a writing end, or has been one: poll() tells of data, and of a writer that has
 * come and gone. tee() of an empty pipe tells whether a writer is there. read() tells it,
 * too, but might take data of another process. Data that a writer has left behind count as a
 * writer: a reader cannot see the difference.
 */
#include "explore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "real.h"

struct call {
	int folder;
	const char *path;
	int flags;
	int fd, error;		/* of the last try */
};

/* Without memory for another pipe: poll() alone is asked. */
static int have_writer(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	int other[2], is_there;

	if (REAL(poll)(&one, 1, 0) > 0)
		return 1;
	if (pipe2(other, O_CLOEXEC) != 0)
		return 0;
	is_there = REAL(tee)(fd, other[1], 1, SPLICE_F_NONBLOCK) != 0;
	(void)REAL(close)(other[0]);
	(void)REAL(close)(other[1]);
	return is_there;
}

/* 0: the other end is not open. */
static int is_done(void *arguments)
{
	struct call *c = arguments;
	const int kept = errno;
	int done;

	if (c->fd < 0) {
		c->fd = REAL(openat)(c->folder, c->path, c->flags | O_NONBLOCK);
		c->error = errno;
	}
	if (c->fd < 0)
		done = c->error != ENXIO;
	else
		done = (c->flags & O_ACCMODE) != O_RDONLY || have_writer(c->fd);
	errno = kept;
	return done;
}

static void drop(void *call)
{
	struct call *c = call;
	const int kept = errno;

	if (c->fd >= 0)
		(void)REAL(close)(c->fd);
	c->fd = -1;
	errno = kept;
}

static int open_end(struct call *c, const void *where)
{
	int ready;

	pthread_cleanup_push(drop, c);	/* the wait is a point of cancellation */
	ready = wefti_ex_wait_restarted(&(struct wefti_ex_try){ is_done, c }, NULL, 0,
					WEFTI_EX_NEVER, WEFTI_EX_OPEN, where);
	pthread_cleanup_pop(ready < 0);
	if (ready > 0 && c->fd < 0)
		errno = c->error;
	if (c->fd >= 0)
		(void)REAL(fcntl)(c->fd, F_SETFL, REAL(fcntl)(c->fd, F_GETFL) & ~O_NONBLOCK);
	return c->fd;
}

static int may_wait(int folder, const char *path, int flags)
{
	const int kept = errno;
	struct stat st;
	int is_pipe;

	if (!wefti_ex_controlled() || (flags & (O_NONBLOCK | O_PATH)) ||
	    (flags & O_ACCMODE) == O_RDWR)
		return 0;
	is_pipe = fstatat(folder, path, &st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) == 0 &&
		  S_ISFIFO(st.st_mode);
	errno = kept;
	return is_pipe;
}

static int do_open(int folder, const char *path, int flags, mode_t mode, const void *where)
{
	struct call c = { folder, path, flags, -1, 0 };

	return may_wait(folder, path, flags) ? open_end(&c, where) :
					       REAL(openat)(folder, path, flags, mode);
}

#define MODE(flags)								\
	({									\
		mode_t mode_ = 0;						\
		va_list list_;							\
										\
		if ((flags) & (O_CREAT | __O_TMPFILE)) {			\
			va_start(list_, flags);					\
			mode_ = va_arg(list_, mode_t);				\
			va_end(list_);						\
		}								\
		mode_;								\
	})

EXPORT int open(const char *path, int flags, ...)
{
	return do_open(AT_FDCWD, path, flags, MODE(flags), CALLER);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
	return do_open(folder, path, flags, MODE(flags), CALLER);
}

/* What programs that are compiled with _FORTIFY_SOURCE call, and what has no mode. */
int __open_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);

EXPORT int __open_2(const char *path, int flags)
{
	return do_open(AT_FDCWD, path, flags, 0, CALLER);
}

EXPORT int __openat_2(int folder, const char *path, int flags)
{
	return do_open(folder, path, flags, 0, CALLER);
}

/* Where a file's size has 64 bits, both names are one call. */
EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));
EXPORT int openat64(int folder, const char *path, int flags, ...)
	__attribute__((alias("openat")));
int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));
int __openat64_2(int folder, const char *path, int flags)
	__attribute__((alias("__openat_2")));
