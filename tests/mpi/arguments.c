/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/arguments.c - calls of MPI with what their arguments may be, by many threads
 *
 * MPI_IN_PLACE, types with gaps, operations of the program, MPI_ANY_SOURCE, communicators
 * between two groups, topologies, requests that are null, generalized or very many; and
 * sends that need a receive, or a buffer. The same source with libc's threads, under weft
 * run --mpi, and for threads of weft (WEFT; an argument "light" makes them light). The last
 * line is "N checks, 0 failed" on each rank.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

#define THREADS	12
#define WORLD	MPI_COMM_WORLD
#define IGNORE	MPI_STATUS_IGNORE
#define REQUESTS	200
#define LONG	(8 << 20)	/* ints */

enum { TAG_ANY = 500, TAG_LONG };

static int ranks, next, last;
static MPI_Comm comms[THREADS], circles[THREADS], others[THREADS];
static MPI_Datatype gaps;	/* the first and the third of three ints */
static MPI_Op later;		/* b, unless it is negative */

static int value(int from, int i, int k)
{
	return from * 1000 + i * 10 + k;
}

static void fill(int *to, int count, int i)
{
	for (int k = 0; k < count; k++)
		to[k] = value(rank, i, k);
}

/* --- sends -------------------------------------------------------------- */

static void sends(int i)
{
	int in = -1, out = value(rank, i, 0);
	MPI_Request r;
	MPI_Status status;

	MPI_Irecv(&in, 1, MPI_INT, last, i, WORLD, &r);
	CHECK(MPI_Barrier(comms[i]) == MPI_SUCCESS);
	CHECK(MPI_Rsend(&out, 1, MPI_INT, next, i, WORLD) == MPI_SUCCESS);
	CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS && in == value(last, i, 0));
	CHECK(MPI_Bsend(&out, 1, MPI_INT, next, i, WORLD) == MPI_SUCCESS);
	in = -1;
	CHECK(MPI_Recv(&in, 1, MPI_INT, last, i, WORLD, IGNORE) == 0);
	CHECK(in == value(last, i, 0));
	/* To itself, and of nothing. */
	CHECK(MPI_Send(&out, 1, MPI_INT, rank, i, comms[i]) == MPI_SUCCESS);
	CHECK(MPI_Recv(&in, 1, MPI_INT, rank, i, comms[i], IGNORE) == 0 && in == out);
	CHECK(MPI_Sendrecv(NULL, 0, MPI_INT, next, i, NULL, 0, MPI_INT, last, i, comms[i],
			   &status) == MPI_SUCCESS);
	MPI_Get_count(&status, MPI_INT, &in);
	CHECK(in == 0);
}

/* Threads that may take each other's messages get all of them, and each one once. */
static _Atomic int sum;

static void any_source(int i)
{
	int in = 0;
	MPI_Status status;

	for (int to = 0; to < ranks; to++)
		CHECK(MPI_Send(&i, 1, MPI_INT, to, TAG_ANY, WORLD) == MPI_SUCCESS);
	for (int k = 0; k < ranks; k++) {
		CHECK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG_ANY, WORLD, &status) == 0);
		sum += in + 1000 * status.MPI_SOURCE;
	}
	/* Any tag, in a communicator of its own. */
	CHECK(MPI_Send(&i, 1, MPI_INT, next, i, comms[i]) == MPI_SUCCESS);
	CHECK(MPI_Recv(&in, 1, MPI_INT, last, MPI_ANY_TAG, comms[i], &status) == 0);
	CHECK(in == i && status.MPI_TAG == i);
}

static void long_message(void)
{
	int *x = malloc(sizeof(int) * LONG);

	for (int k = 0; k < LONG; k++)
		x[k] = rank + k;
	CHECK(MPI_Sendrecv_replace(x, LONG, MPI_INT, next, TAG_LONG, last, TAG_LONG, WORLD,
				   IGNORE) == MPI_SUCCESS);
	CHECK(x[0] == last && x[LONG - 1] == last + LONG - 1);
	free(x);
}

/* --- types and operations ----------------------------------------------- */

static void takes_later(void *in, void *inout, int *count, MPI_Datatype *type)
{
	int *a = in, *b = inout;

	(void)type;
	for (int k = 0; k < *count; k++)
		if (b[k] < 0)
			b[k] = a[k];
}

