/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/sched_attr.c - policy, priority, nice value and slice in one call
 *
 * What sched_setattr() sets for a green thread is checked, kept and reported as in
 * pthread/kthread/schedule.c and pthread/kthread/nice.c. A slice has no effect. The
 * kernel itself checks the caller's memory, its size, and fields that weft does not
 * know. For that it is asked to set the attributes of a thread that does not exist. For
 * sched_getattr() it reports the carrier's attributes, and the thread's own are written
 * over them.
 *
 * SCHED_DEADLINE returns EPERM, which the kernel returns to a caller without the
 * privilege. Clamps of the use of a CPU return EOPNOTSUPP, as a kernel without them does.
 *
 * Writers
 *   scheduled.slice_ns  wefti_sched_setattr; scheduled.c: wefti_schedule_put
 */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"
#include "syscall.h"

#ifndef SCHED_FLAG_KEEP_POLICY
#define SCHED_FLAG_KEEP_POLICY		0x08
#define SCHED_FLAG_KEEP_PARAMS		0x10
#define SCHED_FLAG_UTIL_CLAMP_MIN	0x20
#define SCHED_FLAG_UTIL_CLAMP_MAX	0x40
#endif
#define CLAMPS	(SCHED_FLAG_UTIL_CLAMP_MIN | SCHED_FLAG_UTIL_CLAMP_MAX)
#define KNOWN	(SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_RECLAIM |	\
		 SCHED_FLAG_DL_OVERRUN | SCHED_FLAG_KEEP_POLICY |	\
		 SCHED_FLAG_KEEP_PARAMS | CLAMPS)

#define NOBODY		0x7fffffff	/* an id above the kernel's and ours */
#define LEAST_SLICE_NS	100000
#define MOST_SLICE_NS	100000000
#define LEAST_DEADLINE_NS	1024

/* The kernel's struct sched_attr, as far as it is used here. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

_Static_assert(sizeof(struct attr) == 48, "the first that the kernel had");

static int8_t between(int64_t least, int64_t n, int64_t most)
{
	return (int8_t)(n < least ? least : n > most ? most : n);
}

static uint32_t slice(uint64_t ns)
{
	if (!ns)
		return 0;
	return ns < LEAST_SLICE_NS ? LEAST_SLICE_NS :
	       ns > MOST_SLICE_NS ? MOST_SLICE_NS : (uint32_t)ns;
}

/* What the thread is to have. KEEP_PARAMS keeps the parameters of its policy. */
static struct wefti_schedule asked(const struct wefti_schedule *now,
				   const struct attr *attr)
{
	const int keeps = !!(attr->flags & SCHED_FLAG_KEEP_PARAMS);
	struct wefti_schedule to = *now;

	if (!(attr->flags & SCHED_FLAG_KEEP_POLICY))
		to.policy = (int)attr->policy |
			    (attr->flags & SCHED_FLAG_RESET_ON_FORK ?
			     SCHED_RESET_ON_FORK : 0);
	if (!keeps || !now->priority)
		to.priority = between(0, attr->priority, INT8_MAX);
	if (!keeps || now->priority)
		to.nice = between(-20, attr->nice, 19);
	if (!keeps)
		to.slice_ns = slice(attr->runtime_ns);
	return to;
}

static int deadline_error(const struct attr *attr)
{
	const uint64_t period_ns = attr->period_ns ? attr->period_ns :
						     attr->deadline_ns;

	return attr->runtime_ns < LEAST_DEADLINE_NS ||
	       attr->runtime_ns > attr->deadline_ns ||
	       attr->deadline_ns > period_ns ? EINVAL : EPERM;
}

