/* SPDX-License-Identifier: MIT */
/*
 * ranks.h - what the examples for several ranks share: start, stop, errors
 *
 * A rank is one process of a program that mpirun starts. Its threads call MPI
 * as they like, so the program asks for MPI_THREAD_MULTIPLE. The threads are
 * Linux's or weft's, as either.h says.
 */
#ifndef WEFT_EXAMPLES_MPI_RANKS_H
#define WEFT_EXAMPLES_MPI_RANKS_H

#include <mpi.h>
#include <stddef.h>

/* MPI's own functions run on a thread's stack. */
#define EITHER_STACK	(256 * 1024)
#include "../either.h"

struct ranks {
	const char *program;	/* for messages */
	int rank, count;
};

extern struct ranks ranks;

/* Starts the threads and MPI, and sets `ranks`. */
void ranks_start(const char *program, int *argc, char ***argv);
void ranks_stop(void);

/* Ends all ranks with a message. */
__attribute__((noreturn, format(printf, 1, 2)))
void ranks_die(const char *what, ...);

/* What a call of MPI has returned: dies unless it is MPI_SUCCESS. */
void ranks_must(int error, const char *what);

/* What a call of either.h has returned: dies unless it is 0. */
void ranks_check(int error, const char *what);

/* Memory that is zero; dies if there is none. */
void *ranks_memory(size_t count, size_t bytes);

/* A number of the command line. Ends all ranks with status 2 if it is wrong. */
int ranks_number(const char *text, int least, int most);

#endif