static void types(int i)
{
	int out[6], in[6] = { -1, -1, -1, -1, -1, -1 };

	fill(out, 6, i);
	CHECK(MPI_Sendrecv(out, 2, gaps, next, i, in, 4, MPI_INT, last, i, comms[i],
			   IGNORE) == MPI_SUCCESS);
	CHECK(in[1] == value(last, i, 2) && in[2] == value(last, i, 3) && in[4] == -1);
	CHECK(MPI_Sendrecv_replace(out, 1, gaps, next, i, last, i, comms[i], IGNORE) == 0);
	CHECK(out[2] == value(last, i, 2) && out[1] == value(rank, i, 1));
	fill(out, 6, i);
	CHECK(MPI_Bcast(out, 1, gaps, 1, comms[i]) == MPI_SUCCESS);
	CHECK(out[2] == value(1, i, 2) && out[1] == value(rank, i, 1));
	out[0] = rank == 1 ? 7 : -1;
	CHECK(MPI_Allreduce(out, in, 1, MPI_INT, later, comms[i]) == 0 && in[0] == 7);
	out[0] = rank;
	CHECK(MPI_Allreduce(out, in, 1, MPI_INT, later, comms[i]) == MPI_SUCCESS);
	CHECK(in[0] == ranks - 1);
}

/* --- MPI_IN_PLACE ------------------------------------------------------- */

static void in_place(int i)
{
	MPI_Comm c = comms[i];
	int x[8], n = ranks * (ranks - 1) / 2;

	x[0] = rank;
	CHECK(MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INT, MPI_SUM, c) == 0 && x[0] == n);
	x[0] = rank;
	CHECK(MPI_Reduce(rank == 1 ? MPI_IN_PLACE : x, x, 1, MPI_INT, MPI_SUM, 1, c) == 0);
	CHECK(x[0] == (rank == 1 ? n : rank));
	x[0] = rank;
	CHECK(MPI_Scan(MPI_IN_PLACE, x, 1, MPI_INT, MPI_SUM, c) == MPI_SUCCESS);
	CHECK(x[0] == rank * (rank + 1) / 2);
	fill(x, 8, i);
	CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, x, 1, MPI_INT, c) == MPI_SUCCESS);
	CHECK(x[1] == value(1, i, 1) && x[ranks - 1] == value(ranks - 1, i, ranks - 1));
	fill(x, 8, i);
	CHECK(MPI_Gather(rank == 0 ? MPI_IN_PLACE : x, 1, MPI_INT, x, 1, MPI_INT, 0, c) == 0);
	CHECK(rank != 0 || (x[0] == value(0, i, 0) && x[1] == value(1, i, 0)));
	fill(x, 8, i);
	CHECK(MPI_Scatter(x, 1, MPI_INT, rank == 0 ? MPI_IN_PLACE : x, 1, MPI_INT, 0, c) == 0);
	CHECK(x[0] == value(0, i, rank));
	fill(x, 8, i);
	CHECK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, x, 1, MPI_INT, c) == MPI_SUCCESS);
	CHECK(x[0] == value(0, i, rank) && x[1] == value(1, i, rank));
}

/* --- neighbours and two groups ------------------------------------------ */

/* In a circle of two the other rank is both neighbours. */
static void neighbours(int i)
{
	MPI_Comm c = circles[i];
	int out[2], in[2], one[2] = { 1, 1 }, place[2] = { 0, 1 };
	MPI_Aint bytes[2] = { 0, sizeof(int) };
	MPI_Datatype ints[2] = { MPI_INT, MPI_INT };

	fill(out, 2, i);
	CHECK(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, c) == MPI_SUCCESS);
	CHECK(in[0] == value(last, i, 0) && in[1] == value(next, i, 0));
	in[0] = in[1] = -1;
	CHECK(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, one, place, MPI_INT, c) == 0);
	CHECK(in[0] == value(last, i, 0) && in[1] == value(next, i, 0));
	if (ranks == 2)		/* which of two messages is which, MPIs disagree */
		out[1] = out[0];
	in[0] = in[1] = -1;
	CHECK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c) == MPI_SUCCESS);
	CHECK(in[0] == value(last, i, ranks > 2) && in[1] == value(next, i, 0));
	in[0] = in[1] = -1;
	CHECK(MPI_Neighbor_alltoallv(out, one, place, MPI_INT, in, one, place, MPI_INT,
				     c) == MPI_SUCCESS);
	CHECK(in[0] == value(last, i, ranks > 2) && in[1] == value(next, i, 0));
	in[0] = in[1] = -1;
	CHECK(MPI_Neighbor_alltoallw(out, one, bytes, ints, in, one, bytes, ints, c) == 0);
	CHECK(in[0] == value(last, i, ranks > 2) && in[1] == value(next, i, 0));
}

/* The even ranks and the odd ones. */
static void two_groups(int i)
{
	MPI_Comm c = others[i];
	int out = value(rank, i, 0), in = -1, root, mine = rank / 2;

	CHECK(MPI_Sendrecv(&out, 1, MPI_INT, mine, i, &in, 1, MPI_INT, mine, i, c,
			   IGNORE) == MPI_SUCCESS && in == value(rank ^ 1, i, 0));
	CHECK(MPI_Barrier(c) == MPI_SUCCESS);
	root = rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL;
	in = rank == 0 ? 42 : -1;
	CHECK(MPI_Bcast(&in, 1, MPI_INT, root, c) == MPI_SUCCESS);
	CHECK(in == (rank % 2 || rank == 0 ? 42 : -1));
	CHECK(MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_MAX, c) == MPI_SUCCESS);
	CHECK(in == ranks - 1 - (rank % 2));
}

