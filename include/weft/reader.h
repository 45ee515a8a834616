/* SPDX-License-Identifier: MIT */
/*
 * weft/reader.h - reads lines, and pieces of a known size, through a buffer
 *
 * A reader stands in front of a descriptor. It reads as much as there is into the
 * caller's buffer, and hands it out in lines or pieces:
 *
 *     struct weft_reader in;
 *     char buf[4096], *line;
 *     ssize_t n;
 *
 *     weft_reader_init(&in, fd, buf, sizeof(buf));
 *     while ((n = weft_reader_line(&in, &line, weft_deadline(WEFT_SECONDS(60)))) >= 0)
 *         answer(line);
 *     if (n != -ENODATA)
 *         complain(weft_strerror((int)n));
 *
 * It owns nothing, and need not be destroyed. Only one thread at a time may use it. While
 * a reader is in use, other reads from the descriptor miss what the buffer has.
 *
 * Bytes of the buffer are handed out whatever the deadline, and also to a cancelled thread.
 * -ECANCELED comes when the call would have to read.
 *
 * A server may give a client a minute to begin a request, and a second to finish it. It
 * reads the first byte by weft_reader_read() with the first deadline, and the rest of the
 * line by weft_reader_line() with the second. If the first byte is a newline, the line is
 * empty and has no rest. weft_wait_fd() cannot take the place of the first call: the next
 * request may be in the buffer already.
 */
#ifndef WEFT_READER_H
#define WEFT_READER_H

#include <weft/base.h>
#include <weft/io.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_reader {
	int fd;
	int weft_private0;
	char *weft_private1;
	size_t weft_private[5];
};

/*
 * weft_reader_init - make a reader
 *
 *   reader      any memory
 *   fd          any descriptor; the caller closes it
 *   buf, bytes  the buffer, at least 2 bytes; must live as long as the reader is used.
 *               A line of up to bytes - 2 characters fits.
 *
 * Blocks     never.
 * See        weft_reader_line(), weft_reader_read()
 * Since      0.2
 */
WEFT_API void weft_reader_init(struct weft_reader *reader, int fd, void *buf,
	size_t bytes);

/*
 * weft_reader_line - read a line
 *
 *   line      receives the beginning of the line, which is in the buffer and may be
 *             changed. It is valid until the next call on the reader. Its newline, or
 *             its "\r\n", is replaced by 0.
 *   deadline  for the whole line: a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Characters after the last newline are a line too.
 *
 * Returns the length of the line, without its end; 0 for an empty line. On an error the
 * reader has kept what has arrived of the line, and a later call goes on with it:
 *   -ENODATA    the end: there is no line any more
 *   -EMSGSIZE   the line does not fit into the buffer. weft_reader_read() can take
 *               parts of it. At least the next bytes - 2 characters belong to the
 *               line, where bytes is the size of the buffer.
 *   -ETIMEDOUT  the line was not complete before the deadline
 *   -EAGAIN     the line is not complete, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled, and the line is not in the buffer
 * or another error of weft_read().
 *
 * Blocks     may park, as weft_read().
 * Orders     as weft_read().
 * See        weft_reader_init(), weft_reader_read(), weft_read()
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE ssize_t weft_reader_line(struct weft_reader *reader,
	char **line, int64_t deadline);

/*
 * weft_reader_read - read a number of bytes
 *
 *   buf, bytes  where the data goes, and how many bytes to read
 *   deadline    for all of them: a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Takes what the buffer has, and waits until the rest has arrived.
 *
 * Returns the number of bytes. It is less than asked for at the end, or if an error, the
 * deadline or a cancellation came after a part was read; the next call has the error. 0
 * means the end. Errors are those of weft_read(), and come only if the buffer is empty.
 *
 * Blocks     may park, as weft_read().
 * Orders     as weft_read().
 * See        weft_reader_line()
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE ssize_t weft_reader_read(struct weft_reader *reader,
	void *buf, size_t bytes, int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif
