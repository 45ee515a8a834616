/* SPDX-License-Identifier: MIT */
/* trapped.h - whether the kernel can tell others of a library's own system calls */
#ifndef WEFT_TESTS_TRAPPED_H
#define WEFT_TESTS_TRAPPED_H

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRAPPED_PRCTL	59	/* PR_SET_SYSCALL_USER_DISPATCH */
#define TRAPPED_FROM	2l	/* only those from a range */

/* A child asks it. */
static inline int inline_calls_are_trapped(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(prctl(TRAPPED_PRCTL, TRAPPED_FROM, 4096l, 4096l, NULL) ==
		      0);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

#endif
