/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/memory_policy.c - the memory policy of a thread: checked, kept and told
 *
 * The memory nodes from which the kernel takes a thread's pages are an advice of the
 * kernel thread that touches a page first. Green threads have the policy of the process,
 * whatever they set. libnuma sets one in each thread of a pool, and complains if it
 * cannot. A thread has a pointer to its policy (pthread/kthread/kept.c).
 *
 * The kernel knows which policies are valid, and how it tells one. It tells that only to
 * a kernel thread that has the policy: this one has it for a moment.
 *
 * Rejected: to set the policy at each switch, which would then be a system call.
 *
 * Writers
 *   scheduled.memory  set; scheduled.c: wefti_schedule_put
 *   all  set; kept.c: wefti_keep
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "lockfree/atomic.h"
#include "pthread/core/answer.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/kthread/kept.h"
#include "pthread/kthread/schedule.h"
#include "syscall.h"

static _Atomic(struct wefti_kept *) all;

/* That of the calling kernel thread, with its padding 0. Returns 0 or -errno. */
static long read_kernels(struct wefti_memory_policy *to)
{
	memset(to, 0, sizeof(*to));
	return wefti_arch_syscall(SYS_get_mempolicy, (long)&to->mode, (long)to->nodes,
				  WEFTI_NODE_BITS + 1, 0, 0, 0);
}

void wefti_memory_policy_give(const struct wefti_memory_policy *from)
{
	(void)wefti_arch_syscall(SYS_set_mempolicy, from->mode, (long)from->nodes,
				 WEFTI_NODE_BITS + 1, 0, 0, 0);
}

/* Returns 0 or -errno. *want becomes what the kernel tells of the policy. */
static long ask_kernel(const long *a, struct wefti_memory_policy *want)
{
	const struct wefti_hold h = wefti_hold_begin();
	struct wefti_memory_policy have;
	long error = read_kernels(&have);

	if (!error)
		error = wefti_arch_syscall(SYS_set_mempolicy, a[0], a[1], a[2], 0, 0, 0);
	if (!error) {
		error = read_kernels(want);
		wefti_memory_policy_give(&have);
	}
	wefti_hold_end(h);
	return error;
}

static long set(const long *a)
{
	const struct wefti_memory_policy *kept;
	struct wefti_memory_policy want;
	const long error = ask_kernel(a, &want);

	if (error)
		return error;
	kept = wefti_keep(&all, &want, sizeof(want));
	if (!kept)
		return -ENOMEM;
	store_relaxed(&wefti_pt.schedule.memory, kept);
	return 0;
}

/* The kernel writes the answer: it knows which pointers are valid. */
static long get(const struct wefti_memory_policy *policy, const long *a)
{
	const struct wefti_hold h = wefti_hold_begin();
	struct wefti_memory_policy have;
	long error = read_kernels(&have);

	if (!error) {
		wefti_memory_policy_give(policy);
		error = wefti_arch_syscall(SYS_get_mempolicy, a[0], a[1], a[2], a[3],
					   a[4], 0);
		wefti_memory_policy_give(&have);
	}
	wefti_hold_end(h);
	return error;
}

int wefti_memory_policy_syscall(long number, const long *a, long *result)
{
	const struct wefti_memory_policy *policy =
		load_relaxed(&wefti_pt.schedule.memory);
	long error;

	if (number == SYS_set_mempolicy)
		error = set(a);
	else if (number == SYS_get_mempolicy && policy && a[4] == 0)
		error = get(policy, a);
	else
		return 0;	/* questions about addresses and nodes are the process's */
	*result = wefti_answer((int)-error);
	return 1;
}

int wefti_memory_policy_lend(const struct wefti_memory_policy *kept,
			     struct wefti_memory_policy *had)
{
	if (read_kernels(had) != 0)
		return 0;
	wefti_memory_policy_give(kept);
	return 1;
}
