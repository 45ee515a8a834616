/* SPDX-License-Identifier: MIT */
/*
 * base/format.h - text from numbers, in signal handlers too
 *
 * Neither function allocates, takes a lock, reads the locale or changes errno.
 * Conversions: %s %c %d %i %u %x %p %%; for numbers l, ll and z; the flags 0 and -, a
 * width, and for %s a precision, each a number or *. At any other conversion formatting
 * ends, since the argument's size is unknown, and the rest of the format is copied as
 * it is. %s of NULL is "(null)".
 */
#ifndef WEFT_BASE_FORMAT_H
#define WEFT_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* The most that wefti_print can print at once; the rest is cut off. */
#define WEFTI_PRINT_MOST	512

/*
 * Writes at most size bytes to buf, including the final NUL. Returns how many were
 * written without the NUL, so the next call can continue there. With size 0 nothing is
 * written, and buf may be NULL.
 */
size_t wefti_format(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t wefti_vformat(char *buf, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* One write(2), so that lines of several kernel threads do not mix. */
void wefti_print(int fd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes everything unless the descriptor fails, which is not reported. */
void wefti_write(int fd, const char *text, size_t bytes);

#endif
