/* SPDX-License-Identifier: MIT */
/* pthread/thread/attr.c - what is asked and told of a thread: stack, name, id */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/format.h"
#include "os/kthread/kthread.h"
#include "os/call/root.h"
#include "os/tls/tls.h"
#include "pthread/kthread/proc.h"
#include "pthread/core/real.h"
#include "pthread/kthread/schedule.h"
#include "pthread/core/self.h"
#include "weft/thread.h"
#include "thread/bare.h"
#include "syscall.h"

#define NAME_MAX_BYTES	16

static int is_main(const struct wefti_thread *t)
{
	return t == wefti_rt.main;
}

/* As libc tells it, with the CPUs that the thread may use. */
static int tell_schedule(const struct wefti_thread *t, pthread_attr_t *attr)
{
	const struct wefti_schedule *s = &wefti_pt_of(t)->schedule;
	struct sched_param param = { .sched_priority = s->priority };
	cpu_set_t set;
	long n;

	(void)!pthread_attr_setinheritsched(attr, s->is_own ?
					    PTHREAD_EXPLICIT_SCHED :
					    PTHREAD_INHERIT_SCHED);
	(void)!pthread_attr_setschedpolicy(attr, s->policy);
	(void)!pthread_attr_setschedparam(attr, &param);
	CPU_ZERO(&set);
	n = wefti_affinity_get(t, sizeof(set), &set);
	return n < 0 ? (int)-n : pthread_attr_setaffinity_np(attr, (size_t)n,
							     &set);
}

/* What was asked for, where it is: see read_stack() in pthread/thread/create.c. */
static int tell_stack(const struct wefti_thread *t, pthread_attr_t *attr)
{
	const struct wefti_begin *b = &wefti_pt_of(t)->begin;
	char *low = (char *)(uintptr_t)t->cold->stack_low;

	(void)!pthread_attr_setguardsize(attr, b->guard_bytes);
	if (b->stack)
		return pthread_attr_setstack(attr, b->stack, b->stack_bytes);
	low += b->room ? b->room - b->told_bytes :
			 t->cold->stack_bytes - b->told_bytes;
	return pthread_attr_setstack(attr, low, b->told_bytes);
}

EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	struct wefti_thread *t = wefti_pt_thread(thread);
	uint64_t w;
	int error;

	if (!t || is_main(t))
		return REAL(pthread_getattr_np)(thread, attr);
	error = pthread_attr_init(attr);
	if (error)
		return error;
	w = load_relaxed(&t->join);
	if (!wefti_join_is_ticket(w) &&
	    wefti_join_state(w) == WEFTI_JOIN_DETACHED)
		pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED);
	error = tell_schedule(t, attr);
	return error ? error : tell_stack(t, attr);
}

/*
 * The first thread's is also what others know the process by: it stands in the
 * kernel thread that has its id. A failure is not told: there may be no /proc.
 */
static void name_process(const char *name)
{
	char path[64];
	long fd;

	wefti_format(path, sizeof(path), "/proc/self/task/%d/comm", getpid());
	fd = wefti_os_proc_open(path, O_WRONLY);
	if (fd < 0)
		return;
	wefti_arch_syscall(SYS_write, fd, (long)name, (long)strlen(name), 0, 0,
			   0);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (strlen(name) >= NAME_MAX_BYTES)
		return ERANGE;
	if (!t)
		return REAL(pthread_setname_np)(thread, name);
	if (wefti_pt_has_ended(t))
		return ENOENT;
	wefti_proc_take_name(t);
	strcpy(wefti_pt_of(t)->name, name);
	if (is_main(t))
		name_process(name);
	return -weft_set_name(wefti_thread_id(t), name);
}

EXPORT int pthread_getname_np(pthread_t thread, char *name, size_t size)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (size < NAME_MAX_BYTES)
		return ERANGE;
	if (!t)
		return REAL(pthread_getname_np)(thread, name, size);
	if (wefti_pt_has_ended(t))
		return ENOENT;
	wefti_proc_take_name(t);
	strcpy(name, wefti_pt_of(t)->name);
	return 0;
}

/*
 * Of the carrier, it would change as the thread goes on. What libc knows the
 * thread by is above all ids of the kernel.
 */
EXPORT pid_t gettid(void)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->kind == WEFTI_KIND_GREEN)
		return wefti_pt.tid;
	if (self && self->kind == WEFTI_KIND_MAIN)
		return getpid();
	return wefti_os_gettid();
}
