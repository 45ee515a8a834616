/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/schedule_fork.c - the child of a fork() has what its thread had set
 *
 * The kernel gives a child the schedule of the kernel thread that forks. A thread may have
 * set another one, which the child then sets for itself. The parent notes before the fork
 * what differs. Otherwise the child would have to ask the kernel, and could not tell what
 * it has by the fork from what its parent or another process has set since.
 */
#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/kthread/schedule.h"

#define POLICY	1u
#define NICE	2u

/* What a child of the calling kernel thread would have. */
static struct wefti_schedule given(void)
{
	struct sched_param param = { .sched_priority = 0 };
	struct wefti_schedule s = { .policy = REAL(sched_getscheduler)(0) };

	(void)!REAL(sched_getparam)(0, &param);
	s.priority = (int8_t)param.sched_priority;
	s.nice = wefti_schedule_nice();
	wefti_schedule_reset(&s);
	return s;
}

static struct wefti_schedule wanted(void)
{
	struct wefti_schedule s = wefti_schedule_of(&wefti_pt);

	wefti_schedule_reset(&s);
	return s;
}

void wefti_schedule_before_fork(void)
{
	struct wefti_schedule s, has;
	const int saved = errno;
	unsigned sets = 0;

	if (!wefti_pt_is_started() || wefti_pt_is_libcs())
		return;		/* the kernel alone knows what it has set */
	s = wanted();
	has = given();
	if (has.policy != s.policy || has.priority != wefti_schedule_priority(&s))
		sets |= POLICY;
	if (has.nice != s.nice)
		sets |= NICE;
	wefti_pt.schedule.fork_sets = (uint8_t)sets;
	errno = saved;
}

void wefti_schedule_after_fork(void)
{
	const unsigned sets = wefti_pt.schedule.fork_sets;
	const int saved = errno;
	struct wefti_schedule s;
	struct sched_param param;

	if (wefti_pt_is_libcs())
		return;
	s = wanted();
	param = (struct sched_param){ .sched_priority = wefti_schedule_priority(&s) };
	if (s.cpus)
		(void)!REAL(sched_setaffinity)(0, sizeof(*s.cpus), s.cpus);
	if (sets & POLICY)
		(void)!REAL(sched_setscheduler)(0, s.policy, &param);
	if (sets & NICE)
		(void)!REAL(setpriority)(PRIO_PROCESS, 0, s.nice);
	if (s.memory)
		wefti_memory_policy_give(s.memory);
	if (s.io_priority)
		wefti_io_priority_after_fork(s.io_priority);
	if (wefti_pt.schedule.timer_slack_ns)
		(void)!REAL(prctl)(PR_SET_TIMERSLACK,
				   wefti_pt.schedule.timer_slack_ns, 0, 0, 0);
	errno = saved;
}
