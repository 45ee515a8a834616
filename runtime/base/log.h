/* SPDX-License-Identifier: MIT */
/*
 * base/log.h - lines on standard error for people, as far as WEFT_LOG wants them
 *
 * What ends the program, or is a bug of it (a stack that overflows, a deadlock), is
 * always told, by wefti_print().
 */
#ifndef WEFT_BASE_LOG_H
#define WEFT_BASE_LOG_H

#include "base/settings.h"

/* WEFT_LOG is looked up: before the runtime has kernel threads of its own. */
void wefti_log_begin(void);

/* For what is dear to find out. */
int wefti_log_shows(enum wefti_set_log level);

/*
 * One line; "weft: " and the end of the line are the caller's, and as much as
 * wefti_print() takes. Signal handlers too.
 */
__attribute__((format(printf, 2, 3)))
void wefti_log(enum wefti_set_log level, const char *format, ...);

#endif
