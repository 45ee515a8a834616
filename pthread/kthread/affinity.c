/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/affinity.c - the CPUs of a thread: checked, kept and reported
 *
 * Green threads run on all CPUs of the process, whatever affinity they set. A thread that
 * asks on which CPU it is gets one of its own, because a program has tables by that
 * number, or stops if the number is none of its CPUs. A thread has a pointer to its set
 * (pthread/kthread/kept.c), and other threads may read the set at any time.
 *
 * Writers
 *   scheduled.cpus  set_of; scheduled.c: wefti_schedule_put
 *   all  wefti_affinity_read; kept.c: wefti_keep
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "pthread/core/answer.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/kthread/kept.h"
#include "pthread/kthread/schedule.h"
#include "syscall.h"

static _Atomic(struct wefti_kept *) all;

/*
 * A process may be allowed CPUs that its kernel threads do not use, because main gave
 * them up before it made threads. The kernel says which only to a kernel thread that sets
 * them: this one does, for a moment. Returns whether the kernel allows any CPU of *want.
 */
static int ask_kernel(cpu_set_t *want, const cpu_set_t *have)
{
	const struct wefti_hold h = wefti_hold_begin();
	int has_some = wefti_arch_syscall(SYS_sched_setaffinity, 0, sizeof(*want),
					  (long)want, 0, 0, 0) == 0;

	if (has_some) {
		CPU_ZERO(want);
		(void)wefti_arch_syscall(SYS_sched_getaffinity, 0, sizeof(*want),
					 (long)want, 0, 0, 0);
		(void)wefti_arch_syscall(SYS_sched_setaffinity, 0,
					 sizeof(*have), (long)have, 0, 0, 0);
	}
	wefti_hold_end(h);
	return has_some;
}

/* As in the kernel: bytes not given are empty, CPUs that do not exist are left out. */
int wefti_affinity_read(size_t bytes, const cpu_set_t *given, const cpu_set_t **to)
{
	cpu_set_t have, want, both;

	if (REAL(sched_getaffinity)(0, sizeof(have), &have) != 0)
		return errno;
	CPU_ZERO(&want);
	memcpy(&want, given, bytes < sizeof(want) ? bytes : sizeof(want));
	CPU_AND(&both, &have, &want);
	if (CPU_EQUAL(&both, &want) || !ask_kernel(&want, &have))
		want = both;
	if (CPU_COUNT(&want) == 0)
		return EINVAL;
	*to = CPU_EQUAL(&want, &have) ? NULL :
	      wefti_keep(&all, &want, sizeof(want));
	return 0;
}

long wefti_affinity_get(const struct wefti_thread *t, size_t bytes,
			cpu_set_t *set)
{
	const cpu_set_t *cpus = load_relaxed(&wefti_pt_of(t)->schedule.cpus);
	long n = wefti_arch_syscall(SYS_sched_getaffinity, 0, (long)bytes,
				    (long)set, 0, 0, 0);

	if (n > 0 && cpus)
		memcpy(set, cpus, (size_t)n < sizeof(*cpus) ? (size_t)n :
							      sizeof(*cpus));
	return n;
}

/* Clears the bytes that the kernel does not write. */
static int get(const struct wefti_thread *t, size_t bytes, cpu_set_t *set)
{
	long n = wefti_affinity_get(t, bytes, set);

	if (n < 0)
		return (int)-n;
	memset((char *)set + n, 0, bytes - (size_t)n);
	return 0;
}

static int set_of(struct wefti_thread *t, size_t bytes, const cpu_set_t *set)
{
	const cpu_set_t *to = NULL;
	int error = wefti_affinity_read(bytes, set, &to);

	if (!error)
		store_relaxed(&wefti_pt_of(t)->schedule.cpus, to);
	return error;
}

EXPORT int pthread_getaffinity_np(pthread_t thread, size_t bytes,
				  cpu_set_t *set)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	return t ? get(t, bytes, set) :
		   REAL(pthread_getaffinity_np)(thread, bytes, set);
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t bytes,
				  const cpu_set_t *set)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	return t ? set_of(t, bytes, set) :
		   REAL(pthread_setaffinity_np)(thread, bytes, set);
}

EXPORT int sched_getaffinity(pid_t id, size_t bytes, cpu_set_t *set)
{
	struct wefti_thread *t = wefti_pt_find(id);

	return t ? wefti_answer(get(t, bytes, set)) :
		   REAL(sched_getaffinity)(id, bytes, set);
}

EXPORT int sched_setaffinity(pid_t id, size_t bytes, const cpu_set_t *set)
{
	struct wefti_thread *t = wefti_pt_find(id);

	return t ? wefti_answer(set_of(t, bytes, set)) :
		   REAL(sched_setaffinity)(id, bytes, set);
}

/* What the calling thread is told, where the kernel tells it `kernels`. */
static int own_cpu(int kernels)
{
	const cpu_set_t *cpus = load_relaxed(&wefti_pt.schedule.cpus);
	int cpu = 0;

	if (likely(!cpus) || kernels < 0 || kernels >= CPU_SETSIZE ||
	    CPU_ISSET(kernels, cpus) || !wefti_pt_green())
		return kernels;
	while (!CPU_ISSET(cpu, cpus))
		cpu++;
	return cpu;
}

EXPORT int sched_getcpu(void)
{
	return own_cpu(REAL(sched_getcpu)());
}

EXPORT int getcpu(unsigned *cpu, unsigned *node)
{
	const int result = REAL(getcpu)(cpu, node);

	if (result == 0 && cpu)
		*cpu = (unsigned)own_cpu((int)*cpu);
	return result;
}
