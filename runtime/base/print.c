/* SPDX-License-Identifier: MIT */
/*
 * base/print.c - writes lines to a descriptor, in signal handlers too
 *
 * This is the only system call below the system layer. A failed check in the lowest
 * layer must be seen, and nothing else may be needed for that.
 */
#include <errno.h>
#include <unistd.h>

#include "base/format.h"

void wefti_write(int fd, const char *text, size_t bytes)
{
	int saved = errno;

	while (bytes > 0) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		text += n;
		bytes -= (size_t)n;
	}
	errno = saved;
}

void wefti_print(int fd, const char *format, ...)
{
	char line[WEFTI_PRINT_MOST];
	va_list args;

	va_start(args, format);
	wefti_write(fd, line, wefti_vformat(line, sizeof(line), format, args));
	va_end(args);
}
