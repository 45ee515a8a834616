/* SPDX-License-Identifier: MIT */
/*
 * cli/ask.c - asks a process that runs on weft for something
 *
 * A signal asks, and the process writes the answer into our pipe (observe/asked.h). The
 * default action of the signal is to ignore it, so other processes do not notice it. A
 * process of another user can open root's pipe only if root has become that user.
 */
#include "cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "observe/asked.h"
#include "os/signal/signal.h"

#define MONITOR		"weft-monitor"	/* a kernel thread of each runtime */
#define ASK_AGAIN_MS	500	/* a signal is lost if another one is pending */
#define SILENCE_MS	10000	/* within an answer */
#define TIMES		20
#define DOUBT		2	/* times without an answer, then the age is looked at */
#define MORE		3	/* times, after an older weft's dump */

long weft_cli_pid(struct argp_state *state, const char *text)
{
	char *end;
	const long pid = strtol(text, &end, 10);

	if (*end || end == text || pid <= 0 || pid > INT_MAX)
		argp_error(state, "%s is not a process ID", text);
	return pid;
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

int weft_cli_has_monitor(long pid)
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

static FILE *open_status(long pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	return fopen(path, "re");
}

static int is_zombie(long pid)
{
	FILE *file = open_status(pid);
	char line[256];
	int found = 0;

	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file))
		found = strncmp(line, "State:\tZ", 8) == 0;
	fclose(file);
	return found;
}

/* A zombie with a monitor has lost its first kernel thread alone. */
int weft_cli_has_ended(long pid)
{
	return (kill((pid_t)pid, 0) != 0 && errno == ESRCH) ||
	       (is_zombie(pid) && weft_cli_has_monitor(pid) <= 0);
}

/* Reads the last numbers of the lines "Uid:" and "Gid:": the IDs that open files. */
static int read_user(long pid, unsigned *uid, unsigned *gid)
{
	FILE *file = open_status(pid);
	char line[256];
	int found = 0;

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

int weft_cli_ask_fails(long pid, const char *why)
{
	fprintf(stderr, "weft: %ld: %s\n", pid, why);
	return 1;
}

int weft_cli_ask_begin(long pid)
{
	const int found = weft_cli_has_monitor(pid);

	if (found < 0)
		return weft_cli_ask_fails(pid, errno == ENOENT ?
					  "there is no such process" : strerror(errno));
	if (!found)
		return weft_cli_ask_fails(pid, "it has no threads of weft: it does not "
					  "run on weft, or has made no thread yet");
	return become_its_user(pid) == 0 ? 0 : weft_cli_ask_fails(pid, strerror(errno));
}

/* The descriptors by which we ask. */
struct asker {
	long pid;
	int request;		/* the file of the request; 0: a dump */
	int answer[2];
	int age[2];		/* the pipe of a dump, which an older weft gives too */
};

static int send(long pid, int request, int answer)
{
	const union sigval value = {
		.sival_ptr = (void *)(uintptr_t)wefti_asked_value(request, answer),
	};

	return sigqueue((pid_t)pid, wefti_os_preempt_signal(), value);
}

/* The descriptors stay open in this process alone. */
static int open_all(struct asker *a, const char *request)
{
	if (pipe2(a->answer, O_CLOEXEC) != 0 || pipe2(a->age, O_CLOEXEC) != 0)
		return -1;
	if (request) {
		const ssize_t length = (ssize_t)strlen(request);

		a->request = memfd_create("weft-request", MFD_CLOEXEC);
		if (a->request < 0 || write(a->request, request, (size_t)length) != length)
			return -1;
	}
	errno = EMFILE;
	return a->request < WEFTI_ASKED_FDS && a->age[1] < WEFTI_ASKED_FDS ? 0 : -1;
}

static void close_all(struct asker *a)
{
	const int fds[] = { a->request, a->answer[1], a->age[0], a->age[1] };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] > 0)
			close(fds[i]);
}

/* Reads the dump to its end, since the process waits for its reader. */
static void drain(struct asker *a)
{
	char text[4096];

	close(a->age[1]);
	a->age[1] = 0;
	while (weft_cli_answer(a->age[0], text, sizeof(text)) > 0)
		;
}

/*
 * Returns 0 when the answer has begun, ENOSYS: only a dump is given; ETIME: nothing is;
 * or the error of the signal.
 */
static int await_answer(struct asker *a)
{
	struct pollfd fds[] = {
		{ .fd = a->answer[0], .events = POLLIN },
		{ .fd = a->age[0], .events = POLLIN },
	};
	int is_old = 0;

	for (int i = 0; i < TIMES; i++) {
		if (send(a->pid, a->request, a->answer[1]) != 0)
			return errno;
		if (poll(fds, 2, ASK_AGAIN_MS) > 0 && fds[0].revents)
			return 0;
		if (fds[1].revents) {
			drain(a);
			is_old = 1;
			i = TIMES - 1 - MORE;
			fds[1] = (struct pollfd){ .fd = -1 };
		} else if (a->request && i >= DOUBT && !is_old) {
			/* In turns: of two pending signals one would be lost. */
			(void)send(a->pid, 0, a->age[1]);
			(void)poll(fds, 2, ASK_AGAIN_MS);
			i++;
		}
	}
	return is_old ? ENOSYS : ETIME;
}

static const char *reason(int error)
{
	switch (error) {
	case ENOSYS:
		return weft_cli_other_weft;
	case ETIME:
		return "no answer in 10 seconds: the process is stopped, is in another "
		       "container, has WEFT_DUMP=off and WEFT_DEADLOCK=off, or is "
		       "set-user-ID";
	case ESRCH:
		return "there is no such process";
	default:
		return strerror(error);
	}
}

const char weft_cli_other_weft[] =
	"its weft is of another version than this command, and does not know the request";

int weft_cli_ask(long pid, const char *request)
{
	struct asker a = { .pid = pid };
	int error = open_all(&a, request) == 0 ? await_answer(&a) : errno;

	close_all(&a);
	if (!error)
		return a.answer[0];
	if (a.answer[0] > 0)
		close(a.answer[0]);
	(void)weft_cli_ask_fails(pid, reason(error));
	return -1;
}

int weft_cli_is_refusal(const char *text, size_t bytes)
{
	const size_t length = sizeof(WEFTI_ASKED_UNKNOWN) - 1;

	return bytes >= length && memcmp(text, WEFTI_ASKED_UNKNOWN, length) == 0;
}

ssize_t weft_cli_answer(int from, char *text, size_t most)
{
	struct pollfd fd = { .fd = from, .events = POLLIN };
	ssize_t n;

	do
		n = poll(&fd, 1, SILENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ETIME;
	if (n <= 0)
		return -1;
	do
		n = read(from, text, most);
	while (n < 0 && errno == EINTR);
	return n;
}

const char *weft_cli_no_more(int error)
{
	return error == ETIME ? "nothing came for 10 seconds in the middle of its answer: "
				"the process is stopped" : strerror(error);
}
