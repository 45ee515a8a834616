/* SPDX-License-Identifier: MIT */
/* test_scheduled.c - a program that a thread starts has the thread's CPUs and policy */
#include "compare.h"

#include <limits.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tasks.h"

static void set_schedule(cpu_set_t *last, int nice)
{
	const struct sched_param param = { .sched_priority = 0 };
	const unsigned long node = 1;

	sched_getaffinity(0, sizeof(*last), last);
	for (int i = 0; CPU_COUNT(last) > 1; i++)
		CPU_CLR(i, last);
	show_errno("CPU", sched_setaffinity(0, sizeof(*last), last));
	show_errno("policy", sched_setscheduler(0, SCHED_BATCH, &param));
	show_errno("nice", setpriority(PRIO_PROCESS, 0, nice));
	show_errno("slack", prctl(PR_SET_TIMERSLACK, 77777));
	show_errno("files", syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 7));
	show_errno("memory", syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, &node, 2L));
}

/* Run by the programs below, too. */
static void tell_schedule(void)
{
	cpu_set_t cpus;
	int memory = -1;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	(void)!syscall(SYS_get_mempolicy, &memory, NULL, 0L, NULL, 0);
	printf("%d CPUs, policy %d, nice %d, slack %d, files %ld, memory %d\n",
	       CPU_COUNT(&cpus), sched_getscheduler(0), getpriority(PRIO_PROCESS, 0),
	       prctl(PR_GET_TIMERSLACK), syscall(SYS_ioprio_get, 1, 0), memory);
	fflush(stdout);
}

static char self[PATH_MAX];

static void start_by_vfork(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(self, argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/* A nice value can be taken back only with a privilege, so the process has none. */
static void *schedule_and_start(void *arg)
{
	char *argv[] = { self, (char *)(uintptr_t)"tell_schedule", NULL };
	char command[PATH_MAX + 40];
	cpu_set_t last;
	pid_t pid;

	set_schedule(&last, geteuid() == 0 ? 5 : 0);
	tell_schedule();
	snprintf(command, sizeof(command), "exec '%s' tell_schedule", self);
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
	start_by_vfork(argv);
	show("system", system(command));
	show("popen", pclose(popen(command, "w")));
	show_errno("exec", execv("/nowhere", argv));
	tell_schedule();
	if (arg)
		execv(self, argv);
	return arg;
}

/* Have all kernel threads the CPUs of the first one? */
static int is_taken_back(void)
{
	char line[256];
	int with, all;
	FILE *file = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "Cpus_allowed:", 13) == 0)
			break;
	fclose(file);
	count_tasks_with_line(line, &with, &all);
	return with == all;
}

/* The first thread has its own. */
static void a_started_program_is_scheduled_as_the_thread(void)
{
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		abort();
	finish(start(schedule_and_start, NULL));
	tell_schedule();
	printf("taken back: %d\n", is_taken_back());
	finish(start(schedule_and_start, self));
}

static const struct compare_case cases[] = {
	COMPARE(tell_schedule),
	COMPARE(a_started_program_is_scheduled_as_the_thread),
};

COMPARE_MAIN(cases)
