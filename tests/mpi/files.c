/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/files.c - files and windows of MPI, used by many threads at once
 *
 * As calls.c. Reads and writes of files park their thread. Calls on windows have no form
 * that parks, except for MPI_Win_wait(): here they are made by several threads at once, and
 * beside threads that wait for messages. The last line is "N checks, 0 failed" on each rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

#define THREADS	4
#define WORLD	MPI_COMM_WORLD
#define IGNORE	MPI_STATUS_IGNORE
#define INTS	256

static int ranks, next, last;
static MPI_Comm comms[THREADS];
static MPI_File files[THREADS];
static MPI_Win windows[THREADS];
static int *shown[THREADS];	/* the memory of the windows */

static int value(int of, int i, int k)
{
	return of * 1000000 + i * 10000 + k;
}

static void fill(int *to, int i, int from)
{
	for (int k = 0; k < INTS; k++)
		to[k] = value(rank, i, from + k);
}

/* Does `in' hold what rank `of' has written? */
static int is_of(const int *in, int of, int i, int from)
{
	for (int k = 0; k < INTS; k++)
		if (in[k] != value(of, i, from + k))
			return 0;
	return 1;
}

/* --- files -------------------------------------------------------------- */

static MPI_Offset place(int of)
{
	return (MPI_Offset)of * INTS * 4;
}

static void *writes(void *arg)
{
	const int i = (int)(long)arg;
	int out[INTS], n = 0;
	MPI_Status status;

	fill(out, i, 0);
	CHECK(MPI_File_write_at(files[i], place(rank), out, INTS, MPI_INT, &status) ==
	      MPI_SUCCESS);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == INTS);
	return NULL;
}

/*
 * In Open MPI it fails while any request of a file is pending in the rank, and a collective
 * write makes one. So no thread makes such a write meanwhile.
 */
static void *syncs(void *arg)
{
	const int i = (int)(long)arg;

	CHECK(MPI_File_sync(files[i]) == MPI_SUCCESS);
	CHECK(MPI_Barrier(comms[i]) == MPI_SUCCESS);
	CHECK(MPI_File_sync(files[i]) == MPI_SUCCESS);
	return NULL;
}

static void *reads_and_writes_with_all(void *arg)
{
	const int i = (int)(long)arg;
	int out[INTS], in[INTS];
	MPI_Status status;

	CHECK(MPI_File_read_at(files[i], place(next), in, INTS, MPI_INT, &status) ==
	      MPI_SUCCESS);
	CHECK(is_of(in, next, i, 0));
	fill(out, i, 5);
	CHECK(MPI_File_write_at_all(files[i], place(ranks + rank), out, INTS, MPI_INT,
				    &status) == 0);
	return NULL;
}

static void *reads_with_all_and_seeks(void *arg)
{
	const int i = (int)(long)arg;
	const MPI_Offset own = place(rank);
	MPI_File f = files[i];
	int out[INTS], in[INTS], n = 0;
	MPI_Status status;

	CHECK(MPI_File_read_at_all(f, place(ranks + next), in, INTS, MPI_INT, &status) == 0);
	CHECK(is_of(in, next, i, 5));
	CHECK(MPI_File_seek(f, own, MPI_SEEK_SET) == MPI_SUCCESS);
	fill(out, i, 9);
	CHECK(MPI_File_write(f, out, INTS, MPI_INT, &status) == MPI_SUCCESS);
	CHECK(MPI_File_seek(f, own, MPI_SEEK_SET) == MPI_SUCCESS);
	CHECK(MPI_File_read(f, in, INTS, MPI_INT, &status) == MPI_SUCCESS);
	CHECK(is_of(in, rank, i, 9));
	CHECK(MPI_File_seek(f, own, MPI_SEEK_SET) == MPI_SUCCESS);
	fill(out, i, 11);
	CHECK(MPI_File_write_all(f, out, INTS, MPI_INT, &status) == MPI_SUCCESS);
	CHECK(MPI_File_seek(f, own, MPI_SEEK_SET) == MPI_SUCCESS);
	CHECK(MPI_File_read_all(f, in, INTS, MPI_INT, &status) == MPI_SUCCESS);
	CHECK(is_of(in, rank, i, 11));
	/* At the end of the file there is nothing. */
	CHECK(MPI_File_read_at(f, 1 << 20, in, INTS, MPI_INT, &status) == MPI_SUCCESS);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == 0);
	return NULL;
}

/* A write that fails ends as it does without weft, which is no error for Open MPI. */
static void write_to_a_full_disk(void)
{
	MPI_File f;
	int failed[2], out[INTS];
	MPI_Status status;

	fill(out, 0, 0);
	CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL,
			    &f) == MPI_SUCCESS);
	failed[0] = MPI_File_write(f, out, INTS, MPI_INT, &status) != MPI_SUCCESS;
	failed[1] = PMPI_File_write(f, out, INTS, MPI_INT, &status) != MPI_SUCCESS;
	CHECK(failed[0] == failed[1]);
	CHECK(MPI_File_close(&f) == MPI_SUCCESS);
}

