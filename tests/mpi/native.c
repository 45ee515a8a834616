/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/native.c - weft/mpi.h: deadlines, cancellation, a request in an alt
 *
 * Also a thread that computes beside, one that polls, and one that weft did not make.
 */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weft.h>
#include <weft/mpi.h>

#include "check.h"

#define WORLD	MPI_COMM_WORLD

static struct weft_attr kind;	/* of the threads */
static int other;
static _Atomic int computes = 1;

static void deadlines(void)
{
	int in = 0, out = 7;
	MPI_Request r;
	MPI_Status status;

	MPI_Irecv(&in, 1, MPI_INT, other, 1, WORLD, &r);
	CHECK(weft_mpi_wait(&r, &status, WEFT_NO_WAIT) == -EAGAIN);
	CHECK(weft_mpi_wait(&r, &status, weft_deadline(WEFT_MS(3))) == -ETIMEDOUT);
	CHECK(r != MPI_REQUEST_NULL);
	MPI_Barrier(WORLD);
	MPI_Send(&out, 1, MPI_INT, other, 1, WORLD);
	CHECK(weft_mpi_wait(&r, &status, WEFT_FOREVER) == 0 && in == 7);
	CHECK(r == MPI_REQUEST_NULL && status.MPI_SOURCE == other);
	MPI_Irecv(&in, 1, MPI_INT, other, 2, WORLD, &r);
	CHECK(weft_mpi_cancel(&r, MPI_STATUS_IGNORE) == 0 && r == MPI_REQUEST_NULL);
	MPI_Barrier(WORLD);
	MPI_Send(&out, 1, MPI_INT, other, 3, WORLD);
	in = 0;
	MPI_Irecv(&in, 1, MPI_INT, other, 3, WORLD, &r);
	MPI_Barrier(WORLD);
	while (!in)
		(void)!weft_mpi_wait(&r, &status, weft_deadline(WEFT_MS(1)));
	CHECK(in == 7);
}

static void *waits(void *arg)
{
	static int in;
	MPI_Request *r = arg;
	int error;

	MPI_Irecv(&in, 1, MPI_INT, other, 4, WORLD, r);
	error = weft_mpi_wait(r, MPI_STATUS_IGNORE, WEFT_FOREVER);
	CHECK(error == -ECANCELED && *r != MPI_REQUEST_NULL);
	weft_cancel_hold();
	CHECK(weft_mpi_cancel(r, MPI_STATUS_IGNORE) == 0);
	weft_cancel_release();
	return NULL;
}

/* The cancelled thread leads and sleeps. The wait behind it ends that sleep too. */
static void cancellation(void)
{
	MPI_Request r, own;
	uint64_t id;
	int in;

	MPI_Irecv(&in, 1, MPI_INT, other, 8, WORLD, &own);
	CHECK(weft_spawn(&id, &kind, waits, &r) == 0);
	weft_sleep(WEFT_MS(2));
	CHECK(weft_cancel(id) == 0);
	CHECK(weft_mpi_wait(&own, MPI_STATUS_IGNORE, weft_deadline(WEFT_MS(3))) ==
	      -ETIMEDOUT);
	CHECK(weft_mpi_cancel(&own, MPI_STATUS_IGNORE) == 0);
	CHECK(weft_join(id, NULL) == 0);
	MPI_Barrier(WORLD);
}

static MPI_Comm comms[2];	/* for a call of each rank's thread */

static void *waits_for_all(void *arg)
{
	MPI_Bcast(arg, 1, MPI_INT, other, comms[rank]);
	CHECK(weft_sleep(WEFT_SECONDS(60)) == -ECANCELED);
	return NULL;
}

/* The leader is in a collective call: it leads on, and ends the call before itself. */
static void cancellation_in_a_collective(void)
{
	int in = 0, late, eleven = 11;
	MPI_Request own;
	uint64_t id;

	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(WORLD, &comms[i]);
	CHECK(weft_spawn(&id, &kind, waits_for_all, &in) == 0);
	weft_sleep(WEFT_MS(2));
	CHECK(weft_cancel(id) == 0);
	MPI_Irecv(&late, 1, MPI_INT, other, 12, WORLD, &own);
	CHECK(weft_mpi_wait(&own, MPI_STATUS_IGNORE, weft_deadline(WEFT_MS(3))) ==
	      -ETIMEDOUT && in == 0);
	MPI_Barrier(WORLD);
	MPI_Send(&eleven, 1, MPI_INT, other, 12, WORLD);
	CHECK(weft_mpi_wait(&own, MPI_STATUS_IGNORE, WEFT_FOREVER) == 0 && late == 11);
	MPI_Bcast(&eleven, 1, MPI_INT, rank, comms[other]);
	CHECK(weft_join(id, NULL) == 0 && in == 11);
	for (int i = 0; i < 2; i++)
		MPI_Comm_free(&comms[i]);
}

