/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/calls.c - each blocking call of MPI, made by many threads at once
 *
 * The same source with libc's threads, under weft run --mpi, and for threads of weft (WEFT;
 * an argument "light" makes them light). Each thread has a communicator, or a tag, of its
 * own. The result of each call is compared with what MPI defines. The last line is "N
 * checks, 0 failed" on each rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

#define THREADS	24
#define WORLD	MPI_COMM_WORLD
#define IGNORE	MPI_STATUS_IGNORE

static int ranks, next, last;
static MPI_Comm comms[THREADS];

/* --- messages --------------------------------------------------------- */

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static void ring(send_fn *send, int i, int count)
{
	int *out = malloc((size_t)count * 4), *in = malloc((size_t)count * 4), n = 0;
	MPI_Status status;

	for (int k = 0; k < count; k++)
		out[k] = rank * 1000000 + i * 1000 + k % 1000;
	if (rank % 2 == 0) {
		CHECK(send(out, count, MPI_INT, next, i, WORLD) == MPI_SUCCESS);
		CHECK(MPI_Recv(in, count, MPI_INT, last, i, WORLD, &status) == MPI_SUCCESS);
	} else {
		CHECK(MPI_Recv(in, count, MPI_INT, last, i, WORLD, &status) == MPI_SUCCESS);
		CHECK(send(out, count, MPI_INT, next, i, WORLD) == MPI_SUCCESS);
	}
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == count && status.MPI_SOURCE == last && status.MPI_TAG == i);
	for (int k = 0; k < count; k++)
		out[k] += (last - rank) * 1000000;
	CHECK(memcmp(out, in, (size_t)count * 4) == 0);
	free(out);
	free(in);
}

static void messages(int i)
{
	ring(MPI_Send, i, 1);
	ring(MPI_Ssend, i, 10);
	ring(MPI_Send, i, 3000);
	ring(MPI_Send, i, 70000);	/* by a rendezvous */
	for (int k = 0; k < 20; k++)
		ring(k % 2 ? MPI_Send : MPI_Ssend, i, 1 + k);
}

static void exchanges(int i)
{
	int out = rank * 100 + i, in = -1, both = out, error;
	MPI_Status status;

	error = MPI_Sendrecv(&out, 1, MPI_INT, next, i, &in, 1, MPI_INT, last, i, WORLD,
			     &status);
	CHECK(error == MPI_SUCCESS && in == last * 100 + i && status.MPI_SOURCE == last);
	error = MPI_Sendrecv_replace(&both, 1, MPI_INT, next, i, last, i, WORLD, &status);
	CHECK(error == MPI_SUCCESS && both == last * 100 + i && status.MPI_TAG == i);
	CHECK(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, i, WORLD, &status) == MPI_SUCCESS);
	CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

static void probes(int i)
{
	int out[2] = { rank, i }, in[2] = { -1, -1 }, n = 0;
	MPI_Status status;
	MPI_Message message;

	if (rank % 2 == 0) {
		CHECK(MPI_Send(out, 2, MPI_INT, next, i, WORLD) == 0);
		CHECK(MPI_Send(out, 1, MPI_INT, next, i, WORLD) == 0);
	}
	CHECK(MPI_Probe(last, i, WORLD, &status) == MPI_SUCCESS);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == 2);
	CHECK(MPI_Recv(in, 2, MPI_INT, last, i, WORLD, IGNORE) == MPI_SUCCESS && in[1] == i);
	CHECK(MPI_Mprobe(last, i, WORLD, &message, &status) == MPI_SUCCESS);
	in[0] = -1;
	CHECK(MPI_Mrecv(in, 1, MPI_INT, &message, &status) == MPI_SUCCESS && in[0] == last);
	if (rank % 2 == 1) {
		CHECK(MPI_Send(out, 2, MPI_INT, next, i, WORLD) == 0);
		CHECK(MPI_Send(out, 1, MPI_INT, next, i, WORLD) == 0);
	}
}

