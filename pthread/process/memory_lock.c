/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/memory_lock.c - mlockall() locks what it would with libc's threads
 *
 * That is the program's memory, and of each thread's stack the size that was asked for.
 * The runtime maps stacks by the slab, and has tables for many threads. With all that
 * locked, a program with a few threads used a hundred megabytes. So if new memory is
 * locked, a slab is one stack (mem/stack.c), locking is paused while the runtime starts,
 * and the runtime's tables are unlocked. The tables' pages in use stay in memory as other
 * programs' pages do: without a swap file they are not taken away.
 *
 * mlockall(MCL_CURRENT) stops the locking of new memory without unlocking the old. A
 * program that has locked only future memory loses nothing by the start: the start locks
 * the present memory, too.
 *
 * Writers
 *   flags  mlockall, munlockall
 */
#include "pthread/process/memory_lock.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "mem/stack_lock.h"
#include "os/call/vm.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/region.h"
#include "syscall.h"
#include "thread/bare.h"

#define BOTH	(MCL_CURRENT | MCL_FUTURE)

static _Atomic int flags;	/* of the last mlockall(); 0: none */

/* The linker's symbol for the first byte of this library. */
extern const ElfW(Ehdr) first_byte __asm__("__ehdr_start")
	__attribute__((visibility("hidden")));

/*
 * Unlocks the part of this library that is in no file. Pages that have been written keep
 * their contents, so none is given back.
 */
static void unlock_tables(void)
{
	const char *base = (const char *)&first_byte;
	const ElfW(Phdr) *p = (const void *)(base + first_byte.e_phoff);

	for (size_t i = 0; i < first_byte.e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_memsz > p[i].p_filesz)
			(void)wefti_arch_syscall(SYS_munlock, (long)(base +
				p[i].p_vaddr + p[i].p_filesz), (long)
				(p[i].p_memsz - p[i].p_filesz), 0, 0, 0, 0);
}

EXPORT int mlockall(int how)
{
	int result;

	wefti_region_begin();
	result = REAL(mlockall)(how);
	wefti_region_end();
	if (result != 0)
		return result;
	store_seq_cst(&flags, how);
	if (how & MCL_CURRENT) {
		unlock_tables();
		if (wefti_pt_is_started())
			wefti_stack_unlock_idle();
	}
	return 0;
}

EXPORT int munlockall(void)
{
	const int result = REAL(munlockall)();

	if (result == 0)
		store_seq_cst(&flags, 0);
	return result;
}

static int is_paused(void)
{
	return (load_seq_cst(&flags) & BOTH) == BOTH;
}

void wefti_memory_lock_pause(void)
{
	if (unlikely(is_paused()))
		(void)!REAL(mlockall)(load_seq_cst(&flags) & ~MCL_FUTURE);
}

void wefti_memory_lock_resume(void)
{
	if (!is_paused())
		return;
	(void)!REAL(mlockall)(load_seq_cst(&flags) & ~MCL_CURRENT);
	unlock_tables();
}

/* Locks what lies between the spare room at the stack's low end and the control block. */
void wefti_memory_lock_stack(struct wefti_thread *t)
{
	const struct wefti_begin *b = &wefti_pt_of(t)->begin;
	char *low, *unused;
	size_t page;

	if (likely(!(load_relaxed(&flags) & MCL_FUTURE)) || b->stack)
		return;
	low = (char *)(uintptr_t)t->cold->stack_low;
	unused = low + b->room;
	page = wefti_os_page_size();
	wefti_os_vm_lock(low, t->cold->stack_bytes);
	if (b->room && (char *)t->cold > unused + 2 * page)
		wefti_os_vm_unlock(unused + page,
				   (size_t)((char *)t->cold - page - unused));
}
