/* SPDX-License-Identifier: MIT */
/*
 * plan9/print.c - print and its kin
 *
 * The text is made as a whole and then written by one write(2), so that what several
 * threads print comes out in whole pieces. There is no buffer between the calls. A text
 * that does not fit the buffer on the stack goes to the heap. If that has no memory, the
 * call fails and writes nothing.
 */
#include "plan9.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "verbs.h"

int plan9_write_all(int fd, const char *text, long n)
{
	long done = 0, one = 1;

	while (done < n && one > 0) {
		do {
			one = write(fd, text + done, (size_t)(n - done));
		} while (one < 0 && errno == EINTR);
		done += one > 0 ? one : 0;
	}
	return done < n ? -1 : (int)n;
}

int weft_plan9_vfprint(int fd, const char *format, va_list args)
{
	char room[PLAN9_ROOM];
	Fmt f = { .start = room, .to = room, .stop = room + sizeof(room) };
	int n = -1;

	va_copy(f.args, args);
	plan9_format(&f, format);
	va_end(f.args);
	if (!f.is_cut)
		n = plan9_write_all(fd, f.start, f.to - f.start);
	free(f.farg);
	if (f.is_cut)
		errno = ENOMEM;
	return n;
}

char *weft_plan9_vseprint(char *to, char *end, const char *format, va_list args)
{
	Fmt f = { .start = to, .to = to, .stop = end, .is_fixed = 1 };

	if (end <= to)
		return to;
	va_copy(f.args, args);
	plan9_format(&f, format);
	va_end(f.args);
	*f.to = 0;
	return f.to;
}

char *weft_plan9_vsmprint(const char *format, va_list args)
{
	Fmt f = { .farg = NULL };

	f.start = f.to = f.farg = malloc(PLAN9_ROOM);
	if (!f.start)
		return NULL;
	f.stop = f.start + PLAN9_ROOM;
	va_copy(f.args, args);
	plan9_format(&f, format);
	va_end(f.args);
	if (f.is_cut) {
		free(f.start);
		errno = ENOMEM;
		return NULL;
	}
	*f.to = 0;
	return f.start;
}

int weft_plan9_vsnprint(char *to, int bytes, const char *format, va_list args)
{
	return bytes <= 0 ? 0 : (int)(weft_plan9_vseprint(to, to + bytes, format,
							  args) - to);
}

#define FORMATTED(result, call) do {					\
		va_list args;						\
									\
		va_start(args, format);					\
		(result) = call;					\
		va_end(args);						\
	} while (0)

int weft_plan9_fmtprint(Fmt *f, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_fmtvprint(f, format, args));
	return n;
}

int weft_plan9_print(const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vfprint(1, format, args));
	return n;
}

int weft_plan9_fprint(int fd, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vfprint(fd, format, args));
	return n;
}

int weft_plan9_sprint(char *to, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vsnprint(to, 1 << 16, format, args));
	return n;
}

int weft_plan9_snprint(char *to, int bytes, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vsnprint(to, bytes, format, args));
	return n;
}

char *weft_plan9_seprint(char *to, char *end, const char *format, ...)
{
	char *at;

	FORMATTED(at, weft_plan9_vseprint(to, end, format, args));
	return at;
}

char *weft_plan9_smprint(const char *format, ...)
{
	char *text;

	FORMATTED(text, weft_plan9_vsmprint(format, args));
	return text;
}
