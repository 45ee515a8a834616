/* SPDX-License-Identifier: MIT */
/* os/call/copy.h - memory that may change or vanish while it is read */
#ifndef WEFT_OS_CALL_COPY_H
#define WEFT_OS_CALL_COPY_H

#include <stddef.h>

/*
 * Copies from the start up to the first page that cannot be read. If a sandbox or an
 * emulator allows only to read by a file, a page that exists but is forbidden can be read
 * too. Returns how many bytes were copied; 0 also if the kernel refuses altogether. Never
 * faults, takes no lock; for signal handlers too.
 */
size_t wefti_os_copy(void *to, const void *from, size_t bytes);

#endif
