/* SPDX-License-Identifier: MIT */
/*
 * pthread/schedule.c - policy and priority: checked, kept and told
 *
 * A program that asks for a real-time policy gets the answer that the kernel
 * would give, and reads back what it has set. What it does is in
 * pthread/real_time.c, and who is woken first in pthread/lot.c. The first thread
 * begins with what the process has.
 */
#include "pthread/schedule.h"
#include "pthread/second_names.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pthread/real.h"
#include "pthread/real_time.h"
#include "pthread/tied.h"
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

/* What the kernel would answer. */
static int check(int policy, int priority)
{
	struct rlimit limit;

	policy &= ~SCHED_RESET_ON_FORK;
	if (policy != SCHED_OTHER && policy != SCHED_BATCH &&
	    policy != SCHED_IDLE && !is_real_time(policy))
		return EINVAL;
	if (priority < sched_get_priority_min(policy) ||
	    priority > sched_get_priority_max(policy))
		return EINVAL;
	if (!is_real_time(policy) || wefti_schedule_is_privileged())
		return 0;
	if (getrlimit(RLIMIT_RTPRIO, &limit) == 0 &&
	    (rlim_t)priority <= limit.rlim_cur)
		return 0;
	return EPERM;
}

static int set(struct wefti_thread *t, int policy, int priority)
{
	int error = check(policy, priority);

	if (!error && !(policy & SCHED_RESET_ON_FORK) &&
	    (wefti_pt_of(t)->schedule.policy & SCHED_RESET_ON_FORK) &&
	    !wefti_schedule_is_privileged())
		error = EPERM;	/* it is kept for good */
	if (error)
		return error;
	wefti_pt_of(t)->schedule.policy = policy;
	wefti_pt_of(t)->schedule.priority = (int8_t)priority;
	wefti_real_time_count(t, priority);
	return 0;
}

/* By system calls: libc's text of these is hardly in memory yet. */
void wefti_schedule_begin(void)
{
	struct sched_param param = { .sched_priority = 0 };
	int policy = (int)wefti_arch_syscall(SYS_sched_getscheduler, 0, 0, 0, 0,
					     0, 0);

	wefti_arch_syscall(SYS_sched_getparam, 0, (long)&param, 0, 0, 0, 0);
	wefti_pt.schedule = (struct wefti_schedule){
		.policy = policy < 0 ? SCHED_OTHER : policy,
		.priority = (int8_t)param.sched_priority,
		.nice = (int8_t)REAL(getpriority)(PRIO_PROCESS, 0),
	};
	wefti_real_time_count(wefti_self(), param.sched_priority);
}

/* As the kernel does for a new thread of one that has the flag. */
static void reset(struct wefti_schedule *s)
{
	if (!(s->policy & SCHED_RESET_ON_FORK))
		return;
	s->policy &= ~SCHED_RESET_ON_FORK;
	if (is_real_time(s->policy))
		s->policy = SCHED_OTHER;
	s->priority = 0;
	if (s->nice < 0)
		s->nice = 0;
}

static int read_cpus(const pthread_attr_t *attr, struct wefti_schedule *to)
{
	cpu_set_t set, all;

	memset(&all, -1, sizeof(all));	/* what libc says if none are set */
	if (pthread_attr_getaffinity_np(attr, sizeof(set), &set) != 0 ||
	    CPU_EQUAL(&set, &all))
		return 0;
	return wefti_affinity_set(to, sizeof(set), &set);
}

int wefti_schedule_read(const pthread_attr_t *attr, struct wefti_schedule *to)
{
	struct sched_param param;
	int inherits, policy, error;

	reset(to);
	to->is_own = 0;
	error = attr ? read_cpus(attr, to) : 0;
	if (error || !attr)
		return error;
	if (pthread_attr_getinheritsched(attr, &inherits) != 0 ||
	    inherits != PTHREAD_EXPLICIT_SCHED)
		return 0;
	pthread_attr_getschedpolicy(attr, &policy);
	pthread_attr_getschedparam(attr, &param);
	error = check(policy, param.sched_priority);
	if (error)
		return error;
	to->policy = policy;
	to->priority = (int8_t)param.sched_priority;
	to->is_own = 1;
	return 0;
}

EXPORT int pthread_getschedparam(pthread_t thread, int *policy,
				 struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (!t)
		return REAL(pthread_getschedparam)(thread, policy, param);
	if (wefti_pt_has_ended(t))
		return ESRCH;
	*policy = wefti_pt_of(t)->schedule.policy;
	*param = (struct sched_param){
		.sched_priority = wefti_pt_of(t)->schedule.priority,
	};
	return 0;
}

EXPORT int pthread_setschedparam(pthread_t thread, int policy,
				 const struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (!t)
		return REAL(pthread_setschedparam)(thread, policy, param);
	return wefti_pt_has_ended(t) ? ESRCH :
				       set(t, policy, param->sched_priority);
}

EXPORT int pthread_setschedprio(pthread_t thread, int priority)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (!t)
		return REAL(pthread_setschedprio)(thread, priority);
	return wefti_pt_has_ended(t) ?
	       ESRCH : set(t, wefti_pt_of(t)->schedule.policy, priority);
}

/* --- by the id that gettid() tells --------------------------------- */

EXPORT int sched_setscheduler(pid_t id, int policy,
			      const struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_find(id);

	if (!t)
		return REAL(sched_setscheduler)(id, policy, param);
	return wefti_answer(param ? set(t, policy, param->sched_priority) :
				    EINVAL);
}
SECOND_NAME(sched_setscheduler, __sched_setscheduler);

EXPORT int sched_getscheduler(pid_t id)
{
	struct wefti_thread *t = wefti_pt_find(id);

	return t ? wefti_pt_of(t)->schedule.policy :
		   REAL(sched_getscheduler)(id);
}
SECOND_NAME(sched_getscheduler, __sched_getscheduler);

EXPORT int sched_setparam(pid_t id, const struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_find(id);

	if (!t)
		return REAL(sched_setparam)(id, param);
	return wefti_answer(param ? set(t, wefti_pt_of(t)->schedule.policy,
					param->sched_priority) : EINVAL);
}

EXPORT int sched_getparam(pid_t id, struct sched_param *param)
{
	struct wefti_thread *t = wefti_pt_find(id);

	if (!t)
		return REAL(sched_getparam)(id, param);
	if (!param)
		return wefti_answer(EINVAL);
	param->sched_priority = wefti_pt_of(t)->schedule.priority;
	return 0;
}
SECOND_NAME(sched_getparam, __sched_getparam);

/* Green threads have one slice, whatever their policy: the carrier's. */
EXPORT int sched_rr_get_interval(pid_t id, struct timespec *to)
{
	return REAL(sched_rr_get_interval)(wefti_pt_find(id) ? 0 : id, to);
}
