/* SPDX-License-Identifier: MIT */
/* os/call/vm.h - address space: reserve, guard, give back */
#ifndef WEFT_OS_CALL_VM_H
#define WEFT_OS_CALL_VM_H

#include <stddef.h>

size_t wefti_os_page_size(void);

/*
 * Zeroed, private address space, `bytes` a multiple of the page size; no
 * memory until touched. NULL: no address space, or too many mappings.
 */
void *wefti_os_vm_reserve(size_t bytes);		/* read and write */
void *wefti_os_vm_reserve_inaccessible(size_t bytes);	/* until allowed */

/* The same, but that children made by fork() share it. */
void *wefti_os_vm_share(size_t bytes);

void wefti_os_vm_unmap(void *start, size_t bytes);

/*
 * Pages that fault without a mapping of their own (Linux 6.13).
 * Returns 0, -ENOTSUP where the kernel is older, or -ENOMEM.
 */
int wefti_os_vm_guard(void *start, size_t bytes);
int wefti_os_vm_unguard(void *start, size_t bytes);

/* The same by mprotect; splits mappings. Returns 0 or -ENOMEM. */
int wefti_os_vm_forbid(void *start, size_t bytes);
int wefti_os_vm_allow(void *start, size_t bytes);

/* Reads, writes and runs from now on. Guards of the kernel's stay. 0 or -ENOMEM. */
int wefti_os_vm_run(void *start, size_t bytes);

/*
 * Gives the memory back; reads as zeros afterwards, but under mlockall(),
 * where nothing happens. Guards stay.
 */
void wefti_os_vm_dontneed(void *start, size_t bytes);

/*
 * mlockall(): is new memory locked as soon as it is mapped? The kernel is asked by a
 * page, which tells only of what is in memory at once.
 */
int wefti_os_vm_is_locking(void);

/* Whole pages inside are locked, or not, and given back. A failure is not told. */
void wefti_os_vm_lock(void *start, size_t bytes);
void wefti_os_vm_unlock(void *start, size_t bytes);

/* A hint: small pages only, so that one touched page costs one page. */
void wefti_os_vm_nohugepage(void *start, size_t bytes);

/*
 * Whether what is at `at` is of this address space alone: anonymous memory, which
 * was not mapped to be shared. 0 also where that is not to be known: it is not in
 * memory, or /proc not there, or no descriptor free. Takes three system calls.
 */
int wefti_os_vm_is_private(const void *at);

#endif
