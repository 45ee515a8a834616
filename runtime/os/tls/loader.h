/* SPDX-License-Identifier: MIT */
/* os/tls/loader.h - does a thread hold a lock of the dynamic loader? */
#ifndef WEFT_OS_TLS_LOADER_H
#define WEFT_OS_TLS_LOADER_H

#include <stdint.h>

/* Finds the locks. Called once in a process. */
void wefti_os_loader_init(void);

/*
 * Does the thread with this block hold such a lock, for example in dlopen(), or in a
 * function that dl_iterate_phdr() calls? To be asked by the thread itself, in signal
 * handlers too. If the locks have not been found: 0.
 */
int wefti_os_loader_is_held(uintptr_t tp);

#endif
