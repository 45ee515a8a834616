/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/thread_id.c - gettid(), and calls that are given what it says
 *
 * The kernel does not know that id. Where it would take any thread of a process for
 * the process, it is given the process's. What is of the thread itself is answered
 * here: a thread has no process group to change, and no descriptor of its own.
 */
#include "pthread/kthread/thread_id.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/call/tid.h"
#include "os/tls/tls_layout.h"
#include "os/call/newer.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "syscall.h"

/* Is it the id of a green thread other than the first? */
static int is_made(long id)
{
	return id >= WEFTI_KERNEL_IDS && wefti_thread_by_id((pid_t)id);
}

static long ask_kernel(long number, const long *a)
{
	return wefti_pt_result(wefti_arch_syscall(number, a[0], a[1], a[2], a[3], a[4],
						  a[5]));
}

/*
 * The carrier's id would change when the thread moves. The id by which libc knows the
 * thread is above all ids of the kernel.
 */
EXPORT pid_t gettid(void)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->kind == WEFTI_KIND_GREEN)
		return load_relaxed(&wefti_pt.tid);
	if (self && self->kind == WEFTI_KIND_MAIN)
		return getpid();
	return wefti_os_gettid();
}

/*
 * Returns -1 for a thread that has ended. Before glibc 2.42 libc has no such function,
 * and its descriptors say where it keeps the id.
 */
EXPORT pid_t pthread_gettid_np(pthread_t thread)
{
	const struct wefti_thread *t = wefti_pt_thread(thread);
	pid_t id;

	if (t && wefti_pt_has_ended(t))
		return -1;
	if (t)
		return t->kind == WEFTI_KIND_MAIN ? getpid() :
						    load_relaxed(&wefti_pt_of(t)->tid);
	if (REAL(pthread_gettid_np))
		return wefti_real.pthread_gettid_np(thread);
	if (!wefti_tls_layout.pthread_tid)
		return -1;
	id = *(volatile pid_t *)(thread + wefti_tls_layout.pthread_tid);
	return id > 0 ? id : -1;
}

/* --- signals --------------------------------------------------------- */

EXPORT int tgkill(pid_t process, pid_t id, int signal)
{
	struct wefti_thread *t = process == getpid() ? wefti_thread_by_id(id) : NULL;

	if (!t)
		return (int)wefti_pt_result(wefti_arch_syscall(SYS_tgkill, process, id,
							       signal, 0, 0, 0));
	return wefti_answer(pthread_kill(wefti_pt_handle(t), signal));
}

/* --- calls about the process ----------------------------------------- */

EXPORT pid_t getpgid(pid_t id)
{
	return (pid_t)wefti_pt_result(wefti_arch_syscall(
		SYS_getpgid, wefti_process_of(id), 0, 0, 0, 0, 0));
}
SECOND_NAME(getpgid, __getpgid);

EXPORT pid_t getsid(pid_t id)
{
	return (pid_t)wefti_pt_result(wefti_arch_syscall(
		SYS_getsid, wefti_process_of(id), 0, 0, 0, 0, 0));
}

EXPORT int prlimit(pid_t id, __rlimit_resource_t what, const struct rlimit *set,
		   struct rlimit *old)
{
	return REAL(prlimit)(wefti_process_of(id), what, set, old);
}

EXPORT int prlimit64(pid_t id, __rlimit_resource_t what, const struct rlimit64 *set,
		     struct rlimit64 *old)
{
	return REAL(prlimit64)(wefti_process_of(id), what, set, old);
}

EXPORT ssize_t process_vm_readv(pid_t id, const struct iovec *to, unsigned long n,
				const struct iovec *from, unsigned long m,
				unsigned long flags)
{
	return REAL(process_vm_readv)(wefti_process_of(id), to, n, from, m, flags);
}

EXPORT ssize_t process_vm_writev(pid_t id, const struct iovec *from, unsigned long n,
				 const struct iovec *to, unsigned long m,
				 unsigned long flags)
{
	return REAL(process_vm_writev)(wefti_process_of(id), from, n, to, m, flags);
}

/* The kernel writes the version that it knows into the head. */
EXPORT int capget(cap_user_header_t head, cap_user_data_t data)
{
	const pid_t id = head ? head->pid : 0;
	int result;

	if (!is_made(id))
		return REAL(capget)(head, data);
	head->pid = getpid();
	result = REAL(capget)(head, data);
	head->pid = id;
	return result;
}

/* The kernel returns EINVAL for a thread that is not its process's first. */
EXPORT int setpgid(pid_t id, pid_t group)
{
	return is_made(id) ? wefti_answer(EINVAL) : REAL(setpgid)(id, group);
}
SECOND_NAME(setpgid, __setpgid);

/* --- calls about the thread ------------------------------------------ */

/* The kernel's own error, for another thread that is not the first. */
static long open_pidfd(pid_t id, unsigned flags)
{
	if (!is_made(id))
		return wefti_arch_syscall(SYS_pidfd_open, id, (long)flags, 0, 0, 0, 0);
	if (flags)
		return -EINVAL;		/* PIDFD_THREAD: before Linux 6.9 */
	return wefti_arch_syscall(SYS_pidfd_open, wefti_signals_receiver(), 0, 0, 0, 0,
				  0);
}

EXPORT int pidfd_open(pid_t id, unsigned flags)
{
	return (int)wefti_pt_result(open_pidfd(id, flags));
}

static long tell_robust_list(const struct wefti_thread *t, const long *a)
{
	*(void **)a[1] = wefti_tls_field(t->tp, wefti_tls_layout.pthread_robust);
	*(size_t *)a[2] = 3 * sizeof(void *);
	return 0;
}

/* --- by syscall() ---------------------------------------------------- */

/* The index of the argument that may name any thread of a process; -1: none. */
static int naming(long number)
{
	switch (number) {
	case SYS_getpgid: case SYS_getsid: case SYS_prlimit64:
	case SYS_process_vm_readv: case SYS_process_vm_writev:
	case SYS_move_pages: case SYS_migrate_pages: case SYS_kcmp:
	case SYS_sched_rr_get_interval:
		return 0;
	default:
		return -1;
	}
}

static int of_process(long number, const long *a, long *result)
{
	long other[6];

	if (naming(number) < 0 || !(is_made(a[0]) ||
				    (number == SYS_kcmp && is_made(a[1]))))
		return 0;
	for (int i = 0; i < 6; i++)
		other[i] = a[i];
	other[0] = wefti_process_of((pid_t)a[0]);
	if (number == SYS_kcmp)
		other[1] = wefti_process_of((pid_t)a[1]);
	*result = ask_kernel(number, other);
	return 1;
}

int wefti_thread_id_syscall(long number, const long *a, long *result)
{
	struct wefti_thread *t;

	if (of_process(number, a, result))
		return 1;
	switch (number) {
	case SYS_capget:
		*result = capget((cap_user_header_t)a[0], (cap_user_data_t)a[1]);
		return 1;
	case SYS_pidfd_open:
		*result = pidfd_open((pid_t)a[0], (unsigned)a[1]);
		return 1;
	case SYS_setpgid:
		if (!is_made(a[0]))
			return 0;
		*result = setpgid((pid_t)a[0], (pid_t)a[1]);
		return 1;
	case SYS_get_robust_list:
		t = a[0] ? wefti_thread_by_id((pid_t)a[0]) : wefti_pt_green();
		if (!t)
			return 0;
		*result = tell_robust_list(t, a);
		return 1;
	default:
		return 0;
	}
}
