/* SPDX-License-Identifier: MIT */
/* tasks.h - the kernel threads of the process */
#ifndef WEFT_TESTS_TASKS_H
#define WEFT_TESTS_TASKS_H

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file of the kernel thread. Returns 0 if there is none. */
static inline int read_task(const char *task, const char *file, char *text, int most)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", task, file);
	f = fopen(path, "r");
	if (!f)
		return 0;
	text[0] = 0;
	(void)!fgets(text, most, f);
	fclose(f);
	text[strcspn(text, "\n")] = 0;
	return 1;
}

static inline int task_has_name(const char *task, const char *name)
{
	char text[32];

	return read_task(task, "comm", text, sizeof(text)) && strcmp(text, name) == 0;
}

static inline int count_tasks_with(int (*has)(const char *task, const void *arg),
				   const void *arg)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;

	if (!dir)
		abort();
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += e->d_name[0] != '.' && has(e->d_name, arg);
	closedir(dir);
	return n;
}

static inline int task_is_named(const char *task, const void *name)
{
	return !name || task_has_name(task, name);
}

/* Those of that name; NULL: all. */
static inline int count_tasks(const char *name)
{
	return count_tasks_with(task_is_named, name);
}

/* Blocked in it; one that runs has no number there. */
static inline int task_is_in(const char *task, const void *call)
{
	char text[32];

	return read_task(task, "syscall", text, sizeof(text)) &&
	       text[0] >= '0' && text[0] <= '9' && atol(text) == *(const long *)call;
}

/*
 * Until there are no more. Some may have been made for threads that were blocked on their
 * way into a wait; they end after a while.
 */
static inline void await_few_tasks(int few)
{
	while (count_tasks(NULL) > few)
		usleep(1000);
}

static inline int task_sleeps(pid_t id)
{
	char path[64], text[1024];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)id);
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		abort();
	fclose(f);
	return strncmp(strrchr(text, ')'), ") S", 3) == 0;
}

/* Until the thread of that id sleeps: in what it waits for, if it computes before. */
static inline void await_sleep_of(pid_t id)
{
	while (!task_sleeps(id))
		usleep(1000);
}

/* Until so many kernel threads are blocked in a system call. */
static inline void await_tasks_in(long call, int count)
{
	while (count_tasks_with(task_is_in, &call) < count)
		usleep(1000);
}

/*
 * How many kernel threads /proc shows with that line, and how many there are. One that
 * has ended meanwhile has no lines.
 */
static inline void count_tasks_with_line(const char *line, int *with, int *all)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;

	*with = *all = 0;
	while (dir && (e = readdir(dir))) {
		char path[300], text[256];
		int lines = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 e->d_name);
		file = e->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		while (fgets(text, sizeof(text), file)) {
			lines++;
			*with += strcmp(text, line) == 0;
		}
		*all += lines > 0;
		fclose(file);
	}
	if (dir)
		closedir(dir);
}

/* A kernel thread; 1 where there is none: the thread is weft's, or has ended. */
static inline int task_is_asleep(pid_t tid)
{
	char task[16], text[256], *end;

	snprintf(task, sizeof(task), "%d", (int)tid);
	if (!read_task(task, "stat", text, sizeof(text)))
		return 1;
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static inline void until_asleep(pid_t tid)
{
	while (!task_is_asleep(tid))
		sched_yield();
}

#endif
