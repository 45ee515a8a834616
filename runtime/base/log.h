/* SPDX-License-Identifier: MIT */
/*
 * base/log.h - lines for people on standard error, as far as WEFT_LOG asks for them
 *
 * Messages about an error that ends the program, or is a bug in it (a stack that
 * overflows, a deadlock), are always printed, by wefti_print().
 */
#ifndef WEFT_BASE_LOG_H
#define WEFT_BASE_LOG_H

#include "base/settings.h"

/* Looks WEFT_LOG up, before the runtime has kernel threads of its own. */
void wefti_log_begin(void);

/* For messages that are expensive to make. */
int wefti_log_shows(enum wefti_set_log level);

/*
 * Prints one line, as long as wefti_print() can. "weft: " and the end of the line are
 * the caller's. Also for signal handlers.
 */
__attribute__((format(printf, 2, 3)))
void wefti_log(enum wefti_set_log level, const char *format, ...);

#endif