static void requests(int i)
{
	int in[4] = { 0 }, out[4] = { 1, 2, 3, 4 }, index[4], n, seen = 0;
	MPI_Request r[4], s[4], persistent;
	MPI_Status statuses[4], status;

	for (int k = 0; k < 4; k++)
		MPI_Irecv(&in[k], 1, MPI_INT, last, i * 8 + k, comms[0], &r[k]);
	for (int k = 0; k < 4; k++)
		MPI_Isend(&out[k], 1, MPI_INT, next, i * 8 + k, comms[0], &s[k]);
	CHECK(MPI_Wait(&r[0], &status) == MPI_SUCCESS && r[0] == MPI_REQUEST_NULL);
	CHECK(in[0] == 1 && status.MPI_SOURCE == last && status.MPI_TAG == i * 8);
	CHECK(MPI_Waitany(4, r, &n, &status) == MPI_SUCCESS && n >= 1 && in[n] == n + 1);
	while (MPI_Waitsome(4, r, &n, index, statuses) == MPI_SUCCESS && n != MPI_UNDEFINED)
		seen += n;
	CHECK(seen == 2 && in[3] == 4);
	CHECK(MPI_Waitall(4, s, statuses) == MPI_SUCCESS && s[3] == MPI_REQUEST_NULL);
	CHECK(MPI_Waitany(4, s, &n, &status) == MPI_SUCCESS && n == MPI_UNDEFINED);
	CHECK(MPI_Wait(&s[0], IGNORE) == MPI_SUCCESS);
	MPI_Recv_init(&in[0], 1, MPI_INT, last, i * 8 + 4, comms[0], &persistent);
	CHECK(MPI_Wait(&persistent, &status) == MPI_SUCCESS);	/* not active */
	for (int k = 0; k < 3; k++) {
		MPI_Start(&persistent);
		CHECK(MPI_Send(&k, 1, MPI_INT, next, i * 8 + 4, comms[0]) == 0);
		CHECK(MPI_Wait(&persistent, &status) == MPI_SUCCESS && in[0] == k);
		CHECK(persistent != MPI_REQUEST_NULL);
	}
	MPI_Request_free(&persistent);
}

/* --- collectives ------------------------------------------------------ */

#define MOST	64

static int out[THREADS][MOST], mine[THREADS][MOST];

/* The call, of which `in' is cleared before. */
#define CALL(i, call) do {						\
	int *in = mine[i];						\
	(void)in;							\
	memset(mine[i], 0, sizeof(mine[i]));				\
	CHECK(MPI_##call == MPI_SUCCESS);				\
} while (0)

static void fill(int i)
{
	for (int k = 0; k < MOST; k++)
		out[i][k] = rank * 1000 + i * 10 + k;
}

/* What each element of a collective is, from the definition. */
static int value(int from, int i, int k)
{
	return from * 1000 + i * 10 + k;
}

