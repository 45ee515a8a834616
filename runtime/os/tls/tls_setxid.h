/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_setxid.h - setuid() and its kin reach every kernel thread
 *
 * libc changes the ids of each thread on its lists but the caller's by a signal, and
 * then the caller's own. A block that runs on other kernel threads than its own
 * breaks that in two ways; os/tls/tls_setxid.c mends both.
 */
#ifndef WEFT_OS_TLS_TLS_SETXID_H
#define WEFT_OS_TLS_TLS_SETXID_H

/*
 * Makes the entry for kernel thread 0. Once a process, by wefti_tls_init(); needs the
 * layout. Returns NULL, or why not.
 */
const char *wefti_tls_setxid_make(void);

/*
 * From include() on libc knows kernel thread 0 by the entry, and whatever it runs gets
 * the new ids; until exclude(), and in the child of a fork until that includes it
 * again. Both by kernel thread 0. include() returns the word that the kernel has to
 * clear at the end of kernel thread 0: libc then leaves the entry alone.
 */
const int *wefti_tls_setxid_include(void);
void wefti_tls_setxid_exclude(void);

#endif
