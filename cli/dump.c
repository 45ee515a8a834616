/* SPDX-License-Identifier: MIT */
/*
 * cli/dump.c - weft dump: has a process print its threads
 *
 * A signal asks for the dump, and the process writes it into our pipe
 * (observe/asked.h). The default action of the signal is to ignore it, so other
 * processes do not notice it. A process of another user can open root's pipe only if
 * root has become that user.
 */
#include "cli.h"

#include <argp.h>
#include <dirent.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "observe/asked.h"
#include "os/signal/signal.h"

#define MONITOR		"weft-monitor"	/* a kernel thread of each runtime */
#define ASK_AGAIN_MS	500	/* a signal is lost if another one is pending */
#define TIMES		20

long weft_cli_pid(struct argp_state *state, const char *text)
{
	char *end;
	const long pid = strtol(text, &end, 10);

	if (*end || end == text || pid <= 0 || pid > INT_MAX)
		argp_error(state, "%s is not a process ID", text);
	return pid;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_END && state->arg_num != 1)
		argp_usage(state);
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	*(long *)state->input = weft_cli_pid(state, arg);
	return 0;
}

static int fail(long pid, const char *why)
{
	fprintf(stderr, "weft: %ld: %s\n", pid, why);
	return 1;
}

static int is_monitor(long pid, const char *task)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/task/%s/comm", pid, task);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	return strcmp(name, MONITOR "\n") == 0;
}

/* Does weft's runtime run in the process? -1: there is no such process. */
static int has_monitor(long pid)
{
	struct dirent *entry;
	int found = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	while (!found && (entry = readdir(tasks)))
		found = is_monitor(pid, entry->d_name);
	closedir(tasks);
	return found;
}

/* Reads the last numbers of the lines "Uid:" and "Gid:": the IDs that open files. */
static int read_user(long pid, unsigned *uid, unsigned *gid)
{
	char path[64], line[256];
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		found += sscanf(line, "Uid: %*u %*u %*u %u", uid) == 1 ||
			 sscanf(line, "Gid: %*u %*u %*u %u", gid) == 1;
	fclose(file);
	return found == 2 ? 0 : -1;
}

static int become_its_user(long pid)
{
	unsigned uid, gid;

	if (geteuid() != 0)
		return 0;
	if (read_user(pid, &uid, &gid) != 0)
		return -1;
	if (uid == 0)
		return 0;
	/*
	 * A process that has changed its user is not dumpable. Then no other process
	 * of that user may open its /proc/PID/fd, where the pipe is, nor may it itself.
	 */
	return setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
	       setresuid(uid, uid, uid) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0;
}

static int ask(long pid, int fd)
{
	const union sigval value = {
		.sival_ptr = (void *)(uintptr_t)
			     ((uint64_t)WEFTI_ASKED_MARK << 32 | (uint32_t)fd),
	};

	return sigqueue((pid_t)pid, wefti_os_preempt_signal(), value);
}

/* Returns 1 when the answer has begun, 0 if it does not, or -1. */
static int await_answer(long pid, const int *end)
{
	struct pollfd answer = { .fd = end[0], .events = POLLIN };

	for (int i = 0; i < TIMES; i++) {
		if (ask(pid, end[1]) != 0)
			return -1;
		if (poll(&answer, 1, ASK_AGAIN_MS) > 0)
			return 1;
	}
	return 0;
}

/* Copies to standard output until the other side has closed the pipe. */
static int copy(int from)
{
	char text[4096];
	ssize_t n;

	while ((n = read(from, text, sizeof(text))) > 0)
		if (fwrite(text, 1, (size_t)n, stdout) != (size_t)n)
			return 1;
	return n < 0 || fflush(stdout) != 0;
}

int weft_cli_dump(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse, .args_doc = "PID", .children = weft_cli_help,
		.doc = "Prints the threads of a process that runs on weft, with "
		       "their stacks. The process itself writes the dump.",
	};
	int end[2], found;
	long pid = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &pid);
	found = has_monitor(pid);
	if (found < 0)
		return fail(pid, errno == ENOENT ? "there is no such process" :
						   strerror(errno));
	if (!found)
		return fail(pid, "it has no threads of weft: it does not run on "
			    "weft, or has made no thread yet");
	if (become_its_user(pid) != 0 || pipe(end) != 0 ||
	    (found = await_answer(pid, end)) < 0)
		return fail(pid, strerror(errno));
	if (!found)
		return fail(pid, "no answer in 10 seconds: the process is stopped, "
			    "is in another container, or has WEFT_DUMP=off and "
			    "WEFT_DEADLOCK=off");
	close(end[1]);
	return copy(end[0]) ? fail(pid, strerror(errno)) : 0;
}
