/* SPDX-License-Identifier: MIT */
/* os/libc/loaded.h - does some loaded library, or the program, export a name? */
#ifndef WEFT_OS_LIBC_LOADED_H
#define WEFT_OS_LIBC_LOADED_H

#include <stddef.h>

/*
 * The number of the first of `names` that one of them exports; -1: there is none. For names
 * that are seldom there: dlsym() allocates a message for each.
 */
int wefti_os_loaded_exports(const char *const *names, size_t count);

#endif
