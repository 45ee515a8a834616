/* SPDX-License-Identifier: MIT */
/* machine.c - what the figures were measured on */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

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
