/* SPDX-License-Identifier: MIT */
/* os/object/text.h - which object's code a program counter is in */
#ifndef WEFT_OS_OBJECT_TEXT_H
#define WEFT_OS_OBJECT_TEXT_H

#include <stdint.h>
#include <ucontext.h>

/* Reads the list of objects from the loader. A second call reads it again. */
void wefti_os_text_init(void);

/*
 * Is pc in libc, the loader, the C++ library, the unwinder, the vDSO or a
 * shared libweft: text that may hold locks that all threads share? May be
 * called in a signal handler.
 */
int wefti_os_text_is_locked(uintptr_t pc);

/* Is pc in libc itself? May be called in a signal handler. */
int wefti_os_text_is_libcs(uintptr_t pc);

/*
 * Is the thread in a system call of libc that no malloc makes? That is: about to begin or
 * restart the call, or behind it because a signal ended it. May be called in a signal
 * handler.
 */
int wefti_os_text_waits(const ucontext_t *uc);

/* Is pc in libc's malloc or near it, or in another known malloc? For handlers too. */
int wefti_os_text_is_mallocs(uintptr_t pc);

#endif
