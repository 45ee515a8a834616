/* SPDX-License-Identifier: MIT */
/* pthread/sync/futex.h - the program's own futexes */
#ifndef WEFT_PTHREAD_SYNC_FUTEX_H
#define WEFT_PTHREAD_SYNC_FUTEX_H

/* futex(2) by syscall(), with its six arguments. Returns what the kernel would return. */
long wefti_futex(const long *six);

/* The same for a green thread, if others may use the same words in the kernel. */
long wefti_futex_beside_kernel(const long *six);

/* Does op inherit priorities? Such futexes need the kernel, which knows no green id. */
int wefti_futex_inherits_priority(int op);

#endif
