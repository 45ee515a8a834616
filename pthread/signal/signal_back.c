/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_back.c - signals go back to the kernel as they came
 *
 * A signal that names another process or the kernel as its sender can be queued only by
 * a process to itself. And the kernel accepts that only from the kernel thread whose id
 * is the process's. So the receiver sends the first kernel thread on that errand.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "os/signal/errand.h"
#include "pthread/core/real.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"
#include "syscall.h"

#define TRIES		100
#define MOST		64

static long queue(void *info)
{
	return wefti_arch_syscall(SYS_rt_sigqueueinfo, getpid(),
				  ((siginfo_t *)info)->si_signo, (long)info, 0,
				  0, 0);
}

void wefti_signal_give_back(siginfo_t *info)
{
	long result;

	if (queue(info) == 0)
		return;
	/*
	 * The first kernel thread has ended or is stopped: at least the number is sent.
	 */
	if (wefti_os_errand(getpid(), queue, info, TRIES, &result) != 0)
		(void)!REAL(kill)(getpid(), info->si_signo);
}

/*
 * Takes the signals that wait for the first thread alone: in the kernel they would wait
 * for any thread that its kernel thread carries. All signals are blocked. Signals that
 * were for the process are given back.
 */
void wefti_signals_take_own(void)
{
	siginfo_t others[MOST], info;
	const struct timespec none = { 0, 0 };
	uint64_t set = WEFTI_SIGNALS_RECEIVABLE;
	unsigned n = 0;

	while (n < MOST &&
	       wefti_arch_syscall(SYS_rt_sigtimedwait, (long)&set, (long)&info,
				  (long)&none, sizeof(set), 0, 0) > 0) {
		if (info.si_code == SI_TKILL)
			(void)wefti_signal_send(wefti_rt.main, &info);
		else
			others[n++] = info;
	}
	for (unsigned i = 0; i < n; i++)
		(void)queue(&others[i]);
}
