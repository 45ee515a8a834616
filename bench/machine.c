/* SPDX-License-Identifier: MIT */
/* machine.c - what the figures were measured on */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "results.h"

static void read_cpu(char *to, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(to, size, "unknown");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		/* AArch64 kernels name no model, only numbers. */
		if (!value || (strncmp(line, "model name", 10) &&
			       strncmp(line, "CPU part", 8)))
			continue;
		value[strcspn(value, "\n")] = 0;
		snprintf(to, size, "%s", value + 1 + strspn(value + 1, " "));
		break;
	}
	fclose(f);
}

void bench_machine_read(struct bench_machine *m)
{
	struct utsname uts;

	memset(m, 0, sizeof(*m));
	read_cpu(m->cpu, sizeof(m->cpu));
	if (!uname(&uts))
		snprintf(m->kernel, sizeof(m->kernel), "%.20s %.60s %.20s",
			 uts.sysname, uts.release, uts.machine);
#ifdef __clang__
	snprintf(m->compiler, sizeof(m->compiler), "%s", __VERSION__);
#else
	snprintf(m->compiler, sizeof(m->compiler), "gcc %s", __VERSION__);
#endif
	m->cpus = bench_cpus();
	if (getloadavg(&m->load, 1) != 1)
		m->load = -1;
}

/* Seconds of all CPUs since the system started: in use, and altogether. */
static int read_cpu_times(double *busy, double *all)
{
	FILE *f = fopen("/proc/stat", "r");
	double ticks = (double)sysconf(_SC_CLK_TCK);
	unsigned long long t[8];
	int n;

	if (!f)
		return -1;
	/* user, nice, system, idle, iowait, irq, softirq, steal */
	n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0],
		   &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
	fclose(f);
	if (n != 8)
		return -1;
	*busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / ticks;
	*all = *busy + (double)(t[3] + t[4]) / ticks;
	return 0;
}

static double own_seconds(int who)
{
	struct rusage u;

	if (getrusage(who, &u))
		return 0;
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

double bench_machine_others(void)
{
	static double busy0, all0, own0;
	double own = own_seconds(RUSAGE_SELF) + own_seconds(RUSAGE_CHILDREN);
	double busy, all, share;

	if (read_cpu_times(&busy, &all))
		return 0;
	if (all0 == 0) {
		busy0 = busy;
		all0 = all;
		own0 = own;
		return 0;
	}
	if (all <= all0)
		return 0;
	share = ((busy - busy0) - (own - own0)) / (all - all0);
	return share < 0 ? 0 : share;
}
