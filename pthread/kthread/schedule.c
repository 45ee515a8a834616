/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/schedule.c - policy and priority: checked, kept and reported
 *
 * A program that asks for a real-time policy gets the answer that the kernel would give,
 * and reads back what it has set. pthread/kthread/real_time.c has the effects of a
 * policy. pthread/wait/lot.c decides which thread is woken first. sched_setattr(), which
 * sets more, is in pthread/kthread/sched_attr.c. pthread/kthread/scheduled.c keeps what is
 * set. The first thread begins with the process's policy and priority.
 */
#include "pthread/core/second_names.h"
#include "pthread/kthread/schedule.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/kthread/real_time.h"
#include "syscall.h"

static int is_real_time(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

int wefti_schedule_is_privileged(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0, 0, 0 } };

	return wefti_arch_syscall(SYS_capget, (long)&head, (long)data, 0, 0, 0,
				  0) == 0 &&
	       (data[0].effective & (1u << CAP_SYS_NICE));
}

int wefti_schedule_is_fair(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_OTHER || policy == SCHED_BATCH;
}

static int is_idle(int policy)
{
	return (policy & ~SCHED_RESET_ON_FORK) == SCHED_IDLE;
}

/* The highest real-time priority allowed without a privilege; 0: none. */
static rlim_t most_priority(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_RTPRIO, &limit) == 0 ? limit.rlim_cur : 0;
}

/* SCHED_IDLE counts as the nicest policy. To clear the flag needs the privilege. */
static int needs_privilege(const struct wefti_schedule *now,
			   const struct wefti_schedule *to)
{
	const int policy = to->policy & ~SCHED_RESET_ON_FORK;
	const rlim_t most = is_real_time(policy) ? most_priority() : 0;

	if (is_real_time(policy) &&
	    ((policy != (now->policy & ~SCHED_RESET_ON_FORK) && !most) ||
	     (to->priority > now->priority && (rlim_t)to->priority > most)))
		return 1;
	if (wefti_schedule_is_fair(policy) && to->nice < now->nice &&
	    !wefti_nice_is_within(to->nice))
		return 1;
	if (is_idle(now->policy) && !is_idle(policy) &&
	    !wefti_nice_is_within(now->nice))
		return 1;
	return (now->policy & SCHED_RESET_ON_FORK) &&
	       !(to->policy & SCHED_RESET_ON_FORK);
}

int wefti_schedule_check(const struct wefti_schedule *now,
			 const struct wefti_schedule *to)
{
	const int policy = to->policy & ~SCHED_RESET_ON_FORK;

	if (!wefti_schedule_is_fair(policy) && !is_idle(policy) &&
	    !is_real_time(policy))
		return EINVAL;
	if (to->priority < sched_get_priority_min(policy) ||
	    to->priority > sched_get_priority_max(policy))
		return EINVAL;
	return needs_privilege(now, to) && !wefti_schedule_is_privileged() ?
	       EPERM : 0;
}

/* Puts these into *to. EINVAL: also a priority that *to cannot hold. */
static int ask(struct wefti_schedule *to, int policy, int priority)
{
	struct wefti_schedule now = *to;

	if (priority < 0 || priority > INT8_MAX)
		return EINVAL;
	now.priority = wefti_schedule_priority(&now);
	to->policy = policy;
	to->priority = (int8_t)priority;
	return wefti_schedule_check(&now, to);
}

/*
 * policy NULL: as it is. above_ceiling: the priority in force is at least the ceiling that
 * the thread holds. The thread's own priority is reported.
 */
static int set(struct wefti_thread *t, const int *policy, int priority,
	       int above_ceiling)
{
	struct wefti_schedule now = wefti_schedule_of(wefti_pt_of(t)), to;

	do {
		const int8_t least = above_ceiling ? now.ceiling : 0;
		int error;

		to = now;
		error = priority < 0 ? EINVAL :
			ask(&to, policy ? *policy : now.policy,
			    priority > least ? priority : least);
		if (error)
			return error;
		to.priority = (int8_t)priority;
		to.raised = least;
	} while (!wefti_schedule_change(t, &now, &to));
	return 0;
}

/* As in libc, the ceiling counts whether or not the policy can have priorities. */
int wefti_schedule_raise(int8_t ceiling)
{
	struct wefti_schedule now = wefti_schedule_of(&wefti_pt), to, in_force;
	int error;

	do {
		to = in_force = now;
		to.ceiling = ceiling;
		error = 0;
		if (now.priority >= ceiling && now.priority >= now.ceiling)
			continue;
		error = ask(&in_force, now.policy,
			    now.priority > ceiling ? now.priority : ceiling);
		if (!error)
			to.raised = ceiling;
	} while (!wefti_schedule_change(wefti_self(), &now, &to));
	return error;
}

/* libc does not report a priority that it has raised, but the thread's own. */
static int own_priority(int in_force)
{
	struct sched_param param;
	int policy;

	if (in_force == 0 || REAL(pthread_getschedparam)(pthread_self(), &policy,
							 &param) != 0)
		return in_force;
	return param.sched_priority;
}

int8_t wefti_schedule_nice(void)
{
	/* 20 minus the value; an error where the kernel tells nothing */
	const long told = wefti_arch_syscall(SYS_getpriority, PRIO_PROCESS, 0, 0, 0,
					     0, 0);

	return told > 0 ? (int8_t)(20 - told) : 0;
}

