/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/spawned.c - collective calls with processes that were started by MPI_Comm_spawn()
 *
 * For 2 ranks, which start 2 more of the same program. Under weft run --mpi these are without
 * weft. Threads of both sides talk over the communicator between them, and over what is made
 * of it. Beside them one waits for a message of the own rank. The last line is "N checks, 0
 * failed" on each of the four.
 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

#define THREADS	4
#define IGNORE	MPI_STATUS_IGNORE

static MPI_Comm between[THREADS];
static int is_parent;

static void meet(int i)
{
	MPI_Comm all, twin;
	int sum = 0, one = 1, in = -1, root = is_parent ? MPI_ROOT : 0, seven = 7;

	CHECK(MPI_Barrier(between[i]) == MPI_SUCCESS);
	CHECK(MPI_Sendrecv(&i, 1, MPI_INT, rank, i, &in, 1, MPI_INT, rank, i, between[i],
			   IGNORE) == MPI_SUCCESS && in == i);
	if (is_parent && rank == 1)
		root = MPI_PROC_NULL;
	CHECK(MPI_Bcast(is_parent ? &seven : &in, 1, MPI_INT, root, between[i]) == 0);
	CHECK(is_parent || in == 7);
	CHECK(MPI_Intercomm_merge(between[i], !is_parent, &all) == MPI_SUCCESS);
	CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all) == 0 && sum == 4);
	CHECK(MPI_Comm_dup(all, &twin) == MPI_SUCCESS);
	CHECK(MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, twin) == MPI_SUCCESS);
	CHECK(sum == rank + 1 + (is_parent ? 0 : 2));
	MPI_Comm_free(&twin);
	MPI_Comm_free(&all);
}

static void *run(void *arg)
{
	const int i = (int)(long)arg;
	int x = rank, y = -1;

	if (i < THREADS) {
		meet(i);
		return NULL;
	}
	MPI_Recv(&y, 1, MPI_INT, rank, i, MPI_COMM_WORLD, IGNORE);
	CHECK(y == 5);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(y == 1);
	return NULL;
}

int main(int argc, char **argv)
{
	MPI_Comm first;
	int level, five = 5, errors[2];

	threads_begin(argc > 1 && strcmp(argv[1], "light") == 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&first);
	is_parent = first == MPI_COMM_NULL;
	if (is_parent)
		CHECK(MPI_Comm_spawn(argv[0], argc > 1 ? argv + 1 : MPI_ARGV_NULL, 2,
				     MPI_INFO_NULL, 0, MPI_COMM_WORLD, &first, errors) == 0);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(first, &between[i]);
	threads_spawn(THREADS + 1, run);
	usleep(2000);
	MPI_Send(&five, 1, MPI_INT, rank, THREADS, MPI_COMM_WORLD);
	threads_join(THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&between[i]);
	MPI_Comm_disconnect(&first);
	MPI_Finalize();
	threads_end();
	printf("%d checks, %d failed\n", checks, failed);
	return failed != 0;
}
