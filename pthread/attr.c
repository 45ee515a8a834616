/* SPDX-License-Identifier: MIT */
/*
 * pthread/attr.c - what is asked and told of a thread: stack, name, CPUs
 *
 * Green threads run on all CPUs of the process; a narrower affinity is accepted
 * and has no effect.
 */
#include <errno.h>
#include <string.h>

#include "os/kthread.h"
#include "os/tls.h"
#include "pthread/real.h"
#include "pthread/self.h"
#include "pthread/signal.h"
#include "weft/thread.h"
#include "thread/bare.h"

#define NAME_MAX_BYTES	16

static int is_main(const struct wefti_thread *t)
{
	return t == wefti_rt.main;
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
	return pthread_attr_setstack(attr, (void *)(uintptr_t)
				     t->cold->stack_low, t->cold->stack_bytes);
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (strlen(name) >= NAME_MAX_BYTES)
		return ERANGE;
	if (!t)
		return REAL(pthread_setname_np)(thread, name);
	strcpy(wefti_pt_of(t)->name, name);
	return -weft_set_name(wefti_thread_id(t), name);
}

EXPORT int pthread_getname_np(pthread_t thread, char *name, size_t size)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (size < NAME_MAX_BYTES)
		return ERANGE;
	if (!t || (is_main(t) && !wefti_pt_of(t)->name[0]))
		return REAL(pthread_getname_np)(thread, name, size);
	strcpy(name, wefti_pt_of(t)->name);
	return 0;
}

EXPORT int pthread_getaffinity_np(pthread_t thread, size_t bytes,
				  cpu_set_t *set)
{
	if (!wefti_pt_thread(thread))
		return REAL(pthread_getaffinity_np)(thread, bytes, set);
	return sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t bytes,
				  const cpu_set_t *set)
{
	cpu_set_t have, both;

	if (!wefti_pt_thread(thread))
		return REAL(pthread_setaffinity_np)(thread, bytes, set);
	if (bytes < sizeof(have) || sched_getaffinity(0, sizeof(have), &have))
		return EINVAL;
	CPU_AND(&both, &have, set);
	return CPU_COUNT(&both) == 0 ? EINVAL : 0;
}

/* A green thread has no clock of the kernel's. */
EXPORT int pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
	if (!wefti_pt_thread(thread))
		return REAL(pthread_getcpuclockid)(thread, clock);
	return ENOENT;
}

/*
 * Of the carrier, it would change as the thread goes on. What libc knows the
 * thread by is above all ids of the kernel.
 */
EXPORT pid_t gettid(void)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->kind == WEFTI_KIND_GREEN)
		return wefti_pt.id;
	if (self && self->kind == WEFTI_KIND_MAIN)
		return getpid();
	return wefti_os_gettid();
}
