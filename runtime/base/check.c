/* SPDX-License-Identifier: MIT */
/* base/check.c - reports a state that must not be, and ends the program */
#include "base/check.h"

#include <stdlib.h>

#include "base/format.h"

#define STDERR	2

void wefti_check_failed(const char *file, int line, const char *cond,
			const char *format, ...)
{
	char text[WEFTI_PRINT_MOST];
	size_t length = wefti_format(text, sizeof(text) - 1, "weft: %s:%d: %s",
				     file, line, cond);
	va_list args;

	va_start(args, format);
	if (format[1] != 0) {
		length += wefti_format(text + length,
				       sizeof(text) - 1 - length, ":");
		length += wefti_vformat(text + length,
					sizeof(text) - 1 - length, format,
					args);
	}
	va_end(args);
	text[length++] = '\n';		/* the room kept by the - 1 above */
	wefti_write(STDERR, text, length);
	abort();
}
