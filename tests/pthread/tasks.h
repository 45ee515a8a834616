/* SPDX-License-Identifier: MIT */
/* tasks.h - the kernel threads of the process */
#ifndef WEFT_TESTS_TASKS_H
#define WEFT_TESTS_TASKS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int task_has_name(const char *task, const char *name)
{
	char path[300], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	f = fopen(path, "r");
	if (!f)
		return 0;
	(void)!fgets(text, sizeof(text), f);
	fclose(f);
	text[strcspn(text, "\n")] = 0;
	return strcmp(text, name) == 0;
}

/* Those of that name; NULL: all. */
static inline int count_tasks(const char *name)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;

	if (!dir)
		abort();
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += e->d_name[0] != '.' &&
		     (!name || task_has_name(e->d_name, name));
	closedir(dir);
	return n;
}

#endif
