/* SPDX-License-Identifier: MIT */
/* plan9/process.c - the process: exec, alarm, its user, its machine, its environment */
#include "plan9.h"

#include <pwd.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

/* In place of the whole program, and found through PATH. Returns only with an error. */
int weft_plan9_exec(const char *file, char *argv[])
{
	return execvp(file, argv);
}

/* In ms; 0 calls it off. Returns what was left of the alarm before. */
long weft_plan9_alarm(ulong ms)
{
	struct itimerval next = {
		.it_value = { .tv_sec = (time_t)(ms / 1000),
			      .tv_usec = (suseconds_t)(ms % 1000 * 1000) },
	}, before;

	if (setitimer(ITIMER_REAL, &next, &before) != 0)
		return -1;
	return before.it_value.tv_sec * 1000 + before.it_value.tv_usec / 1000;
}

/* One for each thread. The next call overwrites it. */
char *weft_plan9_getuser(void)
{
	static _Thread_local char name[64];
	char room[1024];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(getuid(), &entry, room, sizeof(room), &found) == 0 && found)
		weft_plan9_snprint(name, sizeof(name), "%s", found->pw_name);
	else
		weft_plan9_snprint(name, sizeof(name), "%ud", getuid());
	return name;
}

char *weft_plan9_sysname(void)
{
	static _Thread_local char name[256];

	if (gethostname(name, sizeof(name) - 1) != 0)
		weft_plan9_snprint(name, sizeof(name), "gnot");
	return name;
}

int weft_plan9_putenv(const char *name, const char *value)
{
	return setenv(name, value, 1);
}
