/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/nice.c - nice values: each thread's own, without effect
 *
 * Linux has a nice value for each kernel thread, and a priority for its reads and writes.
 * A green thread's values are kept and reported, and have no effect: a change to the
 * carrier's would slow down the threads that it carries next. The nice values of a group
 * or a user are the kernel's.
 *
 * Writers
 *   scheduled.io_priority  set_io; scheduled.c: wefti_schedule_put
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"
#include "syscall.h"

#define LEAST	(-20)
#define MOST	19

#define IO_OF_PROCESS	1		/* IOPRIO_WHO_PROCESS */
#define IO_CLASS_SHIFT	13		/* below it is the level; class 0 is none */
#define NOBODY		0x7fffffff	/* an id above the kernel's and ours */

static struct wefti_thread *named(__priority_which_t which, id_t who)
{
	return which == PRIO_PROCESS ? wefti_pt_find((pid_t)who) : NULL;
}

int wefti_nice_is_within(int nice)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NICE, &limit) == 0 &&
	       (rlim_t)(MOST + 1 - nice) <= limit.rlim_cur;
}

/* A lower nice value needs a privilege, except down to the limit. */
static int may_be(int nice)
{
	return wefti_nice_is_within(nice) || wefti_schedule_is_privileged();
}

static int set(struct wefti_thread *t, int nice)
{
	struct wefti_schedule now = wefti_schedule_of(wefti_pt_of(t)), to;

	nice = nice < LEAST ? LEAST : nice > MOST ? MOST : nice;
	do {
		if (nice < now.nice && !may_be(nice))
			return EACCES;
		to = now;
		to.nice = (int8_t)nice;
	} while (!wefti_schedule_change(t, &now, &to));
	return 0;
}

EXPORT int getpriority(__priority_which_t which, id_t who)
{
	struct wefti_thread *t = named(which, who);

	return t ? wefti_schedule_of(wefti_pt_of(t)).nice : REAL(getpriority)(which, who);
}

EXPORT int setpriority(__priority_which_t which, id_t who, int nice)
{
	struct wefti_thread *t = named(which, who);

	return t ? wefti_answer(set(t, nice)) :
		   REAL(setpriority)(which, who, nice);
}

EXPORT int nice(int more)
{
	struct wefti_thread *t = wefti_pt_find(0);
	int error;

	if (!t)
		return REAL(nice)(more);
	/* Cuts values far out of range, before the sum can overflow. */
	more = more < -100 ? -100 : more > 100 ? 100 : more;
	error = set(t, wefti_schedule_of(wefti_pt_of(t)).nice + more);
	if (error)
		return wefti_answer(error == EACCES ? EPERM : error);
	return wefti_schedule_of(wefti_pt_of(t)).nice;
}

/* --- priorities of reads and writes ---------------------------------- */

/* The kernel checks first whether the caller may set it, then that the id exists. */
static int set_io(struct wefti_thread *t, long priority)
{
	const long error = wefti_arch_syscall(SYS_ioprio_set, IO_OF_PROCESS, NOBODY,
					      priority, 0, 0, 0);

	if (error != -ESRCH)
		return error < 0 ? (int)-error : EINVAL;
	store_relaxed(&wefti_pt_of(t)->schedule.io_priority,
		      WEFTI_IO_PRIORITY | (uint16_t)priority);
	return 0;
}

int wefti_io_priority_syscall(long number, const long *a, long *result)
{
	struct wefti_thread *t = a[0] == IO_OF_PROCESS ? wefti_pt_find((pid_t)a[1]) :
							 NULL;
	uint32_t kept;

	if (!t)
		return 0;
	kept = load_relaxed(&wefti_pt_of(t)->schedule.io_priority);
	if (number == SYS_ioprio_set)
		*result = wefti_answer(set_io(t, a[2]));
	else if (kept)
		*result = (uint16_t)kept;
	else
		*result = wefti_pt_result(wefti_arch_syscall(SYS_ioprio_get,
							     IO_OF_PROCESS, 0, 0, 0, 0,
							     0));
	return 1;
}

void wefti_io_priority_after_fork(uint32_t kept)
{
	wefti_arch_syscall(SYS_ioprio_set, IO_OF_PROCESS, 0, (uint16_t)kept, 0, 0, 0);
}

/* Kernels before 5.15 tell a level of a thread without a class, and refuse it in a set. */
long wefti_io_priority_lend(uint32_t kept)
{
	const long had = wefti_arch_syscall(SYS_ioprio_get, IO_OF_PROCESS, 0, 0, 0, 0, 0);

	wefti_io_priority_after_fork(kept);
	return had >> IO_CLASS_SHIFT ? had : 0;
}
