/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/sigsys.c - signals by syscall(): the same as by libc's functions
 *
 * The kernel itself would change the mask of the kernel thread, and knows no green
 * thread's id. Its sets have 64 signals. Our functions take libc's sets, which are
 * larger.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/init/tied_call.h"
#include "pthread/signal/signal.h"

#define KERNELS_BYTES	8	/* size of a set */
#define SIGNALS		64

/* NULL stays NULL. */
static const sigset_t *read_set(sigset_t *to, long from)
{
	if (!from)
		return NULL;
	sigemptyset(to);
	memcpy(to, (const void *)from, KERNELS_BYTES);
	return to;
}

static long change_mask(const long *a)
{
	sigset_t given, old;
	const sigset_t *set = read_set(&given, a[1]);

	if (a[3] != KERNELS_BYTES)
		return wefti_answer(EINVAL);
	if (sigprocmask((int)a[0], set, &old) != 0)
		return -1;
	if (a[2])
		memcpy((void *)a[2], &old, KERNELS_BYTES);
	return 0;
}

/* If the caller's set is smaller, it gets only the first bytes, as from the kernel. */
static long tell_pending(const long *a)
{
	sigset_t pending;

	if ((unsigned long)a[1] > KERNELS_BYTES)
		return wefti_answer(EINVAL);
	if (sigpending(&pending) != 0)
		return -1;
	memcpy((void *)a[0], &pending, (size_t)a[1]);
	return 0;
}

static long wait_with(const long *a)
{
	sigset_t given;

	if (a[1] != KERNELS_BYTES)
		return wefti_answer(EINVAL);
	return sigsuspend(read_set(&given, a[0]));
}

static long wait_for(const long *a)
{
	sigset_t given;

	if (a[3] != KERNELS_BYTES)
		return wefti_answer(EINVAL);
	return sigtimedwait(read_set(&given, a[0]), (siginfo_t *)a[1],
			    (const struct timespec *)a[2]);
}

static long find_by_descriptor(const long *a)
{
	sigset_t given;

	if (a[2] != KERNELS_BYTES)
		return wefti_answer(EINVAL);
	return signalfd((int)a[0], read_set(&given, a[1]), (int)a[3]);
}

/* Returns 0 if the kernel has to answer. */
static int send_to(long id, long signal, long *result)
{
	struct wefti_thread *t = id > 0 ? wefti_pt_find((pid_t)id) : NULL;

	if (!t)
		return 0;
	*result = wefti_answer(pthread_kill(wefti_pt_handle(t), (int)signal));
	return 1;
}

static int queue_for(const long *a, long *result)
{
	struct wefti_thread *t = a[1] > 0 ? wefti_pt_find((pid_t)a[1]) : NULL;

	siginfo_t info;

	if (!t)
		return 0;
	info = *(const siginfo_t *)a[3];
	info.si_signo = (int)a[2];
	if (info.si_signo < 0 || info.si_signo > SIGNALS)
		*result = wefti_answer(EINVAL);
	else if (info.si_signo == 0 || info.si_signo == SIGKILL ||
		 info.si_signo == SIGSTOP)
		return send_to(a[1], a[2], result);
	else
		*result = wefti_answer(wefti_signal_send(t, &info));
	wefti_signals_run_any();	/* the caller may be the target */
	return 1;
}

int wefti_signal_syscall(long number, const long *a, long *result)
{
	switch (number) {
	case SYS_rt_sigprocmask:
		*result = change_mask(a);
		return 1;
	case SYS_rt_sigpending:
		*result = tell_pending(a);
		return 1;
	case SYS_rt_sigsuspend:
		*result = wait_with(a);
		return 1;
	case SYS_rt_sigtimedwait:
		*result = wait_for(a);
		return 1;
	case SYS_signalfd4:
		*result = find_by_descriptor(a);
		return 1;
	case SYS_kill:
		*result = kill((pid_t)a[0], (int)a[1]);
		return 1;
	case SYS_rt_sigqueueinfo:
		*result = wefti_signal_queue((pid_t)a[0], (int)a[1],
					     (const siginfo_t *)a[2]);
		return 1;
	case SYS_pidfd_send_signal:
		*result = pidfd_send_signal((int)a[0], (int)a[1],
					    (siginfo_t *)a[2], (unsigned)a[3]);
		return 1;
	case SYS_tkill:
		return send_to(a[0], a[1], result);
	case SYS_tgkill:
		return a[0] == getpid() && send_to(a[1], a[2], result);
	case SYS_rt_tgsigqueueinfo:
		return a[0] == getpid() && queue_for(a, result);
	default:
		return 0;
	}
}
