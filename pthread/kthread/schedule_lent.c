/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/schedule_lent.c - a started program has its thread's CPUs and policy
 *
 * The kernel gives a child, and a program that is executed, the schedule of the kernel
 * thread that makes the call. A carrier has the process's. So for the time of the call it
 * has what its thread has set. What cannot be taken back without a privilege is not lent:
 * a higher nice value, SCHED_IDLE, and what is less than a real-time priority that the
 * kernel thread has. The flag SCHED_RESET_ON_FORK cannot be taken back either. So what it
 * would reset is not lent.
 *
 * Rejected: to set it in the child. libc runs the child of posix_spawn() by itself.
 */
#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"

#define CPUS	1u
#define POLICY	2u
#define NICE	4u
#define IO	8u
#define SLACK	16u
#define MEMORY	32u

/* May the kernel thread have its policy again, once it has that of s? */
static int may_be_taken_back(const struct wefti_schedule_lent *had,
			     const struct wefti_schedule *s)
{
	struct wefti_schedule now = *s, to = *s;

	now.priority = (int8_t)wefti_schedule_priority(s);
	to.policy = had->policy;
	to.priority = (int8_t)had->param.sched_priority;
	return wefti_schedule_check(&now, &to) == 0;
}

static void lend_policy(struct wefti_schedule_lent *had, const struct wefti_schedule *s)
{
	const struct sched_param param = { .sched_priority = wefti_schedule_priority(s) };

	had->policy = REAL(sched_getscheduler)(0);
	if (had->policy < 0 || REAL(sched_getparam)(0, &had->param) != 0)
		return;
	if (had->policy == s->policy &&
	    had->param.sched_priority == param.sched_priority)
		return;
	if (!may_be_taken_back(had, s))
		return;
	if (REAL(sched_setscheduler)(0, s->policy, &param) == 0)
		had->what |= POLICY;
}

static void lend_nice(struct wefti_schedule_lent *had, int nice)
{
	had->nice = REAL(getpriority)(PRIO_PROCESS, 0);
	if (had->nice != nice && REAL(setpriority)(PRIO_PROCESS, 0, nice) == 0)
		had->what |= NICE;
}

static void lend_rest(struct wefti_schedule_lent *had, const struct wefti_schedule *s)
{
	if (s->cpus && REAL(sched_getaffinity)(0, sizeof(had->cpus), &had->cpus) == 0 &&
	    REAL(sched_setaffinity)(0, sizeof(*s->cpus), s->cpus) == 0)
		had->what |= CPUS;
	if (s->memory && wefti_memory_policy_lend(s->memory, &had->memory))
		had->what |= MEMORY;
	if (s->io_priority) {
		had->io_priority = wefti_io_priority_lend(s->io_priority);
		had->what |= IO;
	}
	if (wefti_pt.schedule.timer_slack_ns) {
		had->timer_slack_ns = REAL(prctl)(PR_GET_TIMERSLACK, 0, 0, 0, 0);
		(void)!REAL(prctl)(PR_SET_TIMERSLACK, wefti_pt.schedule.timer_slack_ns,
				   0, 0, 0);
		had->what |= SLACK;
	}
}

void wefti_schedule_lend(struct wefti_schedule_lent *had)
{
	const struct wefti_schedule s = wefti_schedule_of(&wefti_pt);
	const int resets = s.policy & SCHED_RESET_ON_FORK;
	const int may_raise = wefti_schedule_is_privileged();
	const int saved = errno;

	had->what = 0;
	if (!resets && (s.policy != SCHED_IDLE || may_raise))
		lend_policy(had, &s);
	if (!resets && may_raise)
		lend_nice(had, s.nice);
	lend_rest(had, &s);
	errno = saved;
}

void wefti_schedule_take_back(const struct wefti_schedule_lent *had)
{
	const int saved = errno;

	if (had->what & CPUS)
		(void)!REAL(sched_setaffinity)(0, sizeof(had->cpus), &had->cpus);
	if (had->what & POLICY)
		(void)!REAL(sched_setscheduler)(0, had->policy, &had->param);
	if (had->what & NICE)
		(void)!REAL(setpriority)(PRIO_PROCESS, 0, had->nice);
	if (had->what & IO)
		wefti_io_priority_after_fork((uint32_t)had->io_priority);
	if (had->what & MEMORY)
		wefti_memory_policy_give(&had->memory);
	if (had->what & SLACK)
		(void)!REAL(prctl)(PR_SET_TIMERSLACK, had->timer_slack_ns, 0, 0, 0);
	errno = saved;
}