static void try_files(const char *folder)
{
	char name[4096];

	for (int i = 0; i < THREADS; i++) {
		snprintf(name, sizeof(name), "%s/file-%d", folder, i);
		CHECK(MPI_File_open(comms[i], name, MPI_MODE_CREATE | MPI_MODE_RDWR |
				    MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
				    &files[i]) == MPI_SUCCESS);
	}
	threads_run(THREADS, writes);
	threads_run(THREADS, syncs);
	threads_run(THREADS, reads_and_writes_with_all);
	threads_run(THREADS, syncs);
	threads_run(THREADS, reads_with_all_and_seeks);
	write_to_a_full_disk();
	for (int i = 0; i < THREADS; i++)
		CHECK(MPI_File_close(&files[i]) == MPI_SUCCESS);
}

/* --- windows ------------------------------------------------------------ */

static void fences(int i)
{
	int out[INTS];

	fill(out, i, 1);
	CHECK(MPI_Win_fence(0, windows[i]) == MPI_SUCCESS);
	CHECK(MPI_Put(out, INTS, MPI_INT, next, 0, INTS, MPI_INT, windows[i]) == MPI_SUCCESS);
	CHECK(MPI_Win_fence(0, windows[i]) == MPI_SUCCESS);
	CHECK(is_of(shown[i], last, i, 1));
	CHECK(MPI_Win_fence(0, windows[i]) == MPI_SUCCESS);
}

/* Each rank adds to a sum that rank 0 shows. */
static void locks(int i)
{
	int one = rank + 1, sum = 0;

	if (rank == 0) {
		CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[i]) == MPI_SUCCESS);
		shown[i][0] = 0;
		CHECK(MPI_Win_unlock(0, windows[i]) == MPI_SUCCESS);
	}
	MPI_Barrier(comms[i]);
	CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[i]) == MPI_SUCCESS);
	CHECK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, windows[i]) == 0);
	CHECK(MPI_Win_unlock(0, windows[i]) == MPI_SUCCESS);
	MPI_Barrier(comms[i]);
	CHECK(MPI_Win_lock_all(0, windows[i]) == MPI_SUCCESS);
	CHECK(MPI_Get(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, windows[i]) == MPI_SUCCESS);
	CHECK(MPI_Win_flush(0, windows[i]) == MPI_SUCCESS);
	CHECK(sum == ranks * (ranks + 1) / 2);
	CHECK(MPI_Win_unlock_all(windows[i]) == MPI_SUCCESS);
	MPI_Barrier(comms[i]);
}

/* Rank 1 puts into the memory of rank 0, which waits for the end of that. */
static void posts(int i)
{
	MPI_Group all, other;
	int out[INTS], of = rank ^ 1;

	fill(out, i, 3);
	MPI_Comm_group(comms[i], &all);
	MPI_Group_incl(all, 1, &of, &other);
	if (rank == 0) {
		CHECK(MPI_Win_post(other, 0, windows[i]) == MPI_SUCCESS);
		CHECK(MPI_Win_wait(windows[i]) == MPI_SUCCESS);
		CHECK(is_of(shown[i], 1, i, 3));
	} else if (rank == 1) {
		CHECK(MPI_Win_start(other, 0, windows[i]) == MPI_SUCCESS);
		CHECK(MPI_Put(out, INTS, MPI_INT, 0, 0, INTS, MPI_INT, windows[i]) == 0);
		CHECK(MPI_Win_complete(windows[i]) == MPI_SUCCESS);
	}
	MPI_Group_free(&other);
	MPI_Group_free(&all);
	MPI_Barrier(comms[i]);
}

static void *uses_window(void *arg)
{
	const int i = (int)(long)arg;
	int out = i, in = -1;

	fences(i);
	locks(i);
	posts(i);
	CHECK(MPI_Sendrecv(&out, 1, MPI_INT, next, i, &in, 1, MPI_INT, last, i, WORLD,
			   IGNORE) == MPI_SUCCESS && in == i);
	return NULL;
}

static void try_windows(void)
{
	for (int i = 0; i < THREADS; i++)
		CHECK(MPI_Win_allocate(INTS * 4, 4, MPI_INFO_NULL, comms[i], &shown[i],
				       &windows[i]) == MPI_SUCCESS);
	threads_run(THREADS, uses_window);
	for (int i = 0; i < THREADS; i++)
		CHECK(MPI_Win_free(&windows[i]) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
	int level = -1;

	if (argc < 3)
		return 2;
	threads_begin(argc > 3 && strcmp(argv[3], "light") == 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	CHECK(level == MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(WORLD, &comms[i]);
	if (strcmp(argv[1], "windows") != 0)
		try_files(argv[2]);
	if (strcmp(argv[1], "files") != 0)
		try_windows();
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	threads_end();
	printf("%d checks, %d failed\n", checks, failed);
	return failed != 0;
}