static void collectives(int i)
{
	MPI_Comm c = comms[i];
	int counts[8], places[8], sum = 0, before = 0, one[8];

	fill(i);
	for (int k = 0; k < ranks; k++) {
		counts[k] = 2;
		places[k] = 2 * k;
		one[k] = 1;
		sum += value(k, i, 0);
		before += k < rank ? value(k, i, 0) : 0;
	}
	CHECK(MPI_Barrier(c) == MPI_SUCCESS);
	memcpy(mine[i], out[i], sizeof(out[i]));
	CHECK(MPI_Bcast(mine[i], 3, MPI_INT, 1, c) == MPI_SUCCESS);
	CHECK(mine[i][2] == value(1, i, 2));
	CALL(i, Reduce(out[i], in, 1, MPI_INT, MPI_SUM, 0, c));
	CHECK(rank != 0 || mine[i][0] == sum);
	CALL(i, Allreduce(out[i], in, 1, MPI_INT, MPI_SUM, c));
	CHECK(mine[i][0] == sum);
	CALL(i, Scan(out[i], in, 1, MPI_INT, MPI_SUM, c));
	CHECK(mine[i][0] == before + out[i][0]);
	CALL(i, Exscan(out[i], in, 1, MPI_INT, MPI_SUM, c));
	CHECK(rank == 0 || mine[i][0] == before);
	CALL(i, Gather(out[i], 2, MPI_INT, in, 2, MPI_INT, 0, c));
	CHECK(rank != 0 || mine[i][3] == value(1, i, 1));
	CALL(i, Gatherv(out[i], 2, MPI_INT, in, counts, places, MPI_INT, 0, c));
	CHECK(rank != 0 || mine[i][3] == value(1, i, 1));
	CALL(i, Allgather(out[i], 1, MPI_INT, in, 1, MPI_INT, c));
	CHECK(mine[i][1] == value(1, i, 0));
	CALL(i, Allgatherv(out[i], 2, MPI_INT, in, counts, places, MPI_INT, c));
	CHECK(mine[i][3] == value(1, i, 1));
	CALL(i, Scatter(out[i], 2, MPI_INT, in, 2, MPI_INT, 0, c));
	CHECK(mine[i][1] == value(0, i, 2 * rank + 1));
	CALL(i, Scatterv(out[i], counts, places, MPI_INT, in, 2, MPI_INT, 0, c));
	CHECK(mine[i][1] == value(0, i, 2 * rank + 1));
	CALL(i, Alltoall(out[i], 1, MPI_INT, in, 1, MPI_INT, c));
	CHECK(mine[i][1] == value(1, i, rank));
	CALL(i, Alltoallv(out[i], counts, places, MPI_INT, in, counts, places, MPI_INT, c));
	CHECK(mine[i][2] == value(1, i, 2 * rank));
	CALL(i, Reduce_scatter(out[i], in, one, MPI_INT, MPI_MAX, c));
	CHECK(mine[i][0] == value(ranks - 1, i, rank));
	CALL(i, Reduce_scatter_block(out[i], in, 1, MPI_INT, MPI_MAX, c));
	CHECK(mine[i][0] == value(ranks - 1, i, rank));
}

/*
 * The calls that make a communicator have no form that parks. In a program of weft each of
 * these threads has a kernel thread meanwhile, and all of them spin: with four ranks on two
 * CPUs, 24 of them took 15 s with MPICH. So some make one, and the others are beside.
 */
static void neighbours(int i)
{
	MPI_Comm c = comms[i], circle;
	int periodic = 1, near[2], wrong;

	CHECK(MPI_Cart_create(c, 1, &ranks, &periodic, 0, &circle) == MPI_SUCCESS);
	MPI_Cart_shift(circle, 0, 1, &near[0], &near[1]);
	CALL(i, Neighbor_allgather(out[i], 1, MPI_INT, in, 1, MPI_INT, circle));
	wrong = mine[i][0] != value(near[0], i, 0) || mine[i][1] != value(near[1], i, 0);
	CHECK(!wrong);
	CHECK(MPI_Comm_free(&circle) == MPI_SUCCESS);
}

static void alltoallw_and_neighbours(int i)
{
	MPI_Comm c = comms[i], twin;
	int counts[8], places[8];
	MPI_Datatype types[8];

	fill(i);
	for (int k = 0; k < ranks; k++) {
		counts[k] = 1;
		places[k] = 4 * k;
		types[k] = MPI_INT;
	}
	CALL(i, Alltoallw(out[i], counts, places, types, in, counts, places, types, c));
	CHECK(mine[i][1] == value(1, i, rank));
	if (i % 4 == 0)
		neighbours(i);
	CHECK(MPI_Comm_dup(c, &twin) == MPI_SUCCESS);
	CALL(i, Allreduce(out[i], in, 1, MPI_INT, MPI_MAX, twin));
	CHECK(mine[i][0] == value(ranks - 1, i, 0));
	CHECK(MPI_Comm_free(&twin) == MPI_SUCCESS);
}

/* --- errors ----------------------------------------------------------- */

