/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls.h - a complete libc thread control block and static TLS for a thread
 *
 * With its own block, a green thread has its own errno, `__thread` variables, locale,
 * malloc cache and stdio lock ownership, and compilers may cache the addresses of such
 * objects across a switch. For glibc 2.34 and later.
 */
#ifndef WEFT_OS_TLS_TLS_H
#define WEFT_OS_TLS_TLS_H

#include <stddef.h>
#include <stdint.h>

struct wefti_tls {
	uintptr_t tp;		/* the value of the thread pointer */
	void *low;		/* lowest address used: below it, the stack */
};

/*
 * Learns libc's layout and proves it on a block of its own. Once a process;
 * again returns the first result. Starts and ends a kernel thread.
 * Returns 0, or -ENOTSUP: threads then share their carrier's TLS.
 */
int wefti_tls_init(void);

/*
 * Looks whether wefti_tls_init() will surely refuse, without a kernel thread: a tool, a
 * malloc or a libc with which it does is there already. Returns the reason; NULL: no.
 */
const char *wefti_tls_refusal(void);

/* The reason why wefti_tls_init() returned -ENOTSUP, in words; "" if it did not. */
const char *wefti_tls_reason(void);

/* How much memory a block needs below `top`, alignment included. */
size_t wefti_tls_bytes(void);

/*
 * Makes a block that ends at `top`, in the stack memory that starts at
 * stack_low, and tells libc of it. Zeroes its part of the memory, which may be
 * dirty. Returns 0, or -ENOMEM: libc had none for the table of dynamic TLS.
 */
int wefti_tls_build(void *stack_low, void *top, struct wefti_tls *out);

/*
 * Removes from a block's table of dynamic TLS the room for libraries that may be loaded
 * later. Not to be used on the block of a VCPU's loop: if its table grew, malloc() would
 * be called there, and a thread that waits for that VCPU may hold malloc's lock.
 */
void wefti_tls_trim(uintptr_t tp);

/*
 * Makes the block of a thread that has ended as good as new for the next one.
 * Its malloc cache stays. No thread may be running on it.
 */
void wefti_tls_reset(uintptr_t tp);

/* Removes the block from libc's lists. Its memory is the caller's again. */
void wefti_tls_destroy(uintptr_t tp);

/* Called by the thread itself, first on its block (also on a reset one), and last. */
void wefti_tls_thread_begin(void);
void wefti_tls_thread_exit(void);	/* runs thread_local destructors */

/*
 * Moves to the block new_tp, from wherever it is, what the kernel knows by address for
 * the calling kernel thread: rseq, the robust list, and the word that it clears at the
 * thread's exit. The thread pointer does not change. When main becomes a thread, its own
 * block can then run on other kernel threads. The same call with main's tp undoes this.
 * Main makes both calls, on its own block and on the kernel thread that had the block
 * from the start. There is one such pair.
 */
void wefti_tls_move_kernel_thread(uintptr_t new_tp);

/*
 * setuid() and similar calls make every kernel thread on libc's list run a handler on its
 * own block. A kernel thread that runs a green thread would answer with the wrong block,
 * and the caller would wait for ever. This puts our handler in front of libc's. To be
 * called after the first kernel thread was made, and in each child of a fork.
 */
void wefti_tls_wrap_setxid(void);

/*
 * The sanitizer in the program. NONE, too, if it is the one that this library is built
 * for.
 */
enum wefti_tls_sanitizer {
	WEFTI_SANITIZER_NONE,
	WEFTI_SANITIZER_THREAD,
	WEFTI_SANITIZER_ADDRESS,
	WEFTI_SANITIZER_MEMORY,
};

enum wefti_tls_sanitizer wefti_tls_sanitizer(void);

/*
 * Called first in the child of a fork: forgets all blocks. They may still be destroyed,
 * but libc's list of them is new. Only the block on which the child runs is in it. If
 * that block was built here, tp is its address, and the block gets back the thread id
 * that the kernel has overwritten. Else tp is 0. is_seen 0: libc knows nothing of the
 * child, as of one that _Fork() made, and its list is the parent's with all blocks.
 */
void wefti_tls_after_fork(uintptr_t tp, int is_seen);

/*
 * Called before that in a child of the process `parent`, if libc knows nothing of the
 * child. The system call that made it may have left the running block as it was: the
 * block gets the child's thread id.
 */
void wefti_tls_unseen_child(int parent);

/*
 * Called then, for the block of each kernel thread of the parent: if the kernel has this
 * kernel thread's rseq area in that block, it is moved to the running block.
 */
void wefti_tls_take_rseq(uintptr_t tp);

/*
 * The thread id by which libc knows a built block. It is unique among 2^28 - 2 blocks
 * built one after the other, and above all ids of the kernel, which end at 2^22. A futex
 * has 30 bits for it. The id of a clock has 28 bits for the difference to the first.
 */
#define WEFTI_TLS_FIRST_TID	0x20000000u
#define WEFTI_TLS_TIDS		0x0ffffffeu

int wefti_tls_tid(uintptr_t tp);

/*
 * Processes that share memory should have different ids, because libc's rwlocks identify
 * their writer by the id. So each process begins at another number, by its process id.
 * With more threads than this, or with process ids this far apart, the ids may be the
 * same.
 */
#define WEFTI_TLS_PROCESSS_IDS	(1u << 20)

static inline uint32_t wefti_tls_first_of(int pid)
{
	return (uint32_t)pid % (WEFTI_TLS_TIDS / WEFTI_TLS_PROCESSS_IDS) *
	       WEFTI_TLS_PROCESSS_IDS;
}

#endif
