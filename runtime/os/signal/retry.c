/* SPDX-License-Identifier: MIT */
/*
 * os/signal/retry.c - sends this kernel thread the preemption signal again, soon
 *
 * This uses a timer of the kernel, because nothing else knows when a thread has left
 * malloc. The timer is made at the first use. It does not end by itself: its kernel
 * thread deletes it.
 */
#include "os/signal/retry.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/call/tid.h"
#include "os/signal/signal.h"
#include "syscall.h"

#define SOON_NS		30000
#define SAME		16	/* tries until the time doubles */
#define DOUBLED_MOST	6

static char mark;		/* its address marks the signal */

static void make(struct wefti_os_retry *r)
{
	struct sigevent event;
	int timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = wefti_os_preempt_signal();
	event.sigev_value.sival_ptr = &mark;
	event._sigev_un._tid = wefti_os_gettid();
	r->timer = wefti_arch_syscall(SYS_timer_create, CLOCK_MONOTONIC,
				      (long)&event, (long)&timer, 0, 0, 0) == 0 ?
		   timer + 1 : -1;
}

void wefti_os_retry_soon(struct wefti_os_retry *r)
{
	const unsigned doubled = r->tries++ / SAME;
	struct itimerspec at = { .it_value.tv_nsec = SOON_NS };

	if (r->timer == 0)
		make(r);
	if (r->timer < 0)
		return;
	at.it_value.tv_nsec <<= doubled < DOUBLED_MOST ? doubled : DOUBLED_MOST;
	wefti_arch_syscall(SYS_timer_settime, r->timer - 1, 0, (long)&at, 0, 0, 0);
}

int wefti_os_retry_is(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark;
}

void wefti_os_retry_end(struct wefti_os_retry *r)
{
	if (r->timer > 0)
		wefti_arch_syscall(SYS_timer_delete, r->timer - 1, 0, 0, 0, 0, 0);
	r->timer = 0;
}
