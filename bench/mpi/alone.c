/* SPDX-License-Identifier: MIT */
/*
 * alone WHAT REQUESTS BYTES MS - what bench/mpi/threads.c asks, with one thread a rank
 *
 * In the place of threads that wait there are requests, and MPI_Waitsome gives
 * those that are done. So it is what MPI itself can do, and the limit for
 * threads. For 2 ranks.
 */
#include "figures.h"
#include "mpi/ranks.h"

static struct {
	int requests, bytes;
	int64_t ms;
	unsigned char *out, **in;
	MPI_Request *request;
	int64_t *began;
} run;

static void expect(int i)
{
	ranks_must(MPI_Irecv(run.in[i], run.bytes, MPI_BYTE, !ranks.rank, i,
			     MPI_COMM_WORLD, &run.request[i]), "receive");
}

static void pass(int i, unsigned char go_on)
{
	run.out[0] = go_on;
	ranks_must(MPI_Send(run.out, run.bytes, MPI_BYTE, !ranks.rank, i,
			    MPI_COMM_WORLD), "send");
}

/* Rank 1: each message goes back until its end comes. */
static int answer(int i)
{
	if (!run.in[i][0])
		return 0;
	expect(i);
	pass(i, 1);
	return 1;
}

/* Rank 0: notes the trip, and begins the next one until the time is over. */
static int ask_again(int i, struct times *trip, int64_t end)
{
	int64_t after = now_ns();

	times_add(trip, after - run.began[i]);
	run.began[i] = after;
	if (after >= end) {
		pass(i, 0);
		return 0;
	}
	expect(i);
	pass(i, 1);
	return 1;
}

static void talk(void)
{
	int *done = ranks_memory((size_t)run.requests, sizeof(*done));
	MPI_Status *status = ranks_memory((size_t)run.requests, sizeof(*status));
	struct times trip = { .room = 65536 };
	int64_t begin = now_ns(), end = begin + run.ms * 1000000;
	int open = run.requests, count;

	trip.ns = ranks_memory(trip.room, sizeof(*trip.ns));
	for (int i = 0; i < run.requests; i++) {
		expect(i);
		run.began[i] = now_ns();
		if (ranks.rank == 0)
			pass(i, 1);
	}
	while (open > 0) {
		ranks_must(MPI_Waitsome(run.requests, run.request, &count, done,
					status), "waitsome");
		for (int k = 0; k < count; k++)
			open -= ranks.rank == 0 ?
				!ask_again(done[k], &trip, end) :
				!answer(done[k]);
	}
	if (ranks.rank == 0) {
		figure(".", "k/s", 2e6 * (double)trip.count /
				   (double)(now_ns() - begin));
		times_say(&trip);
	}
	free(trip.ns);
	free(done);
	free(status);
}

static void reduce(void)
{
	const int count = ints_of(run.bytes);
	int *one = ranks_memory((size_t)count, sizeof(int));
	int *sum = ranks_memory((size_t)count, sizeof(int));
	struct times trip = { .room = 65536 };
	int64_t before = now_ns(), end = before + run.ms * 1000000;
	double work = run.ms;
	uint64_t units = 0;

	trip.ns = ranks_memory(trip.room, sizeof(*trip.ns));
	while (!sum[0]) {
		MPI_Request request;
		int64_t after;
		int done = 0;

		one[0] = ranks.rank == 0 && before >= end;
		ranks_must(MPI_Iallreduce(one, sum, count, MPI_INT, MPI_SUM,
					  MPI_COMM_WORLD, &request),
			   "allreduce");
		while (!done) {
			work = compute(work);
			units++;
			ranks_must(MPI_Test(&request, &done,
					    MPI_STATUS_IGNORE), "test");
		}
		after = now_ns();
		times_add(&trip, after - before);
		before = after;
	}
	/* The sum is used, so it is computed. */
	if (ranks.rank == 0 && work != 0) {
		times_say(&trip);
		figure("-work", "M/s", (double)units / (double)run.ms / 1e3);
	}
	free(trip.ns);
	free(sum);
	free(one);
}

int main(int argc, char **argv)
{
	ranks_start("alone", &argc, &argv);
	if (argc != 5 || ranks.count != 2)
		ranks_die("usage: mpirun -n 2 alone WHAT REQUESTS BYTES MS");
	run.requests = ranks_number(argv[2], 1, 20000);
	run.bytes = ranks_number(argv[3], 1, 1 << 30);
	run.ms = ranks_number(argv[4], 1, 1000000);
	run.out = ranks_memory((size_t)run.bytes, 1);
	run.in = ranks_memory((size_t)run.requests, sizeof(*run.in));
	run.began = ranks_memory((size_t)run.requests, sizeof(*run.began));
	run.request = ranks_memory((size_t)run.requests, sizeof(*run.request));
	for (int i = 0; i < run.requests; i++)
		run.in[i] = ranks_memory((size_t)run.bytes, 1);
	ranks_must(MPI_Barrier(MPI_COMM_WORLD), "barrier");
	if (!strcmp(argv[1], "talk"))
		talk();
	else
		reduce();
	for (int i = 0; i < run.requests; i++)
		free(run.in[i]);
	free(run.in);
	free(run.out);
	free(run.began);
	free(run.request);
	ranks_stop();
	return 0;
}
