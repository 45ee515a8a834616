/* SPDX-License-Identifier: MIT */
/*
 * sieve [COUNT] - prints the first prime numbers, found by filters on all ranks
 *
 * Each filter is a thread: the first number that it receives is its prime, and
 * of those that come later it passes on what this prime does not divide. Filter
 * i is on rank i modulo the number of ranks. What it receives has the tag i.
 * The 0 behind the last number ends it. After M. D. McIlroy.
 */
#include <math.h>

#include "ranks.h"

#define COUNT_MAX	5000

struct filter {
	int index;
	long prime;		/* 0 until it is known */
	either_thread thread;
};

static int count = 100;		/* of filters, in all ranks */

/* To a filter; behind the last filter there is none. */
static void pass(int index, long number)
{
	if (index < count)
		ranks_must(MPI_Send(&number, 1, MPI_LONG, index % ranks.count,
				    index, MPI_COMM_WORLD), "send");
}

static long receive(int index)
{
	int from = (index + ranks.count - 1) % ranks.count;
	long number;

	/* Filter 0 gets its numbers from rank 0. */
	ranks_must(MPI_Recv(&number, 1, MPI_LONG, index ? from : 0, index,
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE), "receive");
	return number;
}

static void *run_filter(void *arg)
{
	struct filter *f = arg;
	long number = receive(f->index);

	f->prime = number;
	while (number) {
		number = receive(f->index);
		if (number % f->prime || !number)
			pass(f->index + 1, number);
	}
	return NULL;
}

/* The n-th prime is not greater, for n from 6 on. */
static long bound(int n)
{
	return n < 6 ? 13 : (long)(n * (log(n) + log(log(n)))) + 1;
}

static void print_primes(const long *mine)
{
	long *prime = ranks_memory((size_t)count, sizeof(*prime));

	/* The other ranks have 0 where this one has a prime. */
	ranks_must(MPI_Reduce(mine, prime, count, MPI_LONG, MPI_MAX, 0,
			      MPI_COMM_WORLD), "reduce");
	for (int i = 0; ranks.rank == 0 && i < count; i++)
		printf("%ld\n", prime[i]);
	free(prime);
}

int main(int argc, char **argv)
{
	struct filter *filter;
	long *mine;

	ranks_start("sieve", &argc, &argv);
	if (argc > 1)
		count = ranks_number(argv[1], 1, COUNT_MAX);
	filter = ranks_memory((size_t)count, sizeof(*filter));
	mine = ranks_memory((size_t)count, sizeof(*mine));
	for (int i = ranks.rank; i < count; i += ranks.count) {
		filter[i].index = i;
		ranks_check(either_spawn(&filter[i].thread, run_filter,
					 &filter[i]), "spawn");
	}
	for (long n = 2; ranks.rank == 0 && n <= bound(count); n++)
		pass(0, n);
	if (ranks.rank == 0)
		pass(0, 0);
	for (int i = ranks.rank; i < count; i += ranks.count) {
		ranks_check(either_join(filter[i].thread, NULL), "join");
		mine[i] = filter[i].prime;
	}
	print_primes(mine);
	free(mine);
	free(filter);
	ranks_stop();
	return 0;
}
