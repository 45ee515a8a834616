/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/cancelled.c - threads of pthread.h that wait in MPI are asked to end
 *
 * Such a thread ends its wait first, in each kind of call: what it waits for is on its
 * stack, and others look at it. In weft_mpi_wait() it has a deadline before.
 */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <weft/mpi.h>

#define KINDS	10
#define THREADS	(2 * KINDS)
#define WORLD	MPI_COMM_WORLD
#define IGNORE	MPI_STATUS_IGNORE

static int other, rank;
static MPI_Comm comms[2][2];	/* two for the threads of each rank */
static _Atomic int waits;
static int in[THREADS], late[THREADS];

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wait_with_deadline(int i, MPI_Request *r)
{
	late[i] = weft_mpi_wait(r, IGNORE, WEFT_NO_WAIT) == -EAGAIN &&
		  weft_mpi_wait(r, IGNORE, now_ns() + 2000000) == -ETIMEDOUT &&
		  weft_mpi_wait(r, IGNORE, WEFT_FOREVER) == 0;
}

/* One message, by a call of each kind. */
static void receive(int i)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Message message;
	MPI_Status status;
	int n, index;

	if (i % KINDS >= 4 && i % KINDS < 9)
		MPI_Irecv(&in[i], 1, MPI_INT, other, i, WORLD, &r);
	waits++;
	switch (i % KINDS) {
	case 0:
		MPI_Recv(&in[i], 1, MPI_INT, other, i, WORLD, IGNORE);
		break;
	case 1:
		MPI_Probe(other, i, WORLD, &status);
		MPI_Recv(&in[i], 1, MPI_INT, other, i, WORLD, IGNORE);
		break;
	case 2:
		MPI_Mprobe(other, i, WORLD, &message, &status);
		MPI_Mrecv(&in[i], 1, MPI_INT, &message, IGNORE);
		break;
	case 3:
		MPI_Sendrecv(&i, 1, MPI_INT, MPI_PROC_NULL, i, &in[i], 1, MPI_INT, other,
			     i, WORLD, IGNORE);
		break;
	case 4:
		MPI_Wait(&r, IGNORE);
		break;
	case 5:
		MPI_Waitall(1, &r, &status);
		break;
	case 6:
		MPI_Waitany(1, &r, &n, &status);
		break;
	case 7:
		MPI_Waitsome(1, &r, &n, &index, &status);
		break;
	case 8:
		wait_with_deadline(i, &r);
		break;
	case 9:
		MPI_Bcast(&in[i], 1, MPI_INT, other, comms[rank][i / KINDS]);
		break;
	}
}

static void *is_cancelled(void *arg)
{
	const int i = (int)(long)arg;

	receive(i);
	in[i]++;
	pthread_testcancel();
	return NULL;
}

/* What the other rank's thread waits for. */
static void send_to(int i)
{
	int five = 5;

	if (i % KINDS == 9)
		MPI_Bcast(&five, 1, MPI_INT, rank, comms[other][i / KINDS]);
	else
		MPI_Send(&five, 1, MPI_INT, other, i, WORLD);
}

int main(int argc, char **argv)
{
	int level, failed = 0;
	pthread_t ids[THREADS];
	void *result;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	other = rank ^ 1;
	for (int i = 0; i < 4; i++)
		MPI_Comm_dup(WORLD, &comms[i / 2][i % 2]);
	/* The first one, which leads, is in a collective call. */
	for (long i = THREADS - 1; i >= 0; i--)
		if (pthread_create(&ids[i], NULL, is_cancelled, (void *)i) != 0)
			return 9;
	while (waits < THREADS)
		usleep(1000);
	usleep(10000);
	for (int i = 0; i < THREADS; i++)
		pthread_cancel(ids[i]);
	usleep(10000);
	MPI_Barrier(WORLD);
	for (int i = 0; i < THREADS; i++)
		send_to(i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], &result);
		failed += result != PTHREAD_CANCELED || in[i] != 6 ||
			  late[i] != (i % KINDS == 8);
	}
	for (int i = 0; i < 4; i++)
		MPI_Comm_free(&comms[i / 2][i % 2]);
	MPI_Finalize();
	printf("%d checks, %d failed\n", THREADS, failed);
	return failed != 0;
}
