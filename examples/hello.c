/* SPDX-License-Identifier: MIT */
/* hello - start the runtime, some threads, wait for them, and stop it */
#include <stdio.h>
#include <weft.h>

#define THREADS	10

static void *greet(void *arg)
{
	int *number = arg;

	printf("hello from thread %d\n", *number);
	*number *= *number;
	return number;
}

int main(void)
{
	uint64_t id[THREADS];
	int number[THREADS];
	int sum = 0, made = 0;

	/* main becomes a thread as well: it parks in weft_join(). */
	if (weft_start(NULL))
		return 1;
	for (; made < THREADS; made++) {
		number[made] = made;
		if (weft_spawn(&id[made], NULL, greet, &number[made]))
			break;
	}
	for (int i = 0; i < made; i++) {
		void *result;

		if (weft_join(id[i], &result))
			return 1;
		sum += *(int *)result;
	}
	printf("the sum of their squares is %d\n", sum);
	return weft_stop() || made < THREADS;
}
