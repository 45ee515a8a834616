/* SPDX-License-Identifier: MIT */
/* pthread/kthread/schedule.h - policy and priority: checked, kept and told */
#ifndef WEFT_PTHREAD_KTHREAD_SCHEDULE_H
#define WEFT_PTHREAD_KTHREAD_SCHEDULE_H

#include <pthread.h>

#include "pthread/core/self.h"

/*
 * The first thread has what the process has. Returns the ceiling to which libc has
 * raised its priority for a mutex, or 0.
 */
int wefti_schedule_begin(void);

/*
 * What a new thread shall have, by attr (NULL: the default), when *to is what its
 * maker has. An error.
 */
int wefti_schedule_read(const pthread_attr_t *attr, struct wefti_schedule *to);

/* Has the process CAP_SYS_NICE? */
int wefti_schedule_is_privileged(void);

/* What the kernel would answer to who has *now and asks for *to: an error. */
int wefti_schedule_check(const struct wefti_schedule *now,
			 const struct wefti_schedule *to);

/*
 * The highest ceiling that the caller holds (pthread/sync/ceiling.c); 0: none. Its
 * priority is no less from now on. An error: it stays as it was.
 */
int wefti_schedule_raise(int8_t ceiling);

/* Do nice values and slices mean something to it? */
int wefti_schedule_is_fair(int policy);

/* pthread/kthread/nice.c: may a thread come down to this value without a privilege? */
int wefti_nice_is_within(int nice);

/* Of what is asked to read and write by it: ioprio_set(), ioprio_get(). 1: done. */
int wefti_io_priority_syscall(long number, const long *a, long *result);

/* pthread/kthread/sched_attr.c: the system calls of that name, of t. An error. */
int wefti_sched_setattr(struct wefti_thread *t, void *attr, unsigned flags);
int wefti_sched_getattr(struct wefti_thread *t, void *attr, unsigned bytes,
			unsigned flags);

/* pthread/kthread/affinity.c. An error. */
int wefti_affinity_set(struct wefti_schedule *to, size_t bytes,
		       const cpu_set_t *given);

/* As the system call: the bytes that were written, or -errno. */
long wefti_affinity_get(const struct wefti_thread *t, size_t bytes,
			cpu_set_t *set);

#endif
