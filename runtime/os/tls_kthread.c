/* SPDX-License-Identifier: MIT */
/*
 * os/tls_kthread.c - what the kernel ties to a kernel thread and to a block
 *
 * The kernel writes to three places in a thread's block: the rseq area at each
 * migration, the robust list at the kernel thread's end, the thread id at its
 * end and in the child of a fork. They stay with the kernel thread when its
 * block goes elsewhere.
 */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/rseq.h>
#include <sys/syscall.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/fatal.h"
#include "os/kthread.h"
#include "os/tls.h"
#include "os/tls_layout.h"
#include "syscall.h"

#define RSEQ_FLAG_UNREGISTER	1
#define RSEQ_BYTES		32	/* glibc to 2.40; a fixed size before */
#define RSEQ_CPU_ID		4
#define FEATURE_SIZE		27	/* AT_RSEQ_FEATURE_SIZE */
#define ROBUST_HEAD_BYTES	24
#define SIGSETXID		33

#ifndef SYS_rseq
#error "the kernel headers are older than rseq"
#endif

static long rseq(uintptr_t tp, unsigned long bytes, int flags)
{
	return wefti_arch_syscall(SYS_rseq,
				  (long)(tp + (uintptr_t)
					 wefti_tls_layout.tls_rseq),
				  (long)bytes, flags, RSEQ_SIG, 0, 0);
}

/*
 * The size has to be that of the registration: 32, or what the kernel said
 * that it can use, rounded up, with a newer glibc. Any failure says that rseq
 * is not registered there, by a setting of glibc or in an emulator.
 */
static void move_rseq(uintptr_t from, uintptr_t to)
{
	unsigned long bytes = RSEQ_BYTES;
	ptrdiff_t offset = wefti_tls_layout.tls_rseq;

	if (!wefti_tls_layout.has_rseq || from == to)
		return;
	if (rseq(from, bytes, RSEQ_FLAG_UNREGISTER) != 0) {
		int saved = errno;	/* getauxval() says ENOENT by it */

		bytes = (getauxval(FEATURE_SIZE) + RSEQ_BYTES - 1) &
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
 * Whose block the kernel knows kernel thread 0 by; 0: its own, in which it was
 * made. Only that one ever moves, so one word is enough. An emulator may have
 * no robust list; nothing is lost then.
 */
static uintptr_t known_by;

void wefti_tls_move_kernel_thread(uintptr_t new_tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t here = wefti_arch_tp_get();

	move_rseq(known_by ? known_by : here, new_tp);
	wefti_arch_syscall(SYS_set_robust_list,
			   (long)wefti_tls_field(new_tp, l->pthread_robust),
			   ROBUST_HEAD_BYTES, 0, 0, 0, 0);
	wefti_arch_syscall(SYS_set_tid_address,
			   (long)wefti_tls_field(new_tp, l->pthread_tid),
			   0, 0, 0, 0, 0);
	known_by = new_tp == here ? 0 : new_tp;
}

void wefti_tls_after_fork(uintptr_t tp)
{
	wefti_tls_forget_blocks(tp);
	known_by = 0;
}

void wefti_tls_take_rseq(uintptr_t tp)
{
	move_rseq(tp, wefti_arch_tp_get());
}

/* The kernel's struct sigaction, in the one form that both CPUs have. */
struct kernel_action {
	void (*handler)(int signal, siginfo_t *info, void *context);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static struct kernel_action libc_setxid;

static uintptr_t tp_on_list(const struct wefti_glibc_list *head, int tid)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;

	for (const struct wefti_glibc_list *e = head->next; e != head;
	     e = e->next) {
		uintptr_t pthread = (uintptr_t)e - l->pthread_list;

		if (*(const int *)(pthread + l->pthread_tid) == tid)
			return wefti_arch_pthread_to_tp(pthread, &l->sizes);
	}
	return 0;
}

/*
 * Whoever called setuid() holds the lock of both lists and waits for us. The
 * block whose id the signal was sent to is the one it waits for, wherever that
 * block may be running by now (main's, for kernel thread 0). The stack guard
 * is the same in all, so that the compiler's checks hold across the switch.
 */
static void on_setxid(int signal, siginfo_t *info, void *context)
{
	uintptr_t here = wefti_arch_tp_get();
	int tid = wefti_os_gettid();
	uintptr_t own = tp_on_list(wefti_tls_layout.stacks_used, tid);

	if (!own)
		own = tp_on_list(&wefti_tls_layout.stacks->user, tid);
	if (own && own != here)
		wefti_arch_tp_set(own);
	libc_setxid.handler(signal, info, context);
	if (own && own != here)
		wefti_arch_tp_set(here);
}

static long kernel_sigaction(const struct kernel_action *new,
			     struct kernel_action *old)
{
	return wefti_arch_syscall(SYS_rt_sigaction, SIGSETXID, (long)new,
				  (long)old, sizeof(old->mask), 0, 0);
}

void wefti_tls_wrap_setxid(void)
{
	struct kernel_action now;
	long ret = kernel_sigaction(NULL, &now);

	if (ret == 0 && (uintptr_t)now.handler > 1 &&
	    now.handler != on_setxid) {
		libc_setxid = now;
		now.handler = on_setxid;
		ret = kernel_sigaction(&now, NULL);
	}
	if (ret != 0)
		wefti_os_fatal("rt_sigaction for setuid", ret);
}
