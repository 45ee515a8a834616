/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_setxid.h - setuid() and similar calls reach every kernel thread
 *
 * libc changes the ids of each thread on its lists by a signal, except the caller's,
 * which it changes last. A block that runs on other kernel threads than its own breaks
 * that in two ways. os/tls/tls_setxid.c corrects both.
 */
#ifndef WEFT_OS_TLS_TLS_SETXID_H
#define WEFT_OS_TLS_TLS_SETXID_H

/*
 * Makes the entry for kernel thread 0. Called once in a process, by wefti_tls_init();
 * needs the layout. Returns NULL, or the reason for the failure.
 */
const char *wefti_tls_setxid_make(void);

/*
 * From include() until exclude(), libc knows kernel thread 0 by the entry, and kernel
 * thread 0 gets the new ids, whatever it runs. The child of a fork has to include it
 * again. Kernel thread 0 makes both calls. include() returns the word that the kernel
 * has to clear at the end of kernel thread 0: libc then leaves the entry alone.
 */
const int *wefti_tls_setxid_include(void);
void wefti_tls_setxid_exclude(void);

/* In a child of the process `parent`, where libc's list is as it was in the parent. */
void wefti_tls_setxid_inherit(int parent);

#endif
