/* SPDX-License-Identifier: MIT */
/*
 * explore/stream.c - stdio's reads of pipes, sockets and terminals, and its open of a named pipe
 *
 * libc reads inside, where no function of this library is called. So a read of a stream that
 * may wait is made of reads of single bytes. Before each one the thread waits for its turn, if the
 * stream's buffer is empty: libc then finds data, and takes what is there. A formatted
 * read (scanf) waits in that way for its first byte.
 */
#ifndef __NO_INLINE__
#define __NO_INLINE__	1	/* stdio.h would define getchar() and getline() inline */
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "descriptor.h"
#include "real.h"

/* The layout is glibc's. */
static int has_data(const FILE *f)
{
	return f->_IO_read_ptr < f->_IO_read_end;
}

static int may_wait(FILE *f)
{
	const int kept = errno;
	const int fd = wefti_ex_controlled() && f ? fileno(f) : -1;
	const int may = fd >= 0 && wefti_ex_may_block(fd);

	errno = kept;
	return may;
}

static int wait_for_data(FILE *f, const void *where)
{
	int done;

	if (has_data(f) || feof(f))
		return 0;
	do
		done = wefti_ex_wait_for_one(fileno(f), POLLIN, 0, WEFTI_EX_IN, where);
	while (done < 0 && errno == EINTR);
	wefti_ex_read_by(wefti_ex_self);
	return done;
}

/*
 * libc has a lock for each stream, which a thread keeps while it waits. So no other thread gets
 * a part of its line.
 */
static void begin(FILE **reads, FILE *f, const void *where)
{
	while (wefti_ex_object(f, WEFTI_EX_STREAM, where)->holder)
		(void)wefti_ex_block(wefti_ex_self, f, WEFTI_EX_NEVER);
	wefti_ex_object(f, WEFTI_EX_STREAM, where)->holder = wefti_ex_self->number;
	*reads = f;
}

/* The thread may be cancelled while it waits. */
static void end(FILE **reads)
{
	if (!*reads || !wefti_ex_self)
		return;
	wefti_ex_object(*reads, WEFTI_EX_STREAM, NULL)->holder = 0;
	wefti_ex_wake_all(*reads);
}

#define READING(f)								\
	__attribute__((cleanup(end))) FILE *reads = NULL;			\
	begin(&reads, f, CALLER)

static size_t in_buffer(const FILE *f)
{
	return (size_t)(f->_IO_read_end - f->_IO_read_ptr);
}

static int has_end(const FILE *f, int end)
{
	return has_data(f) && memchr(f->_IO_read_ptr, end, in_buffer(f)) != NULL;
}

static int get(FILE *f, const void *where)
{
	(void)wait_for_data(f, where);
	return REAL(fgetc)(f);
}

#define ONE(name)								\
	EXPORT int name(FILE *f)						\
	{									\
		return !has_data(f) && may_wait(f) ? get(f, CALLER) : REAL(fgetc)(f); \
	}
ONE(fgetc)
int _IO_getc(FILE *f);

#undef getc
ONE(getc)
ONE(_IO_getc)

#undef getchar
EXPORT int getchar(void)
{
	return !has_data(stdin) && may_wait(stdin) ? get(stdin, CALLER) : REAL(fgetc)(stdin);
}

EXPORT char *fgets(char *restrict to, int n, FILE *restrict f)
{
	int i = 0, c = 0;

	if (n <= 1 || has_end(f, '\n') || !may_wait(f))
		return REAL(fgets)(to, n, f);
	READING(f);
	while (i < n - 1 && c != '\n' && (c = get(f, CALLER)) != EOF)
		to[i++] = (char)c;
	if (i == 0 || (c == EOF && ferror(f)))
		return NULL;
	to[i] = 0;
	return to;
}

char *__fgets_chk(char *to, size_t room, int n, FILE *f);

EXPORT char *__fgets_chk(char *to, size_t room, int n, FILE *f)
{
	if (n > 0 && (size_t)n > room)
		abort();
	return fgets(to, n, f);
}

EXPORT size_t fread(void *restrict to, size_t bytes, size_t n, FILE *restrict f)
{
	const size_t wanted = bytes * n;
	size_t done = 0;
	int c;

	if (!wanted || wanted / bytes != n || in_buffer(f) >= wanted || !may_wait(f))
		return REAL(fread)(to, bytes, n, f);
	READING(f);
	while (done < wanted && (c = get(f, CALLER)) != EOF)
		((char *)to)[done++] = (char)c;
	return done / bytes;
}

static ssize_t fail(int error)
{
	errno = error;
	return -1;
}

EXPORT ssize_t getdelim(char **restrict line, size_t *restrict room, int last, FILE *restrict f)
{
	size_t n = 0;
	int c;

	if (!line || !room || has_end(f, last) || !may_wait(f))
		return REAL(getdelim)(line, room, last, f);
	READING(f);
	do {
		c = get(f, CALLER);
		if (!*line || n + 2 > *room) {
			const size_t more = *line && *room ? 2 * *room + 2 : 120;
			char *grown = realloc(*line, more);

			if (!grown)
				return fail(ENOMEM);
			*line = grown;
			*room = more;
		}
		if (c != EOF)
			(*line)[n++] = (char)c;
	} while (c != EOF && c != last);
	(*line)[n] = 0;
	return n == 0 || (c == EOF && ferror(f)) ? -1 : (ssize_t)n;
}

#undef getline
EXPORT ssize_t getline(char **restrict line, size_t *restrict room, FILE *restrict f)
{
	return getdelim(line, room, '\n', f);
}

ssize_t __getdelim(char **line, size_t *room, int last, FILE *f);

EXPORT ssize_t __getdelim(char **line, size_t *room, int last, FILE *f)
{
	return getdelim(line, room, last, f);
}

static int is_named_pipe(const char *path)
{
	struct stat st;
	const int kept = errno;
	const int is = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);

	errno = kept;
	return is;
}

/* As open(2) has it, for a pipe that is there; -1: libc says what is wrong. */
static int flags_of(const char *mode)
{
	const int access = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;

	if ((*mode != 'r' && *mode != 'w' && *mode != 'a') || strchr(mode, 'x'))
		return -1;
	return access | (*mode == 'a' ? O_APPEND : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
	FILE *f;
	int fd;

	if (!wefti_ex_controlled() || flags_of(mode) < 0 || !is_named_pipe(path))
		return REAL(fopen)(path, mode);
	fd = open(path, flags_of(mode));
	if (fd < 0)
		return NULL;
	f = fdopen(fd, mode);
	if (!f)
		(void)REAL(close)(fd);
	return f;
}

EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	return fopen(path, mode);
}
