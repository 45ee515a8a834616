/* SPDX-License-Identifier: MIT */
/* cli/shown.c - text that other programs chose, without what a terminal would obey */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cli.h"

char *weft_cli_clean(char *text, size_t room)
{
	char *copy = strdup(text);

	text[0] = 0;
	if (copy)
		(void)wefti_format_shown(text, room, copy);
	free(copy);
	return text;
}

size_t weft_cli_show(FILE *to, const char *text, size_t bytes, int is_all)
{
	size_t i = 0;

	while (i < bytes) {
		const size_t length = wefti_shown(text + i, bytes - i);
		const size_t whole = wefti_shown_length(text[i]);

		if (length)
			fwrite(text + i, 1, length, to);
		else if (text[i] == '\n')
			putc('\n', to);
		else if (!is_all && whole > bytes - i)
			break;
		else
			fprintf(to, "\\x%02x", (unsigned char)text[i]);
		i += length ? length : 1;
	}
	return i;
}

void weft_cli_say(FILE *to, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length >= 0)
		(void)weft_cli_show(to, text, (size_t)length, 1);
	free(text);
}
