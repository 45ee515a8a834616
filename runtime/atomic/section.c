/* SPDX-License-Identifier: MIT */
/*
 * atomic/section.c - the table for objects that no instruction can handle
 *
 * The child of a fork has none of the other threads, one of which may have been in its
 * section. Its lock is then released, and the version becomes even. The object that this
 * thread was writing may be a mix of two values in the child: what is on several pages is
 * not copied at one moment. Rejected: to take all locks before the fork. The fork waits
 * for libc's locks. The owner of those may need a VCPU, and a thread that waits for an
 * entry keeps its VCPU.
 *
 * A signal handler may fork on top of its own thread's section. Then that section goes on
 * in the child, and its entry stays as it is.
 *
 * Writers
 *   atomic_entry.lock  child_of_fork
 */
#include "atomic/section.h"

#include "os/call/fork.h"

struct wefti_atomic_entry wefti_atomic_table[1u << WEFTI_ATOMIC_ENTRY_BITS];
_Thread_local struct wefti_atomic_entry *volatile wefti_atomic_own;

/* Looks before it writes: the pages of the table stay shared with the parent. */
static void child_of_fork(void)
{
	for (size_t i = 0; i < 1u << WEFTI_ATOMIC_ENTRY_BITS; i++) {
		struct wefti_atomic_entry *e = &wefti_atomic_table[i];
		const uint64_t version = load_relaxed(&e->version);

		if (e == wefti_atomic_own)
			continue;
		if (version % 2)		/* WRITING -> STILL */
			store_seq_cst(&e->version, version + 1);
		if (load_relaxed(&e->lock))
			store_seq_cst(&e->lock, 0u);
	}
}

/* Without memory for it, a child may find an entry locked. */
__attribute__((constructor)) static void watch_forks(void)
{
	(void)wefti_os_at_fork(child_of_fork);
}
