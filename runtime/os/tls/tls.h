/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls.h - a complete libc thread control block and static TLS for a thread
 *
 * With one of its own, a green thread has its own errno, `__thread` variables,
 * locale, malloc cache and stdio lock ownership, and compilers may cache the
 * addresses of such things across a switch. glibc 2.34 to 2.41.
 */
#ifndef WEFT_OS_TLS_TLS_H
#define WEFT_OS_TLS_TLS_H

#include <stddef.h>
#include <stdint.h>

struct wefti_tls {
	uintptr_t tp;		/* the value of the thread register */
	void *low;		/* lowest address used: below it, the stack */
};

/*
 * Learns libc's layout and proves it on a block of its own. Once a process;
 * again returns the first result. Starts and ends a kernel thread.
 * Returns 0, or -ENOTSUP: threads then share their carrier's TLS.
 */
int wefti_tls_init(void);

/* Why wefti_tls_init() said -ENOTSUP, in words; "" when it did not. */
const char *wefti_tls_reason(void);

/* What a block takes of the memory below `top`, alignment included. */
size_t wefti_tls_bytes(void);

/*
 * Makes a block that ends at `top`, in the stack memory that starts at
 * stack_low, and tells libc of it. Zeroes its part of the memory, which may be
 * dirty. Returns 0, or -ENOMEM: libc had none for the table of dynamic TLS.
 */
int wefti_tls_build(void *stack_low, void *top, struct wefti_tls *out);

/*
 * Takes from a block's table of dynamic TLS the room for libraries that may come. Not
 * of a block that a VCPU's loop runs on: that a table grows there means a malloc()
 * whose lock a thread may have that waits for that VCPU.
 */
void wefti_tls_trim(uintptr_t tp);

/*
 * Makes the block of a thread that has ended as good as new for the next one.
 * Its malloc cache stays. No thread may be running on it.
 */
void wefti_tls_reset(uintptr_t tp);

/* Takes the block from libc; its memory is the caller's again. */
void wefti_tls_destroy(uintptr_t tp);

/* By the thread itself, first on its block (also on a reset one), and last. */
void wefti_tls_thread_begin(void);
void wefti_tls_thread_exit(void);	/* runs thread_local destructors */

/*
 * What the kernel knows of the calling kernel thread by address (rseq, the
 * robust list, the word that it clears at the thread's exit) moves to the
 * block new_tp, from wherever it is. The thread register stays. When main
 * becomes a thread, its own block can then run on other kernel threads; the
 * same call with main's tp undoes it. Both by main, on its own block and on
 * the kernel thread that has it from the start; there is one such pair.
 */
void wefti_tls_move_kernel_thread(uintptr_t new_tp);

/*
 * setuid() and its kin make every kernel thread of libc's list run a handler
 * on its own block; one that runs a green thread would answer with the wrong
 * block and the caller would wait for ever. This puts ours in front of that
 * handler. After the first kernel thread was made, and in each child of fork.
 */
void wefti_tls_wrap_setxid(void);

/*
 * In the child of a fork, first: forgets all blocks. They may be destroyed, but
 * libc's list of them has begun anew. Only the one that it runs on is in it: if
 * that was built here, it says so by its tp, and the block gets the thread id
 * back that the kernel has overwritten; else tp is 0.
 */
void wefti_tls_after_fork(uintptr_t tp);

/*
 * Then, for the block of each kernel thread that the parent had: if the kernel
 * knows the rseq area of this one by it, then from now on by the running block.
 */
void wefti_tls_take_rseq(uintptr_t tp);

/*
 * The thread id by which libc knows a built block: unique among 2^28 - 2 built
 * one after the other, above all ids of the kernel, which end at 2^22. Futexes
 * have 30 bits for it, the id of a clock 28 for what is above the first.
 */
#define WEFTI_TLS_FIRST_TID	0x20000000u
#define WEFTI_TLS_TIDS		0x0ffffffeu

int wefti_tls_tid(uintptr_t tp);

/*
 * Those of processes that share memory are to differ, by the kernel's numbers of
 * these: libc's rwlocks know their writer by the id. So each process begins
 * elsewhere; with more threads than that, or processes that many apart, they
 * may meet.
 */
#define WEFTI_TLS_PROCESSS_IDS	(1u << 20)

static inline uint32_t wefti_tls_first_of(int pid)
{
	return (uint32_t)pid % (WEFTI_TLS_TIDS / WEFTI_TLS_PROCESSS_IDS) *
	       WEFTI_TLS_PROCESSS_IDS;
}

#endif