static _Atomic int told;	/* threads that know that they are cancelled */

/* A send goes on, and so does a collective operation. Their owners wait for their ends. */
static void *sends_anyway(void *arg)
{
	int thirteen = 13;
	MPI_Request r;

	if (arg)
		MPI_Ibarrier(comms[rank], &r);
	else
		MPI_Issend(&thirteen, 1, MPI_INT, other, 13, WORLD, &r);
	CHECK(weft_mpi_wait(&r, MPI_STATUS_IGNORE, WEFT_FOREVER) == -ECANCELED);
	CHECK(r != MPI_REQUEST_NULL);
	told++;
	weft_cancel_hold();
	CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
	weft_cancel_release();
	return NULL;
}

/* A thread that makes progress may find its request done before it is told. */
static void cancellation_of_what_goes_on(void)
{
	uint64_t ids[2];
	int in = 0;

	told = 0;
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(WORLD, &comms[i]);
	for (int i = 0; i < 2; i++)
		CHECK(weft_spawn(&ids[i], &kind, sends_anyway, i ? &in : NULL) == 0);
	weft_sleep(WEFT_MS(2));
	for (int i = 0; i < 2; i++)
		CHECK(weft_cancel(ids[i]) == 0);
	while (told < 2)
		weft_yield();
	MPI_Barrier(WORLD);
	MPI_Recv(&in, 1, MPI_INT, other, 13, WORLD, MPI_STATUS_IGNORE);
	CHECK(in == 13);
	MPI_Barrier(comms[other]);
	for (int i = 0; i < 2; i++)
		CHECK(weft_join(ids[i], NULL) == 0);
	for (int i = 0; i < 2; i++)
		MPI_Comm_free(&comms[i]);
}

#define PAIRS	40

static _Atomic int is_over;

/* Two threads of one rank send each other a number, up to a negative one. */
static void *talks(void *arg)
{
	const int i = (int)(long)arg, tag = 100 + i / 2 * 2;
	int x = 0;

	while (x >= 0) {
		if (i % 2 == 0) {
			x = is_over ? -1 : 1;
			MPI_Send(&x, 1, MPI_INT, rank, tag, WORLD);
		}
		if (i % 2 == 1 || x > 0)
			MPI_Recv(&x, 1, MPI_INT, rank, i % 2 ? tag : tag + 1, WORLD,
				 MPI_STATUS_IGNORE);
		if (i % 2 == 1 && x > 0)
			MPI_Send(&x, 1, MPI_INT, rank, tag + 1, WORLD);
	}
	return NULL;
}

static void *waits_and_says_so(void *arg)
{
	void *result = waits(arg);

	is_over = 1;
	return result;
}

/* The same where each look finds something, so that the leader does not sleep. */
static void cancellation_beside_messages(void)
{
	uint64_t id, others[2 * PAIRS];
	MPI_Request r;

	CHECK(weft_spawn(&id, &kind, waits_and_says_so, &r) == 0);
	weft_sleep(WEFT_MS(2));
	for (long i = 0; i < 2 * PAIRS; i++)
		CHECK(weft_spawn(&others[i], &kind, talks, (void *)i) == 0);
	weft_sleep(WEFT_MS(2));
	CHECK(weft_cancel(id) == 0);
	CHECK(weft_join(id, NULL) == 0);
	for (int i = 0; i < 2 * PAIRS; i++)
		CHECK(weft_join(others[i], NULL) == 0);
	MPI_Barrier(WORLD);
}

static void channels(void)
{
	struct weft_alt a[2] = { { .op = WEFT_ALT_RECV }, { .op = WEFT_ALT_TIME } };
	int in = 0, out = 9, error = -1;
	MPI_Request r;

	MPI_Irecv(&in, 1, MPI_INT, other, 5, WORLD, &r);
	CHECK(weft_mpi_chan(&r, MPI_STATUS_IGNORE, &a[0].chan) == 0);
	a[0].elem = &error;
	a[1].u.time = weft_deadline(WEFT_MS(3));
	CHECK(weft_alt(a, 2, WEFT_FOREVER) == 1);
	MPI_Barrier(WORLD);
	MPI_Send(&out, 1, MPI_INT, other, 5, WORLD);
	a[1].u.time = weft_deadline(WEFT_SECONDS(60));
	CHECK(weft_alt(a, 2, WEFT_FOREVER) == 0);
	CHECK(error == 0 && in == 9 && r == MPI_REQUEST_NULL);
	CHECK(weft_chan_destroy(a[0].chan) == 0);
}

static void *compute(void *arg)
{
	while (computes)
		;
	return arg;
}

