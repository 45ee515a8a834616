/* SPDX-License-Identifier: MIT */
/* base/log.c - lines for people on standard error, as far as WEFT_LOG asks for them */
#include "base/log.h"

#include <stdarg.h>

#include "base/format.h"

#define STDERR	2
#define UNKNOWN	(-1)

static int64_t most = UNKNOWN;		/* enum wefti_set_log */

void wefti_log_begin(void)
{
	most = wefti_settings_peek("WEFT_LOG");
}

int wefti_log_shows(enum wefti_set_log level)
{
	const int64_t shown = most == UNKNOWN ? wefti_settings_peek("WEFT_LOG") :
						most;

	return (int64_t)level <= shown;
}

void wefti_log(enum wefti_set_log level, const char *format, ...)
{
	char line[WEFTI_PRINT_MOST];
	va_list args;

	if (!wefti_log_shows(level))
		return;
	va_start(args, format);
	wefti_write(STDERR, line, wefti_vformat(line, sizeof(line), format, args));
	va_end(args);
}
