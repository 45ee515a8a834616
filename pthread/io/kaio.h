/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/kaio.h - the kernel's asynchronous I/O: io_submit(), io_getevents()
 *
 * By libaio's functions, which are those system calls, or by syscall().
 */
#ifndef WEFT_PTHREAD_IO_KAIO_H
#define WEFT_PTHREAD_IO_KAIO_H

/* By syscall(). Returns 0 for the kernel to do it, or 1 and the kernel's result. */
int wefti_kaio_syscall(long number, const long a[6], long *result);

/* The first of our own descriptors for it that is not below `from`; -1: none. */
int wefti_kaio_next(int from);

#endif