static void errors(int i)
{
	int in[1], two[2] = { 1, 2 }, error, class = 0;
	MPI_Status status;
	MPI_Request r[2];
	MPI_Status statuses[2];

	status.MPI_ERROR = 4711;
	CHECK(MPI_Send(two, 1, MPI_INT, ranks, i, comms[i]) != MPI_SUCCESS);
	CHECK(MPI_Send(two, -1, MPI_INT, next, i, comms[i]) != MPI_SUCCESS);
	CHECK(MPI_Recv(in, 1, MPI_INT, ranks, i, comms[i], IGNORE) != MPI_SUCCESS);
	CHECK(MPI_Recv(in, 1, MPI_DATATYPE_NULL, last, i, comms[i], IGNORE) != MPI_SUCCESS);
	CHECK(MPI_Send(two, 2, MPI_INT, next, 1, comms[i]) == MPI_SUCCESS);
	error = MPI_Recv(in, 1, MPI_INT, last, 1, comms[i], &status);
	if (error != MPI_SUCCESS)
		MPI_Error_class(error, &class);
	CHECK(class == MPI_ERR_TRUNCATE);
	MPI_Irecv(in, 1, MPI_INT, last, 2, comms[i], &r[0]);
	MPI_Isend(two, 2, MPI_INT, next, 2, comms[i], &r[1]);
	error = MPI_Waitall(2, r, statuses);
	CHECK(error == MPI_ERR_IN_STATUS || error == MPI_ERR_TRUNCATE);
	if (error == MPI_ERR_IN_STATUS) {
		MPI_Error_class(statuses[0].MPI_ERROR, &class);
		CHECK(class == MPI_ERR_TRUNCATE);
	}
	CHECK(MPI_Send(two, 1, MPI_INT, next, 3, comms[i]) == MPI_SUCCESS);
	CHECK(MPI_Recv(in, 1, MPI_INT, last, 3, comms[i], &status) == MPI_SUCCESS);
	CHECK(status.MPI_ERROR == 4711 || class == MPI_ERR_TRUNCATE);
}

/* --- cancellation, under weft run ------------------------------------- */

#ifdef WEFT
static void cancellation(void)
{
}
#else
static _Atomic int asked[THREADS];

static void *is_cancelled(void *arg)
{
	int i = (int)(long)arg;

	while (!asked[i])
		;
	MPI_Recv(mine[i], 1, MPI_INT, last, i, WORLD, IGNORE);
	mine[i][0]++;
	pthread_testcancel();
	return NULL;
}

/* A thread that is asked to end ends its call first. MPI has cancellation points inside. */
static void cancellation(void)
{
	int five = 5;
	pthread_t ids[THREADS];
	void *result;

	for (long i = 0; i < THREADS; i++) {
		CHECK(pthread_create(&ids[i], NULL, is_cancelled, (void *)i) == 0);
		CHECK(pthread_cancel(ids[i]) == 0);
		asked[i] = 1;
		usleep(500);
	}
	MPI_Barrier(WORLD);
	for (int i = 0; i < THREADS; i++)
		MPI_Send(&five, 1, MPI_INT, next, i, WORLD);
	for (int i = 0; i < THREADS; i++) {
		CHECK(pthread_join(ids[i], &result) == 0);
		CHECK(result == PTHREAD_CANCELED && mine[i][0] == 6);
	}
	MPI_Barrier(WORLD);
}
#endif

/* --- all threads ------------------------------------------------------ */

typedef void part_fn(int i);

static part_fn *part;

static void *run(void *arg)
{
	part((int)(long)arg);
	return NULL;
}

static void by_threads(part_fn *fn)
{
	part = fn;
	threads_run(THREADS, run);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	int level = -1, one = 1;
	MPI_Comm first;

	threads_begin(argc > 1 && strcmp(argv[1], "light") == 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	CHECK(level == MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(WORLD, &comms[i]);
		MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
	}
	/* Open MPI opens its topologies at the first call, which is not safe for threads. */
	MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &first);
	MPI_Comm_free(&first);
	by_threads(messages);
	by_threads(exchanges);
	by_threads(probes);
	by_threads(requests);
	by_threads(collectives);
	by_threads(alltoallw_and_neighbours);
	cancellation();
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);	/* MPICH: of MPI_Waitall() */
	by_threads(errors);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	threads_end();
	printf("%d checks, %d failed\n", checks, failed);
	return failed != 0;
}
