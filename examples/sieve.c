/* SPDX-License-Identifier: MIT */
/*
 * sieve [COUNT] - prints the first prime numbers, found by a row of threads
 *
 * Each thread is a filter: the first number that it is sent is a prime, and of
 * those that come later it passes on what this prime does not divide. The row
 * grows by one thread with each prime. After M. D. McIlroy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

WEFT_CHAN_OF(numbers, unsigned long);

struct filter {
	struct numbers in, primes;
};

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "sieve: %s: %d\n", what, error);
		exit(1);
	}
}

static void start(struct filter *f, struct numbers in, struct numbers primes);

/* Ends, and so does the row behind it, when its channel is closed. */
static void *filter(void *arg)
{
	struct filter me = *(struct filter *)arg;
	unsigned long prime, x;
	struct numbers out;

	free(arg);
	if (numbers_recv(me.in, &prime) ||
	    numbers_send(me.primes, prime))
		return NULL;
	must(numbers_create(&out, 0, 0), "channel");
	start(malloc(sizeof(me)), out, me.primes);
	while (numbers_recv(me.in, &x) == 0)
		if (x % prime && numbers_send(out, x))
			break;
	numbers_close(out);
	return NULL;
}

static void start(struct filter *f, struct numbers in, struct numbers primes)
{
	static const struct weft_attr attr = {
		.flags = WEFT_LIGHT | WEFT_DETACHED, .stack_bytes = 16384,
	};

	must(f ? 0 : -ENOMEM, "filter");
	f->in = in;
	f->primes = primes;
	must(weft_spawn(NULL, &attr, filter, f), "spawn");
}

static void *count_up(void *arg)
{
	struct numbers out = *(struct numbers *)arg;

	for (unsigned long x = 2; numbers_send(out, x) == 0; x++)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	struct numbers all, primes;
	unsigned long prime = 0;
	uint64_t source;

	must(weft_start(NULL), "start");
	must(numbers_create(&all, 0, 0), "channel");
	must(numbers_create(&primes, 0, 0), "channel");
	start(malloc(sizeof(struct filter)), all, primes);
	must(weft_spawn(&source, NULL, count_up, &all), "spawn");
	for (unsigned long i = 0; i < count; i++) {
		must(numbers_recv(primes, &prime), "receive");
		printf("%lu\n", prime);
	}
	/* The source ends; the filters find their channels closed, one by one. */
	numbers_close(all);
	numbers_close(primes);
	must(weft_join(source, NULL), "join");
	return 0;
}
