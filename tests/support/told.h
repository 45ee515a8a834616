/* SPDX-License-Identifier: MIT */
/* told.h - what is written to standard error meanwhile, up to a pipe's room */
#ifndef WEFT_TESTS_TOLD_H
#define WEFT_TESTS_TOLD_H

#include <unistd.h>

#include "support.h"

static char told[4096];
static int told_saved, told_pipe[2];

static inline void told_begin(void)
{
	told_saved = dup(STDERR_FILENO);
	CU_ASSERT_FATAL(told_saved >= 0 && pipe(told_pipe) == 0);
	dup2(told_pipe[1], STDERR_FILENO);
	close(told_pipe[1]);
}

/* It is in told then. */
static inline void told_end(void)
{
	ssize_t n;

	dup2(told_saved, STDERR_FILENO);
	close(told_saved);
	n = read(told_pipe[0], told, sizeof(told) - 1);
	told[n > 0 ? n : 0] = 0;
	close(told_pipe[0]);
}

#endif
