/* SPDX-License-Identifier: MIT */
/*
 * io/reader.c - lines and pieces, through a buffer of the caller's
 *
 * One byte of the buffer is never read into: it ends a last line that has no newline.
 */
#include "weft/reader.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "weft/io.h"

struct reader {
	int fd;
	char *buf;
	size_t size;		/* of buf, without the last byte */
	size_t begin, end;	/* what has been read and not handed out */
	size_t seen;		/* from begin on, bytes that are no newline */
	size_t unused;
};

_Static_assert(sizeof(struct reader) == sizeof(struct weft_reader),
	       "a reader has the size of the public struct");

static struct reader *reader_of(struct weft_reader *reader)
{
	return (struct reader *)reader;
}

void weft_reader_init(struct weft_reader *reader, int fd, void *buf, size_t bytes)
{
	*reader_of(reader) = (struct reader){
		.fd = fd, .buf = buf, .size = bytes ? bytes - 1 : 0,
	};
}

/* Reads more behind what there is. Returns 0, or an error; at the end -ENODATA. */
static ssize_t fill(struct reader *r, int64_t deadline)
{
	ssize_t n;

	if (r->begin > 0) {
		memmove(r->buf, r->buf + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
	}
	if (r->end == r->size)
		return -EMSGSIZE;
	n = weft_read_until(r->fd, r->buf + r->end, r->size - r->end, deadline);
	if (n == 0)
		return -ENODATA;
	if (n < 0)
		return n;
	r->end += (size_t)n;
	return 0;
}

/* A line of `bytes`, with its end if it has one, is handed out. */
static ssize_t hand_out(struct reader *r, size_t bytes, char **line)
{
	char *begin = r->buf + r->begin;
	size_t length = bytes;

	if (length && begin[length - 1] == '\n') {
		length--;
		if (length && begin[length - 1] == '\r')
			length--;
	}
	begin[length] = 0;
	r->begin += bytes;
	r->seen = 0;
	*line = begin;
	return (ssize_t)length;
}

ssize_t weft_reader_line(struct weft_reader *reader, char **line, int64_t deadline)
{
	struct reader *r = reader_of(reader);

	for (;;) {
		const size_t bytes = r->end - r->begin;
		const char *from = r->buf + r->begin;
		const char *newline = bytes == r->seen ? NULL :
			memchr(from + r->seen, '\n', bytes - r->seen);
		ssize_t error;

		if (newline)
			return hand_out(r, (size_t)(newline - from) + 1, line);
		r->seen = bytes;
		error = fill(r, deadline);
		if (error == -ENODATA && bytes)
			return hand_out(r, bytes, line);
		if (error)
			return error;
	}
}

/* Takes what the buffer has. */
static size_t take(struct reader *r, char *to, size_t bytes)
{
	size_t n = r->end - r->begin;

	if (n > bytes)
		n = bytes;
	if (n)
		memcpy(to, r->buf + r->begin, n);
	r->begin += n;
	r->seen = 0;
	return n;
}

/* A long rest is read past the buffer. */
ssize_t weft_reader_read(struct weft_reader *reader, void *buf, size_t bytes,
			 int64_t deadline)
{
	struct reader *r = reader_of(reader);
	char *to = buf;
	size_t done = take(r, to, bytes);
	ssize_t n = 1;

	while (done < bytes && n > 0) {
		if (bytes - done >= r->size) {
			n = weft_read_until(r->fd, to + done, bytes - done, deadline);
		} else {
			n = fill(r, deadline);
			n = n == -ENODATA ? 0 : n ? n :
			    (ssize_t)take(r, to + done, bytes - done);
		}
		if (n > 0)
			done += (size_t)n;
	}
	return done || n > 0 ? (ssize_t)done : n;
}
