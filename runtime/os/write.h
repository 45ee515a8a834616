/* SPDX-License-Identifier: MIT */
/* os/write.h - all of a text to a descriptor */
#ifndef WEFT_OS_WRITE_H
#define WEFT_OS_WRITE_H

#include <stddef.h>

/*
 * Waits for a descriptor that does not block and is full, up to a second at a
 * time. Returns 0, or -EIO: it did not take it all. For signal handlers too.
 */
int wefti_os_write(int fd, const char *text, size_t bytes);

#endif