static void make_communicators(void)
{
	MPI_Comm half, between;
	int periodic = 1;

	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, WORLD, rank % 2 ? 0 : 1, 1, &between);
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(WORLD, &comms[i]);
		CHECK(MPI_Comm_dup(between, &others[i]) == MPI_SUCCESS);
		MPI_Cart_create(comms[i], 1, &ranks, &periodic, 0, &circles[i]);
	}
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
}

/* --- requests ----------------------------------------------------------- */

static void requests(int i)
{
	static int in[THREADS][REQUESTS], out[THREADS][REQUESTS];
	MPI_Request r[2 * REQUESTS + 1];
	MPI_Status statuses[2 * REQUESTS + 1];
	MPI_Comm twin;
	int wrong = 0, done = 0, n = -1;

	fill(out[i], REQUESTS, i);
	for (int k = 0; k < REQUESTS; k++) {
		MPI_Irecv(&in[i][k], 1, MPI_INT, last, k, comms[i], &r[k]);
		MPI_Isend(&out[i][k], 1, MPI_INT, next, k, comms[i], &r[REQUESTS + 1 + k]);
	}
	r[REQUESTS] = MPI_REQUEST_NULL;
	CHECK(MPI_Waitany(REQUESTS, r, &n, IGNORE) == MPI_SUCCESS && n >= 0);
	CHECK(MPI_Waitall(2 * REQUESTS + 1, r, statuses) == MPI_SUCCESS);
	for (int k = 0; k < REQUESTS; k++)
		wrong += in[i][k] != value(last, i, k);
	CHECK(wrong == 0);
	CHECK(MPI_Comm_idup(comms[i], &twin, &r[0]) == MPI_SUCCESS);
	CHECK(MPI_Wait(&r[0], IGNORE) == MPI_SUCCESS);
	MPI_Ibarrier(twin, &r[0]);
	while (!done)
		MPI_Test(&r[0], &done, IGNORE);
	CHECK(MPI_Comm_free(&twin) == MPI_SUCCESS);
}

static int query(void *data, MPI_Status *status)
{
	MPI_Status_set_elements(status, MPI_INT, *(int *)data);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int is_freed(void *data)
{
	*(int *)data = 0;
	return MPI_SUCCESS;
}

static int is_cancelled(void *data, int complete)
{
	(void)data;
	(void)complete;
	return MPI_SUCCESS;
}

static MPI_Request general[THREADS / 2];
static int elements[THREADS / 2];

/* Half of the threads wait for what the others complete. */
static void generalized(int i)
{
	const int k = i / 2;
	MPI_Request r = general[k];
	MPI_Status status;
	int n = 0;

	if (i % 2) {
		usleep(100 * i);
		CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
		return;
	}
	CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == k + 1 && elements[k] == 0);
}

/* --- all threads -------------------------------------------------------- */

static void (*part)(int i);

static void *run(void *arg)
{
	part((int)(long)arg);
	return NULL;
}

static void by_threads(void (*fn)(int i))
{
	part = fn;
	threads_run(THREADS, run);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	static char buffer[THREADS * (MPI_BSEND_OVERHEAD + 64)];
	void *detached;
	int level = -1, bytes, all = 0;

	threads_begin(argc > 1 && strcmp(argv[1], "light") == 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	make_communicators();
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	MPI_Op_create(takes_later, 0, &later);
	MPI_Buffer_attach(buffer, sizeof(buffer));
	by_threads(sends);
	CHECK(MPI_Buffer_detach(&detached, &bytes) == MPI_SUCCESS && detached == buffer);
	by_threads(any_source);
	for (int from = 0; from < ranks; from++)
		all += THREADS * (THREADS - 1) / 2 + 1000 * THREADS * from;
	CHECK(sum == all);
	long_message();
	by_threads(types);
	by_threads(in_place);
	by_threads(neighbours);
	by_threads(two_groups);
	by_threads(requests);
	for (int k = 0; k < THREADS / 2; k++) {
		elements[k] = k + 1;
		MPI_Grequest_start(query, is_freed, is_cancelled, &elements[k], &general[k]);
	}
	by_threads(generalized);
	MPI_Op_free(&later);
	MPI_Type_free(&gaps);
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_free(&circles[i]);
		MPI_Comm_free(&others[i]);
		MPI_Comm_free(&comms[i]);
	}
	MPI_Finalize();
	threads_end();
	printf("%d checks, %d failed\n", checks, failed);
	return failed != 0;
}