/* Uses system calls: libc's code for these is probably not in memory yet. */
int wefti_schedule_begin(void)
{
	struct sched_param param = { .sched_priority = 0 };
	struct wefti_schedule s;
	int8_t own, raised;
	int policy = (int)wefti_arch_syscall(SYS_sched_getscheduler, 0, 0, 0, 0,
					     0, 0);

	wefti_arch_syscall(SYS_sched_getparam, 0, (long)&param, 0, 0, 0, 0);
	own = (int8_t)own_priority(param.sched_priority);
	raised = own < param.sched_priority ? (int8_t)param.sched_priority : 0;
	s = (struct wefti_schedule){
		.policy = policy < 0 ? SCHED_OTHER : policy,
		.priority = own,
		.nice = wefti_schedule_nice(),
		.ceiling = raised,
		.raised = raised,
	};
	wefti_schedule_put(&wefti_pt, &s);
	wefti_real_time_count(wefti_self(), param.sched_priority);
	return raised;
}

void wefti_schedule_reset(struct wefti_schedule *s)
{
	if (!(s->policy & SCHED_RESET_ON_FORK))
		return;
	s->policy &= ~SCHED_RESET_ON_FORK;
	if (is_real_time(s->policy) || s->nice < 0)
		s->nice = 0;
	if (is_real_time(s->policy))
		s->policy = SCHED_OTHER;
	s->priority = 0;
	s->slice_ns = 0;
}

static int read_cpus(const pthread_attr_t *attr, struct wefti_schedule *to)
{
	/* What libc returns if none are set. */
	static const cpu_set_t all = { { [0 ... CPU_SETSIZE / 64 - 1] = ~0ul } };
	cpu_set_t set;

	if (pthread_attr_getaffinity_np(attr, sizeof(set), &set) != 0 ||
	    CPU_EQUAL(&set, &all))
		return 0;
	return wefti_affinity_read(sizeof(set), &set, &to->cpus);
}

int wefti_schedule_read(const pthread_attr_t *attr, struct wefti_schedule *to)
{
	struct sched_param param;
	int inherits, policy, error;

	wefti_schedule_reset(to);
	to->is_own = 0;
	to->ceiling = to->raised = 0;
	error = attr ? read_cpus(attr, to) : 0;
	if (error || !attr)
		return error;
	if (pthread_attr_getinheritsched(attr, &inherits) != 0 ||
	    inherits != PTHREAD_EXPLICIT_SCHED)
		return 0;
	pthread_attr_getschedpolicy(attr, &policy);
	pthread_attr_getschedparam(attr, &param);
	error = ask(to, policy, param.sched_priority);
	to->is_own = !error;
	return error;
}

EXPORT int pthread_getschedparam(pthread_t thread, int *policy,
				 struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_thread(thread);
	struct wefti_schedule s;

	/* libc's 1 says that the kernel knows no such id: the thread was joined. */
	if (!t)
		return REAL(pthread_getschedparam)(thread, policy, param) ? ESRCH : 0;
	if (wefti_pt_has_ended(t))
		return ESRCH;
	s = wefti_schedule_of(wefti_pt_of(t));
	*policy = s.policy;
	*param = (struct sched_param){ .sched_priority = s.priority };
	return 0;
}

EXPORT int pthread_setschedparam(pthread_t thread, int policy,
				 const struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (!t)
		return REAL(pthread_setschedparam)(thread, policy, param);
	return wefti_pt_has_ended(t) ? ESRCH :
				       set(t, &policy, param->sched_priority, 1);
}

EXPORT int pthread_setschedprio(pthread_t thread, int priority)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (!t)
		return REAL(pthread_setschedprio)(thread, priority);
	return wefti_pt_has_ended(t) ? ESRCH : set(t, NULL, priority, 1);
}

/* --- by the id that gettid() returns ------------------------------- */

EXPORT int sched_setscheduler(pid_t id, int policy,
			      const struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_find(id);

	if (!t)
		return REAL(sched_setscheduler)(id, policy, param);
	return wefti_answer(param ? set(t, &policy, param->sched_priority, 0) :
				    EINVAL);
}
SECOND_NAME(sched_setscheduler, __sched_setscheduler);

EXPORT int sched_getscheduler(pid_t id)
{
	struct wefti_thread *t = wefti_pt_find(id);

	return t ? wefti_schedule_of(wefti_pt_of(t)).policy : REAL(sched_getscheduler)(id);
}
SECOND_NAME(sched_getscheduler, __sched_getscheduler);

EXPORT int sched_setparam(pid_t id, const struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_find(id);

	if (!t)
		return REAL(sched_setparam)(id, param);
	return wefti_answer(param ? set(t, NULL, param->sched_priority, 0) : EINVAL);
}

EXPORT int sched_getparam(pid_t id, struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_find(id);
	struct wefti_schedule s;

	if (!t)
		return REAL(sched_getparam)(id, param);
	if (!param)
		return wefti_answer(EINVAL);
	s = wefti_schedule_of(wefti_pt_of(t));
	param->sched_priority = wefti_schedule_priority(&s);
	return 0;
}
SECOND_NAME(sched_getparam, __sched_getparam);

/* All green threads have the same slice, whatever their policy: the carrier's. */
EXPORT int sched_rr_get_interval(pid_t id, struct timespec *to)
{
	return REAL(sched_rr_get_interval)(wefti_pt_find(id) ? 0 : id, to);
}
