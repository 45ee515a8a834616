/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/too_long.c - a request that fails takes no other one along
 *
 * Many threads of both ranks send and receive, and some messages are too long. So requests
 * that fail and sends that are pending are in one table. The receives of a pair come in the
 * order of its sends, so each result is known. One thread computes, which delays each look.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>
#include <weft/mpi.h>

#include "check.h"

#define WORLD	MPI_COMM_WORLD
#define PAIRS	40
#define ROUNDS	10

static int other;
static _Atomic int over;

static int is_too_long(int round, int pair)
{
	return (round * 7 + pair) % 3 == 0;
}

static void *sends(void *arg)
{
	const int pair = (int)(intptr_t)arg;
	unsigned seed = (unsigned)(77 * pair + rank);

	for (int i = 0; i < ROUNDS; i++) {
		int out[2] = { i * 1000 + pair, 0 };

		if (rand_r(&seed) % 3 == 0)
			weft_sleep(rand_r(&seed) % 300000);
		CHECK(MPI_Send(out, is_too_long(i, pair) ? 2 : 1, MPI_INT, other, pair,
			       WORLD) == MPI_SUCCESS);
	}
	return NULL;
}

static int receive(int *in, int pair, int begins)
{
	MPI_Request r;

	if (!begins)
		return MPI_Recv(in, 1, MPI_INT, other, pair, WORLD, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 1, MPI_INT, other, pair, WORLD, &r);
	return weft_mpi_wait(&r, MPI_STATUS_IGNORE, WEFT_FOREVER);
}

static void *receives(void *arg)
{
	const int pair = (int)(intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		int in = -1, class = 0, error = receive(&in, pair, i & 1);

		if (!is_too_long(i, pair)) {
			CHECK(error == MPI_SUCCESS && in == i * 1000 + pair);
			continue;
		}
		CHECK(error > 0);
		if (error > 0)
			MPI_Error_class(error, &class);
		CHECK(class == MPI_ERR_TRUNCATE);
	}
	return NULL;
}

static void *computes(void *arg)
{
	while (!over)
		;
	return arg;
}

static uint64_t start(void *(*run)(void *), intptr_t arg)
{
	uint64_t id;

	if (weft_spawn(&id, NULL, run, (void *)arg) != 0)
		abort();
	return id;
}

int main(int argc, char **argv)
{
	uint64_t id[2 * PAIRS], beside;
	int level;

	if (weft_start(NULL) != 0)
		return 1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	other = rank ^ 1;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	beside = start(computes, 0);
	for (intptr_t i = 0; i < PAIRS; i++) {
		id[2 * i] = start(receives, i);
		id[2 * i + 1] = start(sends, i);
	}
	for (int i = 0; i < 2 * PAIRS; i++)
		CHECK(weft_join(id[i], NULL) == 0);
	over = 1;
	CHECK(weft_join(beside, NULL) == 0);
	MPI_Barrier(WORLD);
	MPI_Finalize();
	printf("%d checks, %d failed\n", checks, failed);
	return weft_stop() != 0 || failed;
}
