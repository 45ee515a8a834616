/* SPDX-License-Identifier: MIT */
/* child.h - a scenario in a process of its own, and what it wrote */
#ifndef WEFT_TESTS_OBSERVE_CHILD_H
#define WEFT_TESTS_OBSERVE_CHILD_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/dump.h"
#include "os/object/unwind.h"
#include "threads.h"

struct child {
	pid_t pid;
	int out;		/* its standard error */
	int in;			/* tells it to go on: child_wait */
	int status;
	size_t used;
	char text[1 << 18];
};

static struct child child;	/* one at a time */

/* In the child: until the parent says so. */
static inline void child_wait(void)
{
	char c;

	must(read(STDIN_FILENO, &c, 1) == 1);
}

/* Not inlined: dumps are to show the scenario by name. */
NOINLINE static void child_begin(void (*scenario)(void))
{
	int out[2], in[2];

	CU_ASSERT_EQUAL_FATAL(pipe(out), 0);
	CU_ASSERT_EQUAL_FATAL(pipe(in), 0);
	fflush(NULL);
	child = (struct child){ .pid = fork(), .out = out[0], .in = in[1] };
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDERR_FILENO);
		close(in[1]);
		close(out[0]);
		scenario();
		_exit(0);
	}
	close(out[1]);
	close(in[0]);
	CU_ASSERT_FATAL(child.pid > 0);
}

static inline int child_said(const char *what)
{
	return strstr(child.text, what) != NULL;
}

/* Reads what it writes next. Returns 0 if it has ended. */
static inline int child_read(void)
{
	ssize_t n = read(child.out, child.text + child.used,
			 sizeof(child.text) - 1 - child.used);

	if (n <= 0)
		return 0;
	child.used += (size_t)n;
	child.text[child.used] = 0;
	return 1;
}

/* Reads until it has written `what`, or has ended. */
static inline int child_expect(const char *what)
{
	while (!child_said(what))
		if (!child_read())
			return 0;
	return 1;
}

/* What it has written so far is no more looked at. */
static inline void child_forget(void)
{
	child.used = 0;
	child.text[0] = 0;
}

static inline void child_go(void)
{
	CU_ASSERT_EQUAL(write(child.in, "", 1), 1);
}

static inline void child_signal(int signal)
{
	CU_ASSERT_EQUAL(kill(child.pid, signal), 0);
}

/* Reads to the end; child.status is that of waitpid(). */
static inline void child_end(void)
{
	child_expect("\n\n\n no such text");
	waitpid(child.pid, &child.status, 0);
	close(child.out);
	close(child.in);
}

static inline void child_kill(void)
{
	child_signal(SIGKILL);
	child_end();
}

#endif
