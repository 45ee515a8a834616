/* SPDX-License-Identifier: MIT */
/*
 * os/call/vm.c - address space: reserve, guard, give back
 *
 * Writers
 *   known  wefti_os_page_size, wefti_os_vm_guard
 */
#include "os/call/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/call/fatal.h"
#include "os/call/missing.h"
#include "os/call/root.h"
#include "cpu.h"
#include "syscall.h"

/* Newer than the headers that we compile with. */
#define GUARD_INSTALL	102
#define GUARD_REMOVE	103

#define NO_ACTION	99	/* neither SIG_BLOCK nor one of the others */

/* In /proc/PID/pagemap. The second is not set for pages of anonymous memory. */
#define PAGE_IN_MEMORY	((uint64_t)1 << 63)
#define PAGE_OF_FILE	((uint64_t)1 << 61)

size_t wefti_os_page_size(void)
{
	static _Atomic size_t known;	/* sysconf takes 10 ns */
	size_t page = load_relaxed(&known);

	if (unlikely(!page)) {
		page = (size_t)sysconf(_SC_PAGESIZE);
		store_relaxed(&known, page);
	}
	return page;
}

/* Uses libc, not a bare system call: sanitizers must see new memory. */
static void *map(size_t bytes, int protection)
{
	void *p = mmap(NULL, bytes, protection,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *wefti_os_vm_reserve(size_t bytes)
{
	return map(bytes, PROT_READ | PROT_WRITE);
}

void *wefti_os_vm_reserve_inaccessible(size_t bytes)
{
	return map(bytes, PROT_NONE);
}

void *wefti_os_vm_share(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * ENOMEM: a hole would make one mapping too many. Memory that cannot be unmapped is at
 * least given back.
 */
void wefti_os_vm_unmap(void *start, size_t bytes)
{
	if (munmap(start, bytes) == 0)
		return;
	if (errno != ENOMEM)
		wefti_os_fatal("munmap", -errno);
	wefti_os_vm_dontneed(start, bytes);
}

static long advise(void *start, size_t bytes, int advice)
{
	return wefti_arch_syscall(SYS_madvise, (long)start, (long)bytes,
				  advice, 0, 0, 0);
}

/* EINTR: a signal came while many pages were changed. The changes so far stay. */
static int change_guard(void *start, size_t bytes, int advice)
{
	long ret;

	do
		ret = advise(start, bytes, advice);
	while (ret == -EINTR);
	if (wefti_os_is_missing(ret))
		return -ENOTSUP;
	switch (ret) {
	case 0:
		return 0;
	case -EINVAL:
		return -ENOTSUP;
	case -ENOMEM:
	case -EAGAIN:
		return -ENOMEM;
	default:
		wefti_os_fatal("madvise guard", ret);
	}
}

/*
 * An emulator may accept any advice and do nothing. The kernel is asked to
 * read a signal mask from the guarded page, which it must refuse. (It would also refuse what
 * it is to do with the mask, so a mask that can be read changes nothing.) Valgrind would
 * read the mask itself, and does not know of guards: it gets pages that it can see.
 */
static int try_guard(void *start)
{
	return wefti_arch_syscall(SYS_rt_sigprocmask, NO_ACTION, (long)start, 0,
				  sizeof(uint64_t), 0, 0) == -EFAULT ? 0 : -ENOTSUP;
}

int wefti_os_vm_guard(void *start, size_t bytes)
{
	static _Atomic int known;	/* 1: they work, -1: they do not */
	const int works = load_relaxed(&known);
	int error = works < 0 || (!works && wefti_arch_on_valgrind()) ? -ENOTSUP :
		    change_guard(start, bytes, GUARD_INSTALL);

	if (works)
		return error;
	if (!error)
		error = try_guard(start);
	if (error != -ENOMEM)	/* else it is tried another time */
		store_relaxed(&known, error ? -1 : 1);
	return error;
}

int wefti_os_vm_unguard(void *start, size_t bytes)
{
	return change_guard(start, bytes, GUARD_REMOVE);
}

static int protect(void *start, size_t bytes, int protection)
{
	if (mprotect(start, bytes, protection) == 0)
		return 0;
	if (errno != ENOMEM)
		wefti_os_fatal("mprotect", -errno);
	return -ENOMEM;
}

int wefti_os_vm_forbid(void *start, size_t bytes)
{
	return protect(start, bytes, PROT_NONE);
}

int wefti_os_vm_allow(void *start, size_t bytes)
{
	return protect(start, bytes, PROT_READ | PROT_WRITE);
}

int wefti_os_vm_run(void *start, size_t bytes)
{
	if (mprotect(start, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
		return 0;
	/* Another refusal (SELinux: EACCES) would have stopped libc too. */
	return -ENOMEM;
}

/*
 * EINVAL: mlockall() keeps the pages, and they keep their contents. The same happens
 * under a filter without madvise(): the memory is not given back.
 */
int wefti_os_vm_dontneed(void *start, size_t bytes)
{
	long ret;

	do
		ret = advise(start, bytes, MADV_DONTNEED);
	while (ret == -EAGAIN || ret == -EINTR);
	if (ret != 0 && ret != -EINVAL && !wefti_os_is_missing(ret))
		wefti_os_fatal("madvise dontneed", ret);
	return ret == -EINVAL ? -EINVAL : 0;
}

int wefti_os_vm_is_locking(void)
{
	const size_t page = wefti_os_page_size();
	unsigned char there = 0;
	void *p = map(page, PROT_READ | PROT_WRITE);

	if (!p)
		return 0;
	(void)wefti_arch_syscall(SYS_mincore, (long)p, (long)page, (long)&there, 0,
				 0, 0);
	wefti_os_vm_unmap(p, page);
	return there & 1;
}

/* Up to the next page, down to the one before. Returns the number of bytes. */
static size_t whole_pages(uintptr_t *start, size_t bytes)
{
	const uintptr_t page = wefti_os_page_size(), end = *start + bytes;
	const uintptr_t low = (*start + page - 1) & ~(page - 1);

	*start = low;
	return (end & ~(page - 1)) > low ? (end & ~(page - 1)) - low : 0;
}

void wefti_os_vm_lock(void *start, size_t bytes)
{
	uintptr_t low = (uintptr_t)start;
	const size_t whole = whole_pages(&low, bytes);

	(void)wefti_arch_syscall(SYS_mlock, (long)low, (long)whole, 0, 0, 0, 0);
}

void wefti_os_vm_unlock(void *start, size_t bytes)
{
	uintptr_t low = (uintptr_t)start;
	const size_t whole = whole_pages(&low, bytes);

	if (wefti_arch_syscall(SYS_munlock, (long)low, (long)whole, 0, 0, 0, 0) == 0)
		wefti_os_vm_dontneed((void *)low, whole);
}

void wefti_os_vm_nohugepage(void *start, size_t bytes)
{
	/* EINVAL if the kernel has no huge pages: that is as good. */
	(void)advise(start, bytes, MADV_NOHUGEPAGE);
}

void *wefti_os_vm_wiped(void)
{
	const size_t page = wefti_os_page_size();
	void *p = map(page, PROT_READ | PROT_WRITE);

	if (p && advise(p, page, MADV_WIPEONFORK) == 0)
		return p;
	if (p)
		wefti_os_vm_unmap(p, page);
	return NULL;
}

/* The kernel asks the same about a page when it looks for futex waiters there. */
int wefti_os_vm_is_private(const void *at)
{
	uint64_t page = 0;
	long where = (long)((uintptr_t)at / wefti_os_page_size() * sizeof(page));
	long fd = wefti_os_proc_open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0)
		return 0;
	wefti_arch_syscall(SYS_pread64, fd, (long)&page, sizeof(page), where, 0,
			   0);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return (page & (PAGE_IN_MEMORY | PAGE_OF_FILE)) == PAGE_IN_MEMORY;
}
