/* SPDX-License-Identifier: MIT */
/*
 * explore/cpu.c - all threads of a run are on one CPU, by SCHED_BATCH
 *
 * One thread runs at a time. On one CPU the next one begins when the last one sleeps. On
 * another CPU the kernel first has to wake that CPU, which takes longer than a step does:
 * a run of five threads took two to three times as long. The CPU is the one on which the
 * run has begun, which the kernel has chosen for a new process. So runs spread over the CPUs,
 * also beside those of another weft explore.
 *
 * By SCHED_OTHER a thread that is woken may get the CPU at once, and the waker goes on
 * later, only to sleep. By SCHED_BATCH the waker goes on. That saves a switch for each
 * step, and beside other programs each switch may cost the CPU for milliseconds.
 *
 * The program is told the set of CPUs and the policy that it would have otherwise. If it sets
 * others itself, it has those. The child of a fork has the program's; what is made by
 * vfork() or posix_spawn() stays as the run is.
 */
#include <string.h>

#include "explore.h"
#include "real.h"
#include "start.h"

static cpu_set_t whole, one;
static int is_pinned, is_batch;

void wefti_ex_pin(void)
{
	const struct sched_param usual = { 0 };
	const int cpu = sched_getcpu();

	if (REAL(sched_getscheduler)(0) == SCHED_OTHER)
		is_batch = sched_setscheduler(0, SCHED_BATCH, &usual) == 0;
	if (cpu < 0 || cpu >= CPU_SETSIZE ||
	    REAL(sched_getaffinity)(0, sizeof(whole), &whole) != 0)
		return;		/* it is slower, but the same */
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	is_pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

void wefti_ex_unpin(void)
{
	const struct sched_param usual = { 0 };

	if (is_batch)
		(void)sched_setscheduler(0, SCHED_OTHER, &usual);
	if (is_pinned)
		(void)sched_setaffinity(0, sizeof(whole), &whole);
	is_pinned = 0;	/* libc remembers the policy, so is_batch stays */
}

static void widen(size_t size, cpu_set_t *set)
{
	if (is_pinned && size <= sizeof(one) && memcmp(set, &one, size) == 0)
		memcpy(set, &whole, size);
}

EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	const int result = REAL(sched_getaffinity)(pid, size, set);

	if (result == 0)
		widen(size, set);
	return result;
}

EXPORT int pthread_getaffinity_np(pthread_t id, size_t size, cpu_set_t *set)
{
	const int error = REAL(pthread_getaffinity_np)(id, size, set);

	if (!error)
		widen(size, set);
	return error;
}

static int usual_policy(int policy)
{
	return is_batch && policy == SCHED_BATCH ? SCHED_OTHER : policy;
}

EXPORT int sched_getscheduler(pid_t pid)
{
	return usual_policy(REAL(sched_getscheduler)(pid));
}

EXPORT int pthread_getschedparam(pthread_t id, int *policy, struct sched_param *param)
{
	const int error = REAL(pthread_getschedparam)(id, policy, param);

	if (!error)
		*policy = usual_policy(*policy);
	return error;
}
