/* SPDX-License-Identifier: MIT */
/* os/call/copy.h - memory that may change or vanish while it is read */
#ifndef WEFT_OS_CALL_COPY_H
#define WEFT_OS_CALL_COPY_H

#include <stddef.h>

/*
 * Copies what is there: from the start up to the first page that cannot be
 * read; where a sandbox or an emulator leaves only a file to read it by, a page
 * that is there and forbidden can. Returns how many bytes that are; 0 also when
 * the kernel refuses altogether. Never faults, takes no lock; for signal
 * handlers too.
 */
size_t wefti_os_copy(void *to, const void *from, size_t bytes);

#endif
