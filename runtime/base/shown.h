/* SPDX-License-Identifier: MIT */
/* base/shown.h - text that the program chose, without what a terminal would obey */
#ifndef WEFT_BASE_SHOWN_H
#define WEFT_BASE_SHOWN_H

#include <stddef.h>

/* How many bytes a character of UTF-8 has, by its first one. 0: none begins so. */
size_t wefti_shown_length(char first);

/* How many of the bytes at text are a character that is shown as it is; 0: none are. */
size_t wefti_shown(const char *text, size_t bytes);

/*
 * Copies a text, with other bytes as \x0a. So it makes no lines of its own, and no terminal
 * obeys it. What has no room is cut off. Returns buf. For signal handlers too.
 */
const char *wefti_format_shown(char *buf, size_t size, const char *text);

#endif
