/* SPDX-License-Identifier: MIT */
/* mutex/hogs.c - processes that compute: the kernel preempts the sample */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutex/mutex.h"
#include "work.h"

#define HOGS_MAX	256

static pid_t hogs[HOGS_MAX];
static unsigned hog_count;

/* The nth of the CPUs that this process may use, from the first again. */
static void pin_to(unsigned nth)
{
	cpu_set_t allowed, one;
	unsigned seen = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	nth %= (unsigned)CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || seen++ != nth)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static __attribute__((noreturn)) void hog(unsigned number, pid_t parent)
{
	volatile uint64_t x = 1;

	/* Not even a killed benchmark leaves one behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	pin_to(number);
	for (;;)
		x = bench_work(x, 1000);
}

void mutex_hogs_begin(const struct bench_ctx *ctx)
{
	pid_t parent = getpid();

	if (strcmp(ctx->preempt, "processes"))
		return;
	/* Or the sample would move to where no hog is. */
	bench_pin(ctx->vcpus);
	for (unsigned i = 0; i < ctx->vcpus && i < HOGS_MAX; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_fail("fork: %s", strerror(errno));
		if (pid == 0)
			hog(i, parent);
		hogs[hog_count++] = pid;
	}
}

void mutex_hogs_end(void)
{
	for (unsigned i = 0; i < hog_count; i++) {
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
	}
}
