/* SPDX-License-Identifier: MIT */
/* os/libc/libc.h - libc's own functions, whatever a program defines */
#ifndef WEFT_OS_LIBC_LIBC_H
#define WEFT_OS_LIBC_LIBC_H

/*
 * The function or object of that name in libc, or in one of the libraries that libc
 * consisted of before 2.34, or in the loader: of the namespace (dlmopen()) that this
 * library is in. NULL: there is none; variables in TLS are not looked for.
 *
 * Neither locks nor allocates, so it may be called wherever a thread may be.
 */
void *wefti_os_libc(const char *name);

/* From here on this library calls `with` in the place of libc's function of that name. */
void wefti_os_libc_replace(const char *name, void *with);

/* The path of libc's file, as the loader has it; empty: there is none. */
const char *wefti_os_libc_path(void);

#endif
