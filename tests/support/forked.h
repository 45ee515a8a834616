/* SPDX-License-Identifier: MIT */
/* forked.h - a scenario in a process of its own: how it ends, what it writes */
#ifndef WEFT_TESTS_FORKED_H
#define WEFT_TESTS_FORKED_H

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* In a child an assertion ends it; this is on its standard error. */
#define must(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: %s\n", __FILE__,	\
				__LINE__, #cond);			\
			_exit(1);					\
		}							\
	} while (0)

/* What the last child wrote to its standard error. */
static char said[4096];

/* Returns its wait status; 0: fn returned. */
static inline int in_child(void (*fn)(void))
{
	size_t length = 0;
	ssize_t n;
	int fd[2], status;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		signal(SIGABRT, SIG_DFL);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		close(fd[1]);
		fn();
		_exit(0);
	}
	close(fd[1]);
	while ((n = read(fd[0], said + length,
			 sizeof(said) - 1 - length)) > 0)
		length += (size_t)n;
	said[length] = 0;
	close(fd[0]);
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	return status;
}

/* The child's own must() all held, and it wrote nothing. */
static inline void child_is_well(void (*fn)(void))
{
	int status = in_child(fn);

	if (status != 0 || said[0])
		printf("    wait status %d, said: %s\n", status, said);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_STRING_EQUAL(said, "");
}

#endif
