/* SPDX-License-Identifier: MIT */
/*
 * os/signal/cpu_timer.c - a signal each time a kernel thread has used the CPU for so long
 *
 * The kernel looks at such a timer at its own tick, so a period is at least that long. Then
 * the signal says how many periods were over (si_overrun).
 *
 * Writers
 *   handler  wefti_os_cpu_timer_handler
 */
#include "os/signal/cpu_timer.h"

#include "lockfree/atomic.h"
#include "os/call/signal_timer.h"

/* The kernel's number of another kernel thread's clock, as clock_getcpuclockid() has it. */
#define CPU_CLOCK(tid)	((int)(~(unsigned)(tid) << 3 | 6))

static char mark;		/* its address marks the signal */
static _Atomic(wefti_os_handler *) handler;

void wefti_os_cpu_timer_handler(wefti_os_handler *fn)
{
	store_seq_cst(&handler, fn);
}

int wefti_os_cpu_timer_start(int tid, int64_t every_ns)
{
	const int timer = wefti_os_signal_timer_make(CPU_CLOCK(tid), tid,
						     wefti_os_preempt_signal(), &mark);

	if (timer >= 0)
		wefti_os_signal_timer_set(timer, every_ns, every_ns);
	return timer;
}

void wefti_os_cpu_timer_end(int timer)
{
	wefti_os_signal_timer_delete(timer);
}

int wefti_os_cpu_timer_is(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark;
}

void wefti_os_cpu_timer_run(int signal, siginfo_t *info, void *context)
{
	wefti_os_handler *fn = load_seq_cst(&handler);

	if (fn)
		fn(signal, info, context);
}
