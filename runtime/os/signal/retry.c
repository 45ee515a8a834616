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
#include <time.h>

#include "os/call/signal_timer.h"
#include "os/call/tid.h"
#include "os/signal/signal.h"

#define SOON_NS		30000
#define SAME		16	/* tries until the time doubles */
#define DOUBLED_MOST	6

static char mark;		/* its address marks the signal */

static void make(struct wefti_os_retry *r)
{
	const int timer = wefti_os_signal_timer_make(CLOCK_MONOTONIC, wefti_os_gettid(),
						     wefti_os_preempt_signal(), &mark);

	r->timer = timer < 0 ? -1 : timer + 1;
}

void wefti_os_retry_soon(struct wefti_os_retry *r)
{
	const unsigned doubled = r->tries++ / SAME;

	if (r->timer == 0)
		make(r);
	if (r->timer < 0)
		return;
	wefti_os_signal_timer_set(r->timer - 1, (int64_t)SOON_NS <<
				  (doubled < DOUBLED_MOST ? doubled : DOUBLED_MOST), 0);
}

int wefti_os_retry_is(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark;
}

void wefti_os_retry_end(struct wefti_os_retry *r)
{
	if (r->timer > 0)
		wefti_os_signal_timer_delete(r->timer - 1);
	r->timer = 0;
}
