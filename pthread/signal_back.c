/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal_back.c - signals go back to the kernel as they came
 *
 * The kernel lets nobody say that another process or itself sent a signal, but
 * for a process to itself; and it takes a kernel thread for that only if its id
 * is the process's. So the first kernel thread does it: the receiver sends it the
 * preemption signal, in whose handler it runs this errand.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/futex.h"
#include "os/kthread.h"
#include "os/signal.h"
#include "pthread/real.h"
#include "pthread/signal.h"
#include "pthread/signal_queue.h"
#include "sched/preempt.h"
#include "syscall.h"

#define ASK_AGAIN_NS	INT64_C(10000000)	/* it may have been lost */
#define TRIES		100
#define MOST		64

static _Atomic(siginfo_t *) given;	/* NULL: no errand */
static _Atomic uint32_t done;		/* errands; the receiver waits here */

static int queue(siginfo_t *info)
{
	return (int)wefti_arch_syscall(SYS_rt_sigqueueinfo, getpid(),
				       info->si_signo, (long)info, 0, 0, 0);
}

static void errand(void)
{
	siginfo_t *info = load_seq_cst(&given);

	if (likely(!info) || wefti_os_gettid() != getpid())
		return;
	if (!cas_seq_cst(&given, &info, NULL))
		return;
	(void)queue(info);
	fetch_add_seq_cst(&done, 1);
	wefti_os_futex_wake(&done, 1);
}

/* The first kernel thread is no more, or is stopped: the number at least. */
static void send_anew(siginfo_t *info, uint32_t before)
{
	siginfo_t *mine = info;

	if (cas_seq_cst(&given, &mine, NULL))
		(void)!REAL(kill)(getpid(), info->si_signo);
	else
		while (load_seq_cst(&done) == before)
			wefti_os_futex_wait(&done, before, INT64_MAX);
}

void wefti_signal_give_back(siginfo_t *info)
{
	uint32_t before = load_seq_cst(&done);

	if (queue(info) == 0)
		return;
	store_seq_cst(&wefti_preempt_errand, errand);
	store_seq_cst(&given, info);
	for (int i = 0; i < TRIES && load_seq_cst(&done) == before; i++) {
		wefti_os_kthread_signal(getpid(), wefti_os_preempt_signal());
		wefti_os_futex_wait(&done, before,
				    wefti_os_now_ns() + ASK_AGAIN_NS);
	}
	if (load_seq_cst(&done) == before)
		send_anew(info, before);
}

/*
 * What waits for the first thread alone would wait for whatever thread its kernel
 * thread carries. All signals are blocked; what was for the process goes back.
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

void wefti_signal_back_forget(void)
{
	store_seq_cst(&given, NULL);
}
