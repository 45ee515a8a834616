/* SPDX-License-Identifier: MIT */
/* 02_many [COUNT] - many threads at the same time, on few kernel threads */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static struct weft_sem all_there = WEFT_SEM_INIT;

static void *wait_and_square(void *arg)
{
	uint64_t *number = arg;

	weft_sem_wait(&all_there);
	*number *= *number;
	return NULL;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000, made;
	uint64_t *id = calloc(count, sizeof(*id));
	uint64_t *number = calloc(count, sizeof(*number));
	struct weft_stat stat;
	uint64_t sum = 0;

	if (!id || !number || weft_start(NULL) != 0)
		return 1;
	for (made = 0; made < count; made++) {
		number[made] = made + 1;
		if (weft_spawn(&id[made], NULL, wait_and_square, &number[made]) != 0)
			break;
	}
	if (weft_stat(&stat) == 0)
		printf("%llu threads, %llu kernel threads\n",
		       (unsigned long long)stat.threads,
		       (unsigned long long)stat.kernel_threads);
	for (size_t i = 0; i < made; i++)
		weft_sem_post(&all_there);
	for (size_t i = 0; i < made; i++) {
		if (weft_join(id[i], NULL) != 0)
			return 1;
		sum += number[i];
	}
	printf("the sum of the first %zu squares is %llu\n", made,
	       (unsigned long long)sum);
	free(id);
	free(number);
	return weft_stop() != 0;
}
