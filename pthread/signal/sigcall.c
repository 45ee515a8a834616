/* SPDX-License-Identifier: MIT */
/* pthread/signal/sigcall.c - calls that send signals or block them */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/call/tasks.h"
#include "os/signal/signal.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"
#include "syscall.h"
#include "thread/bare.h"

#define SIGNALS		64

static int is_signal(int signal)
{
	return signal > 0 && signal <= SIGNALS && signal != 32 && signal != 33;
}

static int is_maskable(int signal)
{
	return signal != SIGKILL && signal != SIGSTOP;
}

/* --- masks --------------------------------------------------------- */

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	uint64_t mask, given;

	if (!wefti_pt_green() || !wefti_pt_is_started())
		return REAL(pthread_sigmask)(how, set, old);
	mask = load_relaxed(&wefti_pt.mask);
	given = set ? wefti_signal_mask(set) : 0;
	if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return EINVAL;
	if (old)
		wefti_signal_put_mask(old, mask);
	if (!set)
		return 0;
	given &= WEFTI_SIGNALS_MASKABLE;
	wefti_signals_set_mask(how == SIG_BLOCK ? mask | given :
			       how == SIG_UNBLOCK ? mask & ~given : given);
	return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return wefti_answer(pthread_sigmask(how, set, old));
}

EXPORT int sigpending(sigset_t *set)
{
	int status = REAL(sigpending)(set);

	if (status == 0 && wefti_pt_green())
		wefti_signal_put_mask(set, (wefti_signal_mask(set) |
			       wefti_signals_pending()) &
			      load_relaxed(&wefti_pt.mask));
	return status;
}

/* --- sending ------------------------------------------------------- */

static siginfo_t info_of(int signal, int code)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = signal;
	info.si_code = code;
	info.si_pid = getpid();
	info.si_uid = getuid();
	return info;
}

static int send_one(struct wefti_thread *to, const siginfo_t *info)
{
	int error = wefti_signal_send(to, info);

	wefti_signals_run_any();	/* the caller may be the target */
	return error;
}

static int send_to(pthread_t thread, siginfo_t *info)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (wefti_pt_has_ended(t))
		return 0;	/* not joined yet, so its id is still valid */
	if (info->si_signo == 0)
		return 0;
	/* Whatever the target, the process is killed or stopped. */
	if (!is_maskable(info->si_signo)) {
		wefti_signal_by_kernel(info->si_signo);
		return 0;
	}
	if (!is_signal(info->si_signo))
		return EINVAL;
	if (t == wefti_self() && wefti_signal_give_to_fd(info))
		return 0;
	return send_one(t, info);
}

EXPORT int pthread_kill(pthread_t thread, int signal)
{
	siginfo_t info = info_of(signal, SI_TKILL);

	if (!wefti_pt_thread(thread))
		return REAL(pthread_kill)(thread, signal);
	return send_to(thread, &info);
}

EXPORT int pthread_sigqueue(pthread_t thread, int signal,
			    const union sigval value)
{
	siginfo_t info = info_of(signal, SI_QUEUE);

	if (!wefti_pt_thread(thread))
		return REAL(pthread_sigqueue)(thread, signal, value);
	info.si_value = value;
	return send_to(thread, &info);
}

EXPORT int raise(int signal)
{
	return wefti_pt_green() ? wefti_answer(pthread_kill(pthread_self(), signal)) :
				  REAL(raise)(signal);
}
SECOND_NAME(raise, gsignal);

/*
 * libc's abort() sends the signal to its kernel thread, which blocks it while the thread
 * lets it in. Before glibc 2.41, abort() let it in by itself.
 */
EXPORT void abort(void)
{
	if (wefti_pt_green() &&
	    !(load_relaxed(&wefti_pt.mask) & WEFTI_SIGNAL_BIT(SIGABRT)))
		wefti_os_signal_unblock(SIGABRT);
	REAL(abort)();
	__builtin_unreachable();
}

/*
 * Sends to the process, from itself. If the signal is for the caller, or its action is
 * the default, it takes effect before the call returns. Another thread gets it before
 * that thread can end. Returns an error number; -1: all threads block it, and it is left
 * in the kernel.
 */
static int send_to_process(siginfo_t *info)
{
	const int signal = info->si_signo;
	const int has_handler = wefti_os_signal_has_handler(signal, NULL);
	const uint64_t bit = WEFTI_SIGNAL_BIT(signal);
	struct wefti_thread *t = wefti_signal_choose(bit);

	if (!t && (wefti_signal_has_fd(signal) ||
		   (signal < SIGRTMIN && !has_handler)))
		return -1;
	if (!t || has_handler || wefti_signal_likes(t, bit) == WEFTI_WAITS ||
	    !wefti_signal_act_if_default(signal))
		return send_one(NULL, info);
	return 0;
}

static int is_to_self(pid_t pid, int signal)
{
	return wefti_pt_green() && pid == getpid() && is_signal(signal) &&
	       is_maskable(signal);
}

/* Sends to the process, or to the thread with this id, which gets it if it lets it in. */
static int send_by_id(pid_t id, int signal, siginfo_t *info)
{
	struct wefti_thread *t = id >= WEFTI_KERNEL_IDS ? wefti_thread_by_id(id) : NULL;

	info->si_signo = signal;
	if (!is_to_self(t ? getpid() : id, signal))
		return -1;
	if (t && wefti_signal_likes(t, WEFTI_SIGNAL_BIT(signal)) >= WEFTI_LETS_IN)
		return send_one(t, info);
	return send_to_process(info);
}

EXPORT int kill(pid_t pid, int signal)
{
	siginfo_t info = info_of(signal, SI_USER);
	int error = send_by_id(pid, signal, &info);

	return error < 0 ? REAL(kill)(wefti_process_of(pid), signal) :
			   (int)wefti_answer(error);
}

EXPORT int sigqueue(pid_t pid, int signal, const union sigval value)
{
	siginfo_t info = info_of(signal, SI_QUEUE);
	int error;

	info.si_value = value;
	error = send_by_id(pid, signal, &info);
	return error < 0 ? REAL(sigqueue)(wefti_process_of(pid), signal, value) :
			   (int)wefti_answer(error);
}

/* New in libc 2.36: the target is a descriptor of a process. */
EXPORT int pidfd_send_signal(int fd, int signal, siginfo_t *given, unsigned flags)
{
	siginfo_t info = info_of(signal, SI_USER);
	int error = -1;

	if (given)
		info = *given;
	if (flags == 0 && info.si_signo == signal && is_to_self(getpid(), signal) &&
	    wefti_os_pidfd_process(fd) == getpid())
		error = send_to_process(&info);
	return error < 0 ? (int)wefti_pt_result(wefti_arch_syscall(
			SYS_pidfd_send_signal, fd, signal, (long)given,
			(long)flags, 0, 0)) : (int)wefti_answer(error);
}

/* The system call behind sigqueue(). */
long wefti_signal_queue(pid_t pid, int signal, const siginfo_t *given)
{
	siginfo_t info;
	int error = -1;

	if (given) {
		info = *given;
		error = send_by_id(pid, signal, &info);
	}
	if (error >= 0)
		return wefti_answer(error);
	return wefti_pt_result(wefti_arch_syscall(SYS_rt_sigqueueinfo,
			wefti_process_of(pid), signal, (long)given, 0, 0, 0));
}
