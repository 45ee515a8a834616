/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/cancelled.c - a thread of pthread.h in weft_mpi_wait() is asked to end
 *
 * It ends its wait first: what it waits for is on its stack, and others look at it.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <weft/mpi.h>

#define THREADS	4

static int other;
static _Atomic int waits;
static int results[THREADS], in[THREADS];

static void *wait_for_message(void *arg)
{
	const int i = (int)(long)arg;
	MPI_Request r;

	MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &r);
	waits++;
	results[i] = weft_mpi_wait(&r, MPI_STATUS_IGNORE, WEFT_FOREVER);
	in[i]++;
	pthread_testcancel();
	return NULL;
}

int main(int argc, char **argv)
{
	int level, rank, failed = 0, five = 5;
	pthread_t ids[THREADS];
	void *result;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = rank ^ 1;
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], NULL, wait_for_message, (void *)i) != 0)
			return 9;
	while (waits < THREADS)
		usleep(1000);
	usleep(10000);
	for (int i = 0; i < THREADS; i++)
		pthread_cancel(ids[i]);
	usleep(10000);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < THREADS; i++)
		MPI_Send(&five, 1, MPI_INT, other, i, MPI_COMM_WORLD);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], &result);
		failed += result != PTHREAD_CANCELED || results[i] != 0 || in[i] != 6;
	}
	MPI_Finalize();
	printf("%d checks, %d failed\n", THREADS, failed);
	return failed != 0;
}
