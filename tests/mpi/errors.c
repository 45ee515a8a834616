/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/errors.c - what goes wrong with MPI, while threads wait: MPI itself answers
 *
 * errors MODE [light]. The same source as in calls.c: with libc's threads, under weft run
 * --mpi, and for threads of weft. tests/mpi/run compares what they print.
 *
 *   waits      all threads wait for messages that nobody sends
 *   dies       rank 1 is killed meanwhile
 *   aborts     a thread of rank 1 calls MPI_Abort() meanwhile
 *   truncates  each thread receives messages that are too long, by three calls, and
 *              rank 0 prints what these return. With libc's threads one thread is
 *              enough. MPI_Waitall() does not return with Open MPI 4.1.4
 *   arguments  a thread makes receives with wrong arguments, while others wait: each
 *              calls the handler once
 *   parked     MPI_Finalize() is called while threads wait, and then the process ends
 *   before, after
 *              a call before MPI_Init_thread(), and after MPI_Finalize()
 */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "threads.h"

#ifndef THREADS
#define THREADS	8
#endif
#define WORLD	MPI_COMM_WORLD
#define CALLS	3

static int rank, other;
static const char *mode;
static int handled;

/* --- a rank that ends --------------------------------------------------- */

static void *waits(void *arg)
{
	int in;

	if (rank == 1 && arg == NULL && strcmp(mode, "aborts") == 0)
		MPI_Abort(WORLD, 3);
	MPI_Recv(&in, 1, MPI_INT, other, (int)(long)arg, WORLD, MPI_STATUS_IGNORE);
	return NULL;
}

/* For rank 0's threads to wait first. */
static void ends(void)
{
	if (rank == 1)
		usleep(200000);
	if (rank == 1 && strcmp(mode, "dies") == 0)
		kill(getpid(), SIGKILL);
	threads_run(THREADS, waits);
	printf("rank %d has not been ended\n", rank);
}

static void parked(void)
{
	threads_spawn(THREADS, waits);
	usleep(50000);
	MPI_Finalize();
	/* Where stdout has no buffer, an end of line is a write of its own. */
	printf("\nfinalized\n");
	exit(0);
}

/* --- messages that are too long ----------------------------------------- */

static MPI_Comm comm;
static int calls;
static int class[THREADS][CALLS];

static void on_error(MPI_Comm *of, int *error, ...)
{
	(void)of;
	(void)error;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void keep(int i, int call, int error)
{
	MPI_Error_class(error, &class[i][call]);
}

static void *receives(void *arg)
{
	const int i = (int)(long)arg;
	int in[2], out[2] = { 1, 2 }, error;
	MPI_Request r;
	MPI_Status s;

	if (rank == 1) {
		for (int k = 0; k < calls; k++) {
			/* Later than the receive, or before it. */
			usleep(i % 2 ? 2000 : 0);
			MPI_Send(out, 2, MPI_INT, 0, i, comm);
		}
		MPI_Recv(in, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
		return NULL;
	}
	usleep(i % 2 ? 0 : 2000);
	error = MPI_Recv(in, 1, MPI_INT, 1, i, comm, &s);
	keep(i, 0, error);
	error = MPI_Sendrecv(out, 1, MPI_INT, 1, i, in, 1, MPI_INT, 1, i, comm, &s);
	keep(i, 1, error);
	if (calls == 2)
		return NULL;
	MPI_Irecv(in, 1, MPI_INT, 1, i, comm, &r);
	error = MPI_Wait(&r, &s);
	keep(i, 2, error);
	return NULL;
}

/* The same for one thread and for many. */
static void tell(void)
{
	for (int k = 0; k < CALLS; k++)
		printf("call %d: class %d\n", k, class[0][k]);
	for (int i = 1; i < THREADS; i++)
		if (memcmp(class[i], class[0], sizeof(class[0])) != 0)
			printf("thread %d: other results\n", i);
	printf("the first is %sMPI_ERR_TRUNCATE\n",
	       class[0][0] == MPI_ERR_TRUNCATE ? "" : "not ");
	printf("the handlers were called %g times a thread\n", (double)handled / THREADS);
}

static void truncates(void)
{
	MPI_Errhandler counts;

	/* MPI_COMM_WORLD's own handler ends the program. */
	MPI_Comm_dup(WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	calls = 2;
	threads_run(THREADS, receives);
	MPI_Comm_free(&comm);
	/* MPICH calls MPI_COMM_WORLD's for MPI_Wait(). */
	comm = WORLD;
	calls = CALLS;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	threads_run(THREADS, receives);
	MPI_Barrier(WORLD);
	MPI_Comm_create_errhandler(on_error, &counts);
	MPI_Comm_set_errhandler(WORLD, counts);
	/* Open MPI calls one handler if several of MPI_Wait()'s requests fail at once. */
	calls = 2;
	threads_run(THREADS, receives);
	MPI_Barrier(WORLD);
	if (rank == 0)
		tell();
}

/* --- wrong arguments ------------------------------------------------------ */

static void *is_wrong(void *arg)
{
	const int i = (int)(long)arg;
	int in, errors = 0;

	if (rank == 1) {
		if (i < THREADS - 1)
			usleep(20000);
		if (i < THREADS - 1)
			MPI_Send(&i, 1, MPI_INT, 0, i, comm);
		return NULL;
	}
	if (i < THREADS - 1) {
		MPI_Recv(&in, 1, MPI_INT, 1, i, comm, MPI_STATUS_IGNORE);
		return NULL;
	}
	usleep(THREADS > 1 ? 5000 : 0);
	errors += MPI_Recv(&in, -1, MPI_INT, 1, i, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS;
	errors += MPI_Recv(&in, 1, MPI_DATATYPE_NULL, 1, i, comm, MPI_STATUS_IGNORE) !=
		  MPI_SUCCESS;
	errors += MPI_Recv(&in, 1, MPI_INT, 4711, i, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS;
	printf("call: %d errors\n", errors);
	return NULL;
}

static void arguments(void)
{
	MPI_Errhandler counts;

	MPI_Comm_dup(WORLD, &comm);
	MPI_Comm_create_errhandler(on_error, &counts);
	MPI_Comm_set_errhandler(comm, counts);
	threads_run(THREADS, is_wrong);
	if (rank == 0)
		printf("the handlers were called %d times\n", handled);
}

/* --- a call too early, or too late ---------------------------------------- */

static void call_it(void)
{
	int in = 0;

	MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, MPI_STATUS_IGNORE);
	printf("the call has returned\n");
}

int main(int argc, char **argv)
{
	int level;

	mode = argc > 1 ? argv[1] : "";
	threads_begin(argc > 2 && strcmp(argv[2], "light") == 0);
	if (strcmp(mode, "before") == 0)
		call_it();
	/* Receives are deferred from the first waiting thread on. */
	if (strcmp(mode, "arguments") == 0)
		setenv("WEFT_MPI_DEFER", "1", 1);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	other = rank ^ 1;
	if (strcmp(mode, "waits") == 0 || strcmp(mode, "dies") == 0 ||
	    strcmp(mode, "aborts") == 0)
		ends();
	if (strcmp(mode, "parked") == 0)
		parked();
	if (strcmp(mode, "truncates") == 0)
		truncates();
	if (strcmp(mode, "arguments") == 0)
		arguments();
	MPI_Finalize();
	if (strcmp(mode, "after") == 0)
		call_it();
	threads_end();
	return 0;
}
