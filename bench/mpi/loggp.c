/* SPDX-License-Identifier: MIT */
/*
 * loggp - the parameters of LogGP between two ranks, in nanoseconds
 *
 * For 2 ranks. A message of k bytes costs the sender o_s and the receiver o_r of
 * CPU time, is L on its way, and the next one can follow after g. Each further
 * byte adds G.
 *
 *	o_s	the time of an MPI_Send that need not wait
 *	o_r	the time of an MPI_Recv whose message has come
 *	L	half of a round trip, less o_s and o_r
 *	g	the time of a message in a stream of small ones
 *	G	what a byte adds to half of a round trip, from 8 KiB to 1 MiB
 *	test	the time of an MPI_Testsome that finds nothing, for each request
 *
 * After Alexandrov, Ionescu, Schauser and Scheiman, LogGP (SPAA 1995). Medians.
 */
#include "figures.h"
#include "mpi/ranks.h"

#define ROUNDS	2001
#define BURST	64
#define BIG	(1 << 20)
#define SMALL	(8 << 10)

static int64_t sample[ROUNDS];
static unsigned char *buffer;

static void give(int bytes, int tag)
{
	ranks_must(MPI_Send(buffer, bytes, MPI_BYTE, !ranks.rank, tag,
			    MPI_COMM_WORLD), "send");
}

static void take(int bytes, int tag)
{
	ranks_must(MPI_Recv(buffer, bytes, MPI_BYTE, !ranks.rank, tag,
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE), "receive");
}

static double median(int count)
{
	qsort(sample, (size_t)count, sizeof(*sample), times_compare);
	return (double)sample[count / 2];
}

static void sit(int64_t ns)
{
	for (int64_t end = now_ns() + ns; now_ns() < end; )
		;
}

/* Half of a round trip. */
static double half_trip(int bytes, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		int64_t before = now_ns();

		if (ranks.rank == 0)
			give(bytes, 1);
		take(bytes, 1);
		if (ranks.rank == 1)
			give(bytes, 1);
		sample[i] = now_ns() - before;
	}
	return median(rounds) / 2;
}

/* Rank 1 has time to take each before the next one comes. */
static double send_overhead(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		int64_t before = now_ns();

		if (ranks.rank == 1) {
			take(8, 2);
			continue;
		}
		give(8, 2);
		sample[i] = now_ns() - before;
		sit(5000);
	}
	return median(ROUNDS);
}

/* The message with tag 4 is behind the one with tag 3, which has come too then. */
static double receive_overhead(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		int64_t before;

		if (ranks.rank == 1) {
			give(8, 3);
			give(8, 4);
			take(8, 5);
			continue;
		}
		take(8, 4);
		before = now_ns();
		take(8, 3);
		sample[i] = now_ns() - before;
		give(8, 5);
	}
	return median(ROUNDS);
}

static double gap(void)
{
	for (int i = 0; i < ROUNDS / 10; i++) {
		int64_t before = now_ns();

		for (int k = 0; k < BURST; k++) {
			if (ranks.rank == 0)
				give(8, 6);
			else
				take(8, 6);
		}
		/* Rank 1 has taken them all. */
		if (ranks.rank == 0)
			take(8, 7);
		else
			give(8, 7);
		sample[i] = (now_ns() - before) / BURST;
	}
	return median(ROUNDS / 10);
}

/* A look at `count` requests of which none is done, for each of them. */
static double look(int count)
{
	MPI_Request *request = ranks_memory((size_t)count, sizeof(*request));
	int *done = ranks_memory((size_t)count, sizeof(*done)), n;
	MPI_Status *status = ranks_memory((size_t)count, sizeof(*status));
	double each;

	for (int i = 0; i < count; i++)
		ranks_must(MPI_Irecv(buffer, 8, MPI_BYTE, !ranks.rank, 100 + i,
				     MPI_COMM_WORLD, &request[i]), "receive");
	for (int i = 0; i < ROUNDS / 10; i++) {
		int64_t before = now_ns();

		ranks_must(MPI_Testsome(count, request, &n, done,
					status), "testsome");
		sample[i] = now_ns() - before;
	}
	each = median(ROUNDS / 10) / count;
	/* None has been sent until both have looked. */
	ranks_must(MPI_Barrier(MPI_COMM_WORLD), "barrier");
	for (int i = 0; i < count; i++)
		give(8, 100 + i);
	ranks_must(MPI_Waitall(count, request, status), "waitall");
	free(request);
	free(done);
	free(status);
	return each;
}

int main(int argc, char **argv)
{
	double half, send, receive, small, big;

	ranks_start("loggp", &argc, &argv);
	if (ranks.count != 2)
		ranks_die("usage: mpirun -n 2 loggp");
	buffer = ranks_memory(BIG, 1);
	half_trip(8, ROUNDS);
	half = half_trip(8, ROUNDS);
	send = send_overhead();
	receive = receive_overhead();
	small = half_trip(SMALL, 401);
	big = half_trip(BIG, 401);
	if (ranks.rank == 0) {
		printf("half of a round trip %.0f ns\n", half);
		printf("o_s %.0f ns, o_r %.0f ns, L %.0f ns\n", send, receive,
		       half - send - receive);
		printf("G %.4f ns a byte\n", (big - small) / (BIG - SMALL));
	}
	double g = gap();

	if (ranks.rank == 0)
		printf("g %.0f ns\n", g);
	for (int count = 1; count <= 1000; count *= 10) {
		double each = look(count);

		if (ranks.rank == 0)
			printf("a look at %d requests: %.1f ns each\n", count,
			       each);
	}
	free(buffer);
	ranks_stop();
	return 0;
}
