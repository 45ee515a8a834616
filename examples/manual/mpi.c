/* SPDX-License-Identifier: MIT */
/*
 * mpi.c - rank 0 waits for a message, but not for ever; then for whichever comes first
 *
 * mpicc mpi.c $(pkg-config --cflags --libs weft-mpi), and mpirun -n 2 a.out
 */
#include <errno.h>
#include <stdio.h>
#include <weft.h>
#include <weft/mpi.h>

static int receive(void)
{
	struct weft_alt alt[2] = { { .op = WEFT_ALT_RECV }, { .op = WEFT_ALT_TIME } };
	int number = 0, error = 0;
	MPI_Request request;

	MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
	if (weft_mpi_wait(&request, MPI_STATUS_IGNORE, weft_deadline(WEFT_MS(5))) ==
	    -ETIMEDOUT && weft_mpi_cancel(&request, MPI_STATUS_IGNORE) == 0)
		MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
	if (weft_mpi_chan(&request, MPI_STATUS_IGNORE, &alt[0].chan) != 0)
		return 1;
	alt[0].elem = &error;
	do
		alt[1].u.time = weft_deadline(WEFT_SECONDS(1));
	while (weft_alt(alt, 2, WEFT_FOREVER) != 0);
	printf("the number is %d\n", number);
	return error != 0 || number != 42 || weft_chan_destroy(alt[0].chan) != 0;
}

int main(int argc, char **argv)
{
	int rank, number = 42, failed = 0;

	if (weft_start(NULL) != 0)
		return 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		failed = receive();
	else
		MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return failed || weft_wait_all(WEFT_FOREVER) != 0 || weft_stop() != 0;
}
