/* SPDX-License-Identifier: MIT */
/* os/libc/process_stack.h - the stack that the kernel gave the process */
#ifndef WEFT_OS_LIBC_PROCESS_STACK_H
#define WEFT_OS_LIBC_PROCESS_STACK_H

#include <stddef.h>

/* The stack of the calling kernel thread, as libc knows it. 0 bytes if it does not. */
void wefti_os_process_stack(const void **low, size_t *bytes);

#endif
