/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_kthread.c - what the kernel ties to a kernel thread and to a block
 *
 * The kernel writes to three places in a thread's block. It writes to the rseq area at
 * each migration, to the robust list at the kernel thread's end, and to the thread id at
 * that end and in the child of a fork. If the block goes to another kernel thread, these
 * places stay with the old one. The word for the thread id is then in the entry of
 * os/tls/tls_setxid.c, so that libc sees a kernel thread 0 that has ended.
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "cpu.h"
#include "os/call/newer.h"
#include "os/call/tid.h"
#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "os/tls/tls_setxid.h"
#include "syscall.h"

#define RSEQ_FLAG_UNREGISTER	1
#define RSEQ_BYTES		32	/* glibc to 2.40; a fixed size before */
#define ROBUST_HEAD_BYTES	24

static long rseq(uintptr_t tp, unsigned long bytes, int flags)
{
	return wefti_arch_syscall(SYS_rseq,
				  (long)(tp + (uintptr_t)
					 wefti_tls_layout.tls_rseq),
				  (long)bytes, flags, WEFTI_ARCH_RSEQ_SIG, 0, 0);
}

/*
 * The size has to be that of the registration: 32, or, with a newer glibc, the size that
 * the kernel can use, rounded up. Any failure means that rseq is not registered there, by
 * a setting of glibc or in an emulator.
 */
static void move_rseq(uintptr_t from, uintptr_t to)
{
	unsigned long bytes = RSEQ_BYTES;
	ptrdiff_t offset = wefti_tls_layout.tls_rseq;

	if (!wefti_tls_layout.has_rseq || from == to)
		return;
	if (rseq(from, bytes, RSEQ_FLAG_UNREGISTER) != 0) {
		int saved = errno;	/* getauxval() may set it to ENOENT */

		bytes = (getauxval(AT_RSEQ_FEATURE_SIZE) + RSEQ_BYTES - 1) &
			~(RSEQ_BYTES - 1ul);
		errno = saved;
		if (bytes <= RSEQ_BYTES ||
		    rseq(from, bytes, RSEQ_FLAG_UNREGISTER) != 0)
			return;
	}
	/* sched_getcpu() then asks the kernel. */
	*(volatile int32_t *)(from + (uintptr_t)offset + RSEQ_CPU_ID) = -1;
	rseq(to, bytes, 0);
}

/*
 * The block in which the kernel has kernel thread 0's places; 0: its own, from the start.
 * Only kernel thread 0 ever moves, so one word is enough. An emulator may have no robust
 * list; then nothing is lost.
 */
static uintptr_t known_by;

/* In the child of a fork that a green thread made: the block that it runs on. */
static uintptr_t built_home;

static void set_tid_address(const int *word)
{
	wefti_arch_syscall(SYS_set_tid_address, (long)word, 0, 0, 0, 0, 0);
}

void wefti_tls_move_kernel_thread(uintptr_t new_tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t here = wefti_arch_tp_get();

	move_rseq(known_by ? known_by : here, new_tp);
	wefti_arch_syscall(SYS_set_robust_list,
			   (long)wefti_tls_field(new_tp, l->pthread_robust),
			   ROBUST_HEAD_BYTES, 0, 0, 0, 0);
	known_by = new_tp == here ? 0 : new_tp;
	if (known_by || here == built_home) {
		set_tid_address(wefti_tls_setxid_include());
	} else {
		set_tid_address(wefti_tls_field(new_tp, l->pthread_joinstate ?
						l->pthread_joinstate :
						l->pthread_tid));
		wefti_tls_setxid_exclude();
	}
}

void wefti_tls_unseen_child(int parent)
{
	wefti_tls_setxid_inherit(parent);
	*(int *)wefti_tls_field(wefti_arch_tp_get(), wefti_tls_layout.pthread_tid) =
		wefti_os_gettid();
}

void wefti_tls_after_fork(uintptr_t tp, int is_seen)
{
	wefti_tls_forget_blocks(tp, is_seen);
	known_by = 0;
	built_home = tp;
	if (tp)
		set_tid_address(wefti_tls_setxid_include());
}

void wefti_tls_take_rseq(uintptr_t tp)
{
	move_rseq(tp, wefti_arch_tp_get());
}
