/* SPDX-License-Identifier: MIT */
/*
 * plan9/exec.c - other programs: threadspawn and its kin, threadwaitchan
 *
 * Each child has a thread of weft that waits for it and sends its end to the channel. The
 * thread belongs to no proc: the program does not wait for it, and a full channel holds
 * up no other thread.
 */
#include "plan9.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/plan9/libc.h>
#include <weft/plan9/thread.h>
#include <weft/process.h>

static struct weft_mutex lock_of_ends;
static struct weft_plan9_channel *ends;

struct weft_plan9_channel *weft_plan9_threadwaitchan(void)
{
	plan9_must(weft_mutex_lock(&lock_of_ends), "threadwaitchan");
	if (!ends) {
		ends = weft_plan9_chancreate(sizeof(Waitmsg *), 4);
		if (ends)
			weft_plan9_chansetname(ends, "threadwaitchan");
	}
	plan9_must(weft_mutex_unlock(&lock_of_ends), "threadwaitchan");
	return ends;
}

static ulong ms_of(struct timeval t)
{
	return (ulong)t.tv_sec * 1000 + (ulong)t.tv_usec / 1000;
}

struct child {
	pid_t pid;
	int64_t begun;
};

/* NULL: there is no memory. */
static Waitmsg *message(const struct child *c, int status,
			const struct rusage *usage)
{
	Waitmsg *m = malloc(sizeof(*m) + 32);

	if (!m)
		return NULL;
	*m = (Waitmsg){
		.pid = c->pid, .msg = (char *)(m + 1),
		.time = { ms_of(usage->ru_utime), ms_of(usage->ru_stime),
			  (ulong)((weft_clock() - c->begun) / 1000000) },
	};
	*m->msg = 0;
	if (WIFSIGNALED(status))
		weft_plan9_snprint(m->msg, 32, "signal: %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		weft_plan9_snprint(m->msg, 32, "%d", WEXITSTATUS(status));
	return m;
}

static void *await_child(void *arg)
{
	struct child *c = arg;
	struct rusage usage;
	int status, error;
	struct weft_plan9_channel *to;
	Waitmsg *m = NULL;

	error = weft_waitpid_until(c->pid, &status, &usage, WEFT_FOREVER);
	(void)!weft_mutex_lock(&lock_of_ends);
	to = ends;
	(void)!weft_mutex_unlock(&lock_of_ends);
	if (!error && to)
		m = message(c, status, &usage);
	if (m && weft_chan_send(plan9_chan_of(to), &m, WEFT_FOREVER) != 0)
		free(m);
	free(c);
	return NULL;
}

static void close_given(const int fd[3])
{
	for (int i = 0; i < 3; i++) {
		int is_again = 0;

		for (int k = 0; k < i; k++)
			is_again |= fd[k] == fd[i];
		if (!is_again)
			(void)close(fd[i]);
	}
}

static int is_folder(const char *path)
{
	struct stat st;

	return fstatat(AT_FDCWD, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* Returns the child's id, or a negative errno value. */
static int spawn(int fd[3], const char *file, char *argv[], const char *dir)
{
	static const struct weft_attr attr = { .flags = WEFT_DETACHED,
					       .name = "waits for a child" };
	struct weft_process how = {
		.fds = fd, .flags = WEFT_PROCESS_CLOSE,
		.dir = dir && is_folder(dir) ? dir : NULL,
	};
	struct child *c = malloc(sizeof(*c));
	int error = c ? 0 : -ENOMEM, pid;

	if (!error)
		error = weft_process_spawn(&c->pid, file, argv, &how);
	if (error) {
		free(c);
		return error;
	}
	close_given(fd);
	c->begun = weft_clock();
	pid = c->pid;
	if (weft_spawn(NULL, &attr, await_child, c) != 0)
		free(c);		/* it runs, and its end is not told */
	return pid;
}

int weft_plan9_threadspawnd(int fd[3], const char *file, char *argv[],
			    const char *dir)
{
	int pid;

	plan9_give_turn();
	pid = spawn(fd, file, argv, dir);
	plan9_take_turn();
	if (pid >= 0)
		return pid;
	errno = -pid;
	return -1;
}

int weft_plan9_threadspawn(int fd[3], const char *file, char *argv[])
{
	return weft_plan9_threadspawnd(fd, file, argv, NULL);
}

/* Sends the id, and ends the thread unless there is no child; errno is then error. */
static void told(struct weft_plan9_channel *to, int pid, int error)
{
	if (to)
		weft_plan9_sendul(to, (unsigned long)pid);
	if (pid >= 0)
		weft_plan9_threadexits(NULL);
	errno = error;
}

void weft_plan9_threadexec(struct weft_plan9_channel *to, int fd[3],
			   const char *file, char *argv[])
{
	int pid = weft_plan9_threadspawn(fd, file, argv);

	told(to, pid, errno);
}

/* The arguments up to NULL, as an array; NULL: there is no memory. */
static char **collect(va_list args)
{
	va_list counted;
	char **argv;
	size_t n = 1;

	va_copy(counted, args);
	while (va_arg(counted, char *))
		n++;
	va_end(counted);
	argv = calloc(n, sizeof(*argv));
	for (size_t i = 0; argv && i < n; i++)
		argv[i] = va_arg(args, char *);
	return argv;
}

/* threadspawn(); frees argv, which may be NULL, and keeps errno. */
static int spawn_collected(int fd[3], const char *file, char **argv)
{
	int pid = argv ? weft_plan9_threadspawn(fd, file, argv) : -1;
	int error = errno;

	free(argv);
	errno = error;
	return pid;
}

int weft_plan9_threadspawnl(int fd[3], const char *file, ...)
{
	char **argv;
	va_list args;

	va_start(args, file);
	argv = collect(args);
	va_end(args);
	return spawn_collected(fd, file, argv);
}

void weft_plan9_threadexecl(struct weft_plan9_channel *to, int fd[3],
			    const char *file, ...)
{
	char **argv;
	va_list args;
	int pid;

	va_start(args, file);
	argv = collect(args);
	va_end(args);
	pid = spawn_collected(fd, file, argv);
	told(to, pid, errno);
}
