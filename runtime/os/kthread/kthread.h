/* SPDX-License-Identifier: MIT */
/* os/kthread/kthread.h - kernel threads: make, join, signal, watch */
#ifndef WEFT_OS_KTHREAD_KTHREAD_H
#define WEFT_OS_KTHREAD_KTHREAD_H

#include <stddef.h>
#include <stdint.h>

/* The creator owns it, and keeps it in place from create to the end of join. */
struct wefti_os_kthread {
	uintptr_t pthread;
	void (*run)(void *arg);
	void *arg;
	char name[16];		/* the kernel's limit, with its zero */
};

/*
 * Runs run(arg) on a new kernel thread. Signals are blocked in it from its
 * first instruction, but for those that os/signal/signal.h calls essential.
 * stack_bytes is a lower bound. Only to be called on a kernel thread's own
 * TLS, not on that of a green thread: libc copies from it.
 * Returns 0, -EAGAIN or -ENOMEM.
 */
int wefti_os_kthread_create(struct wefti_os_kthread *k, size_t stack_bytes,
			    void (*run)(void *arg), void *arg,
			    const char *name);
void wefti_os_kthread_join(struct wefti_os_kthread *k);

/* The calling kernel thread's name, as ps and perf show it. A longer one is cut. */
#define WEFTI_OS_KTHREAD_NAME	16	/* bytes, with the NUL */
void wefti_os_kthread_name(char name[WEFTI_OS_KTHREAD_NAME]);
void wefti_os_kthread_rename(const char *name);

/* It will not be joined. k has to stay in place until it has begun to run. */
void wefti_os_kthread_detach(struct wefti_os_kthread *k);

void wefti_os_yield(void);

/*
 * Sleeps for a moment. A caller that waits for another kernel thread naps, where it has
 * nothing to sleep on: sched_yield(2) gives the CPU only to kernel threads of the same
 * real-time priority, and on this CPU.
 */
void wefti_os_nap(void);

/* The CPU time that it has used; -1 if it has ended. Costs about 300 ns. */
int64_t wefti_os_kthread_cpu_ns(int tid);

/*
 * Its state, 'R', 'S', 'D' ...; 0 when it cannot be known. Costs about 8 us.
 * No descriptor is kept: a program may close descriptors that it does not know,
 * and the number would then name a file of its own.
 */
char wefti_os_kthread_state(int tid);

/*
 * Does it wait in the kernel? If that cannot be known: 1, because one spare kernel thread
 * too many is the smaller evil.
 */
int wefti_os_kthread_is_asleep(int tid);

/* Has it made processes that still live? Also 0 if the kernel does not say. */
int wefti_os_kthread_has_children(int tid);

/*
 * Does it wait in the kernel for the lock of the process's mappings? 0 if that cannot be
 * known. Costs as much as wefti_os_kthread_state().
 */
int wefti_os_kthread_wants_lock(int tid);

/*
 * A full fence on every CPU that runs a kernel thread of this process.
 * init: once a process (again in the child of a fork). Returns 0, or -ENOSYS:
 * then the other side has to use fences.
 */
int wefti_os_membarrier_init(void);
int wefti_os_membarrier(void);	/* 0, or -ENOSYS: refused by now */

#endif
