/* SPDX-License-Identifier: MIT */
/* os/tls/loader.h - who holds a lock of the dynamic loader's */
#ifndef WEFT_OS_TLS_LOADER_H
#define WEFT_OS_TLS_LOADER_H

#include <stdint.h>

/* Finds where they are. Once a process. */
void wefti_os_loader_init(void);

/*
 * Does the thread whose block that is hold one, in dlopen() say, or in a function that
 * dl_iterate_phdr() calls? For the thread itself, in signal handlers too. Where they
 * have not been found: 0.
 */
int wefti_os_loader_is_held(uintptr_t tp);

#endif
