/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/filter.c - filters of system calls that the program sets on itself
 *
 * A filter that comes before the first thread may refuse what green threads need, or end
 * the process at a call that libc's threads do not make. Then threads stay libc's. With
 * green threads the process ends, and one line says why. Where threads stay libc's, weft
 * makes none of the calls that it needs: libc tells the ids of threads.
 *
 * A constructor of a library may set a filter before ours has run. So the process is
 * noted by the first look, if not before.
 *
 * Filters are inherited by a fork, and so is the note of one. The child of a vfork() has
 * its parent's memory: what it sets is not its parent's.
 *
 * Writers
 *   refused  wefti_filter_is_set
 */
#include "pthread/kthread/filter.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "lockfree/atomic.h"
#include "os/call/fatal.h"
#include "os/call/tid.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "syscall.h"

static _Atomic(const char *) refused;
static int process;

void wefti_filter_process(void)
{
	process = getpid();
}

const void *wefti_filter_of_call(long number, const long *a)
{
	if (number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_FILTER &&
	    (!wefti_pt_is_started() ||
	     (unsigned long)a[1] & SECCOMP_FILTER_FLAG_TSYNC))
		return (const void *)a[2];
	if (number == SYS_prctl && a[0] == PR_SET_SECCOMP &&
	    a[1] == SECCOMP_MODE_FILTER && !wefti_pt_is_started())
		return (const void *)a[2];
	return NULL;
}

/* seccomp() may return the id of a thread that has another filter, or a descriptor. */
int wefti_filter_is_done(long number, const long *a, long result)
{
	return result == 0 ||
	       (result > 0 && number == SYS_seccomp &&
		(unsigned long)a[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

/* Does the kernel let the program set one? */
static int may_set(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { .effective = 0 } };

	if (REAL(prctl)(PR_GET_NO_NEW_PRIVS, 0ul, 0ul, 0ul, 0ul) == 1)
		return 1;
	return wefti_arch_syscall(SYS_capget, (long)&head, (long)data, 0, 0, 0, 0) == 0 &&
	       (data[0].effective & (1u << CAP_SYS_ADMIN));
}

/* Another kernel thread may make a call as soon as the filter is set: this comes before. */
static void end_or_warn(const struct wefti_os_filtered *seen)
{
	if (!may_set())
		return;
	if (seen->needed)
		wefti_os_fatal(seen->needed, -EPERM);
	wefti_log(WEFTI_LOG_WARNING, "weft: a filter ends the process at %s, which weft "
		  "may call: see weft-calls(7)\n", seen->deadly);
}

/* Behind a filter that leaves libc's threads, a look could itself end the process. */
void wefti_filter_look(const void *filter, struct wefti_filter *f)
{
	if (!process)
		wefti_filter_process();
	f->process = getpid();
	f->seen = (struct wefti_os_filtered){ NULL, NULL };
	if (f->process != process || load_seq_cst(&refused))
		return;
	wefti_os_filter_look(filter, &f->seen);
	if (wefti_pt_is_started() && (f->seen.needed || f->seen.deadly))
		end_or_warn(&f->seen);
}

/* libc knows it, and tells it as the owner of a mutex. */
static int libcs_tid(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int tid;

	REAL(pthread_mutex_lock)(&m);
	tid = m.__data.__owner;
	REAL(pthread_mutex_unlock)(&m);
	return tid;
}

void wefti_filter_is_set(const struct wefti_filter *f)
{
	const char *call = f->seen.needed ? f->seen.needed : f->seen.deadly;

	if (!call || f->process != process || wefti_pt_is_started())
		return;
	store_seq_cst(&refused, call);
	wefti_os_gettid_by(libcs_tid);
}

const char *wefti_filter_refuses(void)
{
	const char *call = load_seq_cst(&refused);

	if (call)
		return call;
	call = wefti_os_needed_refused();
	if (call)
		wefti_os_gettid_by(libcs_tid);
	return call;
}
