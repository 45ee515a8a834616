/* SPDX-License-Identifier: MIT */
/* os/libc/real.h - libc's own functions, whatever stands in front of them */
#ifndef WEFT_OS_LIBC_REAL_H
#define WEFT_OS_LIBC_REAL_H

/*
 * libc's definition of `name`, and where libc has none the first that there is. So a
 * preload library may interpose it and use us at the same time. With a sanitizer it is
 * the first one, as the sanitizer has to see the call. May take the loader's lock: for
 * initialization. NULL: there is none.
 */
void *wefti_os_real(const char *name);

#endif
