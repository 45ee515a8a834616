/* SPDX-License-Identifier: MIT */
/* tests/mpi/check.h - checks that are counted, of any thread of a rank */
#ifndef WEFT_TESTS_MPI_CHECK_H
#define WEFT_TESTS_MPI_CHECK_H

#include <stdio.h>

static int rank, checks, failed;

#define CHECK(x) check((x) != 0, #x, __FILE__, __LINE__)

static void check(int ok, const char *what, const char *file, int line)
{
	__atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED);
	if (ok)
		return;
	__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "rank %d: %s:%d: not so: %s\n", rank, file, line, what);
}

#endif
