/* SPDX-License-Identifier: MIT */
/* pthread/kthread/schedule.h - policy and priority: checked, kept and reported */
#ifndef WEFT_PTHREAD_KTHREAD_SCHEDULE_H
#define WEFT_PTHREAD_KTHREAD_SCHEDULE_H

#include <pthread.h>

#include "pthread/core/self.h"

/* The priority that is in force. */
static inline int8_t wefti_schedule_priority(const struct wefti_schedule *s)
{
	return s->raised > s->priority ? s->raised : s->priority;
}

/*
 * pthread/kthread/scheduled.c: a thread's schedule. Policy, priority and nice value are
 * those of one moment.
 */
struct wefti_schedule wefti_schedule_of(const struct wefti_pt *pt);

/*
 * The same, for a new thread: the result's fields go to their place one by one. A copy of
 * the whole would wait for each of those stores.
 */
void wefti_schedule_get(const struct wefti_pt *pt, struct wefti_schedule *to);

/* A thread that no other thread knows yet has *s. Counts no real-time priority. */
void wefti_schedule_put(struct wefti_pt *pt, const struct wefti_schedule *s);

/*
 * Sets the word of t (policy to raised) to that of *to, and counts the priority. Returns
 * 0, and reads *now again, if t no longer has the word of *now.
 */
int wefti_schedule_change(struct wefti_thread *t, struct wefti_schedule *now,
			  const struct wefti_schedule *to);

/*
 * The first thread has what the process has. Returns the ceiling to which libc has
 * raised its priority for a mutex, or 0.
 */
int wefti_schedule_begin(void);

/* The nice value of the calling kernel thread; 0 where the kernel tells nothing. */
int8_t wefti_schedule_nice(void);

/* What the kernel does for a new thread if its creator has the flag. */
void wefti_schedule_reset(struct wefti_schedule *s);

/*
 * pthread/kthread/schedule_fork.c: around a fork(). What the thread had set is in effect
 * in the child, because the child has no other thread.
 */
void wefti_schedule_before_fork(void);
void wefti_schedule_after_fork(void);	/* in the child */

/* As the kernel tells it. */
#define WEFTI_NODE_BITS		1024	/* Linux has no more memory nodes */

struct wefti_memory_policy {
	int mode;		/* with its flags */
	unsigned long nodes[WEFTI_NODE_BITS / (8 * sizeof(unsigned long))];
};

/*
 * A program that is started inherits the schedule of the kernel thread that starts it.
 * lend() gives the caller's kernel thread what the caller has set, as far as it can be
 * taken back, and notes what it had.
 */
struct wefti_schedule_lent {
	uint32_t what;		/* 0: nothing was lent */
	int policy, nice;
	struct sched_param param;
	cpu_set_t cpus;
	long io_priority, timer_slack_ns;
	struct wefti_memory_policy memory;
};

void wefti_schedule_lend(struct wefti_schedule_lent *had);
void wefti_schedule_take_back(const struct wefti_schedule_lent *had);

/*
 * Sets *to to what a new thread gets by attr (NULL: the default). Before, *to is what its
 * creator has. Returns 0 or an error.
 */
int wefti_schedule_read(const pthread_attr_t *attr, struct wefti_schedule *to);

/* Has the process CAP_SYS_NICE? */
int wefti_schedule_is_privileged(void);

/*
 * What the kernel would return to a thread that has *now and asks for *to: 0 or an error.
 */
int wefti_schedule_check(const struct wefti_schedule *now,
			 const struct wefti_schedule *to);

/*
 * The highest ceiling that the caller holds (pthread/sync/ceiling.c); 0: none. From now
 * on its priority is at least this. Returns 0, or an error: the priority is unchanged.
 */
int wefti_schedule_raise(int8_t ceiling);

/* Do nice values and slices mean something under this policy? */
int wefti_schedule_is_fair(int policy);

/* pthread/kthread/nice.c: may a thread lower its value to this without a privilege? */
int wefti_nice_is_within(int nice);

/* The priority of reads and writes: ioprio_set(), ioprio_get(). Returns 1: done. */
int wefti_io_priority_syscall(long number, const long *a, long *result);
void wefti_io_priority_after_fork(uint32_t kept);
long wefti_io_priority_lend(uint32_t kept);	/* returns what was set before */

/*
 * pthread/kthread/memory_policy.c: set_mempolicy(), get_mempolicy(). Returns 1: done.
 * give() sets the policy of the calling kernel thread. lend() does that too, and stores
 * what the kernel thread had before. It returns 0 if the kernel tells of no policies.
 */
int wefti_memory_policy_syscall(long number, const long *a, long *result);
void wefti_memory_policy_give(const struct wefti_memory_policy *from);
int wefti_memory_policy_lend(const struct wefti_memory_policy *kept,
			     struct wefti_memory_policy *had);

/* pthread/kthread/sched_attr.c: these system calls, for t. Return 0 or an error. */
int wefti_sched_setattr(struct wefti_thread *t, void *attr, unsigned flags);
int wefti_sched_getattr(struct wefti_thread *t, void *attr, unsigned bytes,
			unsigned flags);

/* pthread/kthread/affinity.c: what to keep for the given set. Returns 0 or an error. */
int wefti_affinity_read(size_t bytes, const cpu_set_t *given, const cpu_set_t **to);

/* As the system call does, returns the number of bytes written, or -errno. */
long wefti_affinity_get(const struct wefti_thread *t, size_t bytes,
			cpu_set_t *set);

#endif
