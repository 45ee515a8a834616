/* SPDX-License-Identifier: MIT */
/* os/call/signal_timer.c - timers of the kernel that send one kernel thread a signal */
#include "os/call/signal_timer.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "syscall.h"

#define NS_PER_SECOND	INT64_C(1000000000)

int wefti_os_signal_timer_make(int clock, int tid, int signal, const void *mark)
{
	struct sigevent event;
	int timer;
	long error;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signal;
	event.sigev_value.sival_ptr = (void *)(uintptr_t)mark;
	event._sigev_un._tid = tid;
	error = wefti_arch_syscall(SYS_timer_create, clock, (long)&event, (long)&timer,
				   0, 0, 0);
	return error < 0 ? (int)error : timer;
}

static struct timespec to_time(int64_t ns)
{
	return (struct timespec){ ns / NS_PER_SECOND, ns % NS_PER_SECOND };
}

void wefti_os_signal_timer_set(int timer, int64_t first_ns, int64_t every_ns)
{
	const struct itimerspec at = {
		.it_value = to_time(first_ns), .it_interval = to_time(every_ns),
	};

	wefti_arch_syscall(SYS_timer_settime, timer, 0, (long)&at, 0, 0, 0);
}

void wefti_os_signal_timer_delete(int timer)
{
	wefti_arch_syscall(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}
