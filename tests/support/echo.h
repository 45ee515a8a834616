/* SPDX-License-Identifier: MIT */
/* echo.h - a thread that writes back what it reads */
#ifndef WEFT_TESTS_ECHO_H
#define WEFT_TESTS_ECHO_H

#include "weft/io.h"

/* Until the other end of the descriptor *fd is closed. */
static inline void *echo(void *fd)
{
	char text[16];
	ssize_t n;

	while ((n = weft_read(*(int *)fd, text, sizeof(text))) > 0)
		if (weft_write(*(int *)fd, text, (size_t)n) < 0)
			break;
	return NULL;
}

#endif
