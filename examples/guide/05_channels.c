/* SPDX-License-Identifier: MIT */
/* 05_channels - numbers go through a channel to workers, squares come back */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

#define WORKERS	3

WEFT_CHAN_OF(numbers, long);

static struct numbers work, squares;

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

/* Until the channel is closed and empty. */
static void *square(void *unused)
{
	long n;

	while (numbers_recv(work, &n) == 0)
		must(numbers_send(squares, n * n), "send a square");
	return unused;
}

static void *count_up(void *unused)
{
	for (long n = 1; n <= 1000; n++)
		must(numbers_send(work, n), "send a number");
	numbers_close(work);
	return unused;
}

/* Nothing is sent any more once all workers have ended. */
static void *close_squares(void *arg)
{
	const uint64_t *worker = arg;

	for (int i = 0; i < WORKERS; i++)
		must(weft_join(worker[i], NULL), "join a worker");
	numbers_close(squares);
	return NULL;
}

int main(void)
{
	uint64_t source, worker[WORKERS], closer;
	long n, sum = 0;

	must(weft_start(NULL), "start");
	must(numbers_create(&work, 0, 0), "channel");
	must(numbers_create(&squares, 16, 0), "channel");
	for (int i = 0; i < WORKERS; i++)
		must(weft_spawn(&worker[i], NULL, square, NULL), "spawn");
	must(weft_spawn(&closer, NULL, close_squares, worker), "spawn");
	must(weft_spawn(&source, NULL, count_up, NULL), "spawn");
	while (numbers_recv(squares, &n) == 0)
		sum += n;
	printf("the sum of 1000 squares is %ld\n", sum);
	must(weft_join(source, NULL), "join");
	must(weft_join(closer, NULL), "join");
	numbers_destroy(work);
	numbers_destroy(squares);
	must(weft_stop(), "stop");
	return 0;
}
