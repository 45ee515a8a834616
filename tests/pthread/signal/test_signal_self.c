/* SPDX-License-Identifier: MIT */
/* test_signal_self.c - a signal to itself is handled before the call returns; ids */
#include "compare.h"

#include <signal.h>
#include <sys/syscall.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open		434
#define SYS_pidfd_send_signal	424
#endif

#define OTHERS	6

static _Atomic int handled;
static _Atomic int stop;
static int descriptor;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)context;
	handled += signal == SIGUSR1 && info->si_pid == getpid();
}

static siginfo_t queued(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGUSR1;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	return info;
}

static long by_raise(void)
{
	return raise(SIGUSR1);
}

static long by_pthread_kill(void)
{
	return pthread_kill(pthread_self(), SIGUSR1);
}

static long by_kill(void)
{
	return kill(getpid(), SIGUSR1);
}

static long by_sigqueue(void)
{
	return sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 1 });
}

static long by_kill_call(void)
{
	return syscall(SYS_kill, getpid(), SIGUSR1);
}

static long by_tgkill_call(void)
{
	return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
}

static long by_queue_call(void)
{
	siginfo_t info = queued();

	return syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &info);
}

static long by_descriptor(void)
{
	return syscall(SYS_pidfd_send_signal, descriptor, SIGUSR1, NULL, 0);
}

static long by_descriptor_with_info(void)
{
	siginfo_t info = queued();

	return syscall(SYS_pidfd_send_signal, descriptor, SIGUSR1, &info, 0);
}

static long (*const ways[])(void) = {
	by_raise, by_pthread_kill, by_kill, by_sigqueue, by_kill_call,
	by_tgkill_call, by_queue_call, by_descriptor, by_descriptor_with_info,
};

#define WAYS	((int)(sizeof(ways) / sizeof(*ways)))

static void *sleep_or_compute(void *sleeps)
{
	while (!stop)
		if (sleeps)
			usleep(200);
	return NULL;
}

static void it_is_handled_before_the_call_returns(void)
{
	struct sigaction action = { .sa_sigaction = count,
				    .sa_flags = SA_SIGINFO };
	pthread_t t[OTHERS];

	descriptor = (int)syscall(SYS_pidfd_open, getpid(), 0);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < OTHERS; i++)
		t[i] = start(sleep_or_compute, i % 2 ? &descriptor : NULL);
	for (int way = 0; way < WAYS; way++) {
		const long times = scaled(1000);
		long late = 0, refused = 0;

		for (long i = 0; i < times; i++) {
			int before = handled;

			if (ways[way]() != 0)
				refused++;
			else
				late += handled == before;
		}
		printf("%d: %ld, %d\n", way, late,
		       refused == 0 || refused == times);
	}
	stop = 1;
	for (int i = 0; i < OTHERS; i++)
		finish(t[i]);
}

/* --- ids ----------------------------------------------------------- */

#define IDS	200

static void *tell_id(void *arg)
{
	(void)arg;
	return (void *)(long)gettid();
}

static int compare(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Nor at once by a thread that has what another had. */
static void no_id_is_used_again_soon(void)
{
	long ids[IDS];
	int same = 0;

	for (int i = 0; i < IDS; i++)
		ids[i] = (long)finish(start(tell_id, NULL));
	qsort(ids, IDS, sizeof(*ids), compare);
	for (int i = 1; i < IDS; i++)
		same += ids[i] == ids[i - 1];
	printf("%d\n", same);
}

static const struct compare_case cases[] = {
	COMPARE(it_is_handled_before_the_call_returns),
	COMPARE(no_id_is_used_again_soon),
};

COMPARE_MAIN(cases)
