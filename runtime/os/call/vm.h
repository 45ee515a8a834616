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

/* The same, but children made by fork() share it. */
void *wefti_os_vm_share(size_t bytes);

/*
 * One page, zeroed. In a child that gets a copy of the memory, however it is made, it is
 * zeroed again. NULL: there is no memory, or the kernel is older than Linux 4.14.
 */
void *wefti_os_vm_wiped(void);

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

/* Makes it readable, writable and executable. The kernel's guards stay. 0 or -ENOMEM. */
int wefti_os_vm_run(void *start, size_t bytes);

/*
 * Gives the memory back: it reads as zeros afterwards. Guards stay. Returns 0, or -EINVAL
 * if some of it is locked in memory: what comes before that may have been given back.
 */
int wefti_os_vm_dontneed(void *start, size_t bytes);

/*
 * Is new memory locked as soon as it is mapped, by mlockall()? Finds out by a new page,
 * so it sees only the mode in which new pages are in memory at once.
 */
int wefti_os_vm_is_locking(void);

/*
 * Lock the whole pages inside; unlock them and give them back. Failures are not reported.
 */
void wefti_os_vm_lock(void *start, size_t bytes);
void wefti_os_vm_unlock(void *start, size_t bytes);

/* A hint: small pages only, so that one touched page costs one page. */
void wefti_os_vm_nohugepage(void *start, size_t bytes);

/*
 * Does the page at `at` belong to this address space alone: is it anonymous memory that
 * was not mapped as shared? Also 0 if that cannot be known: the page is not in memory, or
 * there is no /proc, or no free descriptor. Takes three system calls.
 */
int wefti_os_vm_is_private(const void *at);

#endif