/* Progress goes on, and so do the messages. */
static void beside_one_that_computes(void)
{
	uint64_t id;
	int x = 0;

	CHECK(weft_spawn(&id, &kind, compute, NULL) == 0);
	for (int i = 0; i < 10; i++)
		MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 6, other, 6, WORLD,
				     MPI_STATUS_IGNORE);
	MPI_Barrier(WORLD);
	computes = 0;
	CHECK(weft_join(id, NULL) == 0);
}

static void *polls(void *arg)
{
	int flag = 0, in = 0;
	MPI_Request r;

	MPI_Irecv(&in, 1, MPI_INT, other, 9, WORLD, &r);
	while (!flag)
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	CHECK(in == 3);
	return arg;
}

/* It may be preempted in MPI, with a mutex of MPI's that the others' calls need. */
static void beside_one_that_polls(void)
{
	uint64_t id;
	int x = 3;

	CHECK(weft_spawn(&id, &kind, polls, NULL) == 0);
	for (int i = 0; i < 50; i++) {
		weft_sleep(WEFT_MS(1));
		MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 10, other, 10, WORLD,
				     MPI_STATUS_IGNORE);
	}
	MPI_Send(&x, 1, MPI_INT, other, 9, WORLD);
	CHECK(weft_join(id, NULL) == 0);
	MPI_Barrier(WORLD);
}

static _Atomic int ends;

static void *makes_types(void *arg)
{
	MPI_Datatype type;
	int *limit, is_there, is_main = 1;

	MPI_Is_thread_main(&is_main);
	CHECK(!is_main);
	while (!ends) {
		MPI_Type_vector(3, 1, 2, MPI_INT, &type);
		MPI_Type_commit(&type);
		MPI_Type_free(&type);
		MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &limit, &is_there);
	}
	return arg;
}

static void *exchanges(void *arg)
{
	const int tag = 20 + (int)(long)arg;
	int x = 3;

	for (int i = 0; i < 20; i++)
		MPI_Sendrecv_replace(&x, 1, MPI_INT, other, tag, other, tag, WORLD,
				     MPI_STATUS_IGNORE);
	return NULL;
}

/* The same in calls that have nothing to do with messages. */
static void beside_those_that_make_types(void)
{
	uint64_t makers[2], others[8];

	ends = 0;
	for (int i = 0; i < 2; i++)
		CHECK(weft_spawn(&makers[i], &kind, makes_types, NULL) == 0);
	for (long i = 0; i < 8; i++)
		CHECK(weft_spawn(&others[i], &kind, exchanges, (void *)i) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(weft_join(others[i], NULL) == 0);
	ends = 1;
	for (int i = 0; i < 2; i++)
		CHECK(weft_join(makers[i], NULL) == 0);
	MPI_Barrier(WORLD);
}

static void *is_foreign(void *arg)
{
	int x = rank, *got = arg;

	for (int i = 0; i < 50; i++) {
		if (rank == 0) {
			MPI_Send(&x, 1, MPI_INT, other, 7, WORLD);
			MPI_Recv(got, 1, MPI_INT, other, 7, WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(got, 1, MPI_INT, other, 7, WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&x, 1, MPI_INT, other, 7, WORLD);
		}
	}
	return NULL;
}

static void foreign_threads(void)
{
	int got[2] = { -1, -1 };
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, is_foreign, &got[0]) == 0);
	for (int i = 0; i < 50; i++)
		MPI_Allreduce(&rank, &got[1], 1, MPI_INT, MPI_MAX, WORLD);
	weft_block_begin();
	CHECK(pthread_join(thread, NULL) == 0);
	weft_block_end();
	CHECK(got[0] == other);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	int ranks, level, is_main = 0;
	MPI_Request none = MPI_REQUEST_NULL;

	kind.stack_bytes = 256 * 1024;
	if (argc > 1 && strcmp(argv[1], "light") == 0)
		kind.flags = WEFT_LIGHT;
	if (weft_start(NULL) != 0)
		return 9;
	CHECK(weft_mpi_wait(&none, MPI_STATUS_IGNORE, WEFT_NO_WAIT) == -ESRCH);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &ranks);
	other = rank ^ 1;
	deadlines();
	cancellation();
	cancellation_in_a_collective();
	cancellation_of_what_goes_on();
	cancellation_beside_messages();
	channels();
	beside_one_that_computes();
	beside_one_that_polls();
	beside_those_that_make_types();
	foreign_threads();
	MPI_Is_thread_main(&is_main);
	CHECK(is_main);
	MPI_Finalize();
	CHECK(weft_wait_all(WEFT_FOREVER) == 0);
	printf("%d checks, %d failed\n", checks, failed);
	return weft_stop() != 0 || failed != 0;
}
