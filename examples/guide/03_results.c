/* SPDX-License-Identifier: MIT */
/* 03_results - what a thread returns, and what a call returns that fails */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

/* Ends the program if a call that should not fail has failed. */
static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

struct division {
	long dividend, divisor;
	long quotient;		/* set by the thread, read after the join */
	int error;
};

static void *divide(void *arg)
{
	struct division *d = arg;

	if (d->divisor == 0)
		d->error = -EDOM;
	else
		d->quotient = d->dividend / d->divisor;
	return d;
}

int main(void)
{
	struct division d[] = {
		{ .dividend = 42, .divisor = 6 },
		{ .dividend = 42, .divisor = 0 },
	};
	uint64_t id[2];
	void *result;

	must(weft_start(NULL), "start");
	for (int i = 0; i < 2; i++)
		must(weft_spawn(&id[i], NULL, divide, &d[i]), "spawn");
	for (int i = 0; i < 2; i++) {
		const struct division *done;

		must(weft_join(id[i], &result), "join");
		done = result;
		if (done->error)
			printf("%ld / %ld: %s\n", done->dividend,
			       done->divisor, weft_strerror(done->error));
		else
			printf("%ld / %ld = %ld\n", done->dividend,
			       done->divisor, done->quotient);
	}
	printf("joined again: %s\n", weft_strerror(weft_join(id[0], &result)));
	must(weft_stop(), "stop");
	return 0;
}
