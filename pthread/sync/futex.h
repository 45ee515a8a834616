/* SPDX-License-Identifier: MIT */
/* pthread/sync/futex.h - futexes of the program's own */
#ifndef WEFT_PTHREAD_SYNC_FUTEX_H
#define WEFT_PTHREAD_SYNC_FUTEX_H

/* By syscall(), with its six arguments: as the kernel would answer. */
long wefti_futex(const long *six);

/* The same of a green thread, where others may wait and wake at these words in the kernel. */
long wefti_futex_beside_kernel(const long *six);

/* Futexes that inherit priorities are the kernel's: it knows no green thread's id. */
int wefti_futex_inherits_priority(int op);

#endif