static int check(const struct wefti_schedule *now,
		 const struct wefti_schedule *to, const struct attr *attr)
{
	int error;

	if (attr->flags & ~(uint64_t)KNOWN)
		return EINVAL;
	if (!(attr->flags & SCHED_FLAG_KEEP_POLICY)) {
		if (attr->policy & SCHED_RESET_ON_FORK)
			return EINVAL;
		if (attr->policy == SCHED_DEADLINE)
			return attr->priority ? EINVAL : deadline_error(attr);
	}
	error = wefti_schedule_check(now, to);
	return !error && (attr->flags & CLAMPS) ? EOPNOTSUPP : error;
}

/* As in the kernel: with KEEP_PARAMS not even the policy changes. */
static void keep(const struct wefti_schedule *now, struct wefti_schedule *to,
		 const struct attr *attr)
{
	const int policy = to->policy;

	if (attr->flags & SCHED_FLAG_KEEP_PARAMS) {
		*to = *now;
		to->policy = (now->policy & ~SCHED_RESET_ON_FORK) |
			     (policy & SCHED_RESET_ON_FORK);
		return;
	}
	to->raised = 0;
	if (!wefti_schedule_is_fair(policy)) {
		to->nice = now->nice;
		to->slice_ns = now->slice_ns;
	}
}

int wefti_sched_setattr(struct wefti_thread *t, void *from, unsigned flags)
{
	long r = wefti_arch_syscall(SYS_sched_setattr, NOBODY, (long)from,
				    (long)flags, 0, 0, 0);
	struct wefti_schedule now = wefti_schedule_of(wefti_pt_of(t)), to;
	struct attr attr;
	int error;

	if (r != -ESRCH)
		return r < 0 ? (int)-r : EINVAL;
	memcpy(&attr, from, sizeof(attr));
	do {
		to = asked(&now, &attr);
		error = check(&now, &to, &attr);
		if (error)
			return error;
		keep(&now, &to, &attr);
	} while (!wefti_schedule_change(t, &now, &to));
	store_relaxed(&wefti_pt_of(t)->schedule.slice_ns, to.slice_ns);
	return 0;
}

/* A kernel that reports no slices (before Linux 6.12) has none to set. */
int wefti_sched_getattr(struct wefti_thread *t, void *to, unsigned bytes,
			unsigned flags)
{
	const struct wefti_schedule s = wefti_schedule_of(wefti_pt_of(t));
	long r = wefti_arch_syscall(SYS_sched_getattr, 0, (long)to, (long)bytes,
				    (long)flags, 0, 0);
	struct attr attr;

	if (r < 0)
		return (int)-r;
	memcpy(&attr, to, sizeof(attr));
	attr.policy = (uint32_t)(s.policy & ~SCHED_RESET_ON_FORK);
	attr.flags = s.policy & SCHED_RESET_ON_FORK ?
		     SCHED_FLAG_RESET_ON_FORK : 0;
	attr.nice = s.priority ? 0 : s.nice;
	attr.priority = (uint32_t)wefti_schedule_priority(&s);
	if (s.priority)
		attr.runtime_ns = 0;
	else if (attr.runtime_ns && s.slice_ns)
		attr.runtime_ns = s.slice_ns;
	memcpy(to, &attr, sizeof(attr));
	return 0;
}

/* Where libc has these functions, they are the bare system calls. */
EXPORT int sched_setattr(pid_t id, struct sched_attr *attr, unsigned flags)
{
	struct wefti_thread *t = wefti_pt_find(id);

	return t ? wefti_answer(wefti_sched_setattr(t, attr, flags)) :
		   (int)wefti_pt_result(wefti_arch_syscall(
			SYS_sched_setattr, id, (long)attr, flags, 0, 0, 0));
}

EXPORT int sched_getattr(pid_t id, struct sched_attr *attr, unsigned bytes,
			 unsigned flags)
{
	struct wefti_thread *t = wefti_pt_find(id);

	return t ? wefti_answer(wefti_sched_getattr(t, attr, bytes, flags)) :
		   (int)wefti_pt_result(wefti_arch_syscall(
			SYS_sched_getattr, id, (long)attr, bytes, flags, 0, 0));
}
