/* SPDX-License-Identifier: MIT */
/* os/call/write.h - all of a text to a descriptor */
#ifndef WEFT_OS_CALL_WRITE_H
#define WEFT_OS_CALL_WRITE_H

#include <stddef.h>

/*
 * Waits for a descriptor that is full, and asks goes_on() every 100 ms
 * meanwhile, and when a signal came: 0 gives up. Returns 0, or -EIO: it did not
 * take it all. A pipe that others write to as well may block it longer. For
 * signal handlers too.
 */
int wefti_os_write(int fd, const char *text, size_t bytes,
		   int (*goes_on)(void));

#endif
