/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/persistent.c - requests that are started again and again; MPI-4's partitioned
 * messages, persistent collectives and sessions
 *
 * persistent KIND [light]. As calls.c.
 *
 *   world     MPI_Init_thread()
 *   sessions  MPI_Session_init() only, and a communicator that is made of its processes
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

/* Open MPI 5 has what is tried here, though it calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4	1
#endif

#define THREADS	16
#define ROUNDS	5
#define PARTS	4
#define IGNORE	MPI_STATUS_IGNORE

static int ranks, next, last;
static MPI_Comm comm, comms[THREADS];

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
}

/* r[0] is a receive, r[1] a send. */
static void make(MPI_Request r[2], int *in, int *out, int tag)
{
	MPI_Recv_init(in, 1, MPI_INT, last, tag, comm, &r[0]);
	MPI_Send_init(out, 1, MPI_INT, next, tag, comm, &r[1]);
}

static void wait_for_both(MPI_Request r[2], int round)
{
	int index[2], n = 0, seen = 0;
	MPI_Status s[2];

	if (round % 3 == 0) {
		CHECK(MPI_Waitall(2, r, s) == MPI_SUCCESS);
	} else if (round % 3 == 1) {
		CHECK(MPI_Waitany(2, r, &n, IGNORE) == MPI_SUCCESS && (n == 0 || n == 1));
		CHECK(MPI_Wait(&r[1 - n], IGNORE) == MPI_SUCCESS);
	} else {
		while (seen < 2 && MPI_Waitsome(2, r, &n, index, s) == 0)
			seen += n;
		CHECK(seen == 2);
	}
	/* None is active any more, and they are there. */
	CHECK(MPI_Waitany(2, r, &n, IGNORE) == MPI_SUCCESS && n == MPI_UNDEFINED);
	CHECK(MPI_Wait(&r[0], IGNORE) == MPI_SUCCESS && r[0] != MPI_REQUEST_NULL);
}

static void messages(int i)
{
	int in = -1, out = -1;
	MPI_Request r[2];

	make(r, &in, &out, i);
	for (int round = 0; round < ROUNDS; round++) {
		out = rank * 100 + i + round;
		if (i % 2)
			usleep(100);
		CHECK(MPI_Startall(2, r) == MPI_SUCCESS);
		wait_for_both(r, round);
		CHECK(in == last * 100 + i + round);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

#ifdef HAS_MPI_4
static MPI_Request parts;	/* of one send; several threads make them ready */

static void make_ready(int i)
{
	if (i < PARTS)
		CHECK(MPI_Pready(i, parts) == MPI_SUCCESS);
}

static void partitioned(void)
{
	int in[PARTS], out[PARTS];
	MPI_Request receive;

	for (int k = 0; k < PARTS; k++)
		out[k] = rank * 100 + k;
	MPI_Psend_init(out, PARTS, 1, MPI_INT, next, 5, comm, MPI_INFO_NULL, &parts);
	MPI_Precv_init(in, PARTS, 1, MPI_INT, last, 5, comm, MPI_INFO_NULL, &receive);
	for (int round = 0; round < ROUNDS; round++) {
		memset(in, 0, sizeof(in));
		MPI_Start(&receive);
		MPI_Start(&parts);
		by_threads(make_ready);
		CHECK(MPI_Wait(&receive, IGNORE) == MPI_SUCCESS);
		CHECK(MPI_Wait(&parts, IGNORE) == MPI_SUCCESS);
		CHECK(in[0] == last * 100 && in[PARTS - 1] == last * 100 + PARTS - 1);
	}
	MPI_Request_free(&receive);
	MPI_Request_free(&parts);
}

static void collectives(int i)
{
	int out = 0, in = 0;
	MPI_Request r[2];

	MPI_Allreduce_init(&out, &in, 1, MPI_INT, MPI_SUM, comms[i], MPI_INFO_NULL, &r[0]);
	MPI_Barrier_init(comms[i], MPI_INFO_NULL, &r[1]);
	for (int round = 0; round < ROUNDS; round++) {
		out = round + i;
		MPI_Start(&r[0]);
		CHECK(MPI_Wait(&r[0], IGNORE) == MPI_SUCCESS);
		CHECK(in == ranks * (round + i));
		MPI_Start(&r[1]);
		CHECK(MPI_Wait(&r[1], IGNORE) == MPI_SUCCESS);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

static MPI_Session session;

/* Its handler of errors is the communicator's. */
static void begin_session(void)
{
	MPI_Group group;

	CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == 0);
	CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == 0);
	CHECK(MPI_Comm_create_from_group(group, "weft", MPI_INFO_NULL, MPI_ERRORS_RETURN,
					 &comm) == MPI_SUCCESS);
	MPI_Group_free(&group);
}

static void too_long(int i)
{
	int in[1], out[2] = { 1, 2 }, class = MPI_SUCCESS;

	CHECK(MPI_Send(out, 2, MPI_INT, next, i, comm) == MPI_SUCCESS);
	MPI_Error_class(MPI_Recv(in, 1, MPI_INT, last, i, comm, IGNORE), &class);
	CHECK(class == MPI_ERR_TRUNCATE);
}
#endif

static void all(void)
{
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(comm, &comms[i]);
	by_threads(messages);
#ifdef HAS_MPI_4
	partitioned();
	by_threads(collectives);
#endif
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
	int level;

	threads_begin(argc > 2 && strcmp(argv[2], "light") == 0);
	if (argc > 1 && strcmp(argv[1], "sessions") == 0) {
#ifdef HAS_MPI_4
		begin_session();
		all();
		by_threads(too_long);
		MPI_Comm_free(&comm);
		CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
#endif
	} else {
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
		comm = MPI_COMM_WORLD;
		all();
		MPI_Finalize();
	}
	threads_end();
	printf("%d checks, %d failed\n", checks, failed);
	return failed != 0;
}
