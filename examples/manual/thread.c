/* SPDX-License-Identifier: MIT */
/* thread.c - four threads, one of them light, and their results */
#include <stdio.h>
#include <weft.h>

#define THREADS	4

static void *square(void *arg)
{
	int *number = arg;
	char name[WEFT_NAME_MAX];

	*number *= *number;
	if (weft_name(weft_self(), name, sizeof(name)) != 0)
		weft_exit(NULL);
	printf("%s: %d\n", name, *number);
	return number;
}

int main(void)
{
	struct weft_attr attr = { .stack_bytes = 128 * 1024, .name = "first" };
	int number[THREADS] = { 1, 2, 3, 4 }, sum = 0;
	uint64_t id[THREADS];
	void *result;

	if (weft_start(NULL) != 0)
		return 1;
	for (int i = 0; i < THREADS; i++) {
		if (weft_spawn(&id[i], &attr, square, &number[i]) != 0)
			return 1;
		attr.name = i == 0 ? "second" : "another";
		attr.flags = i == 2 ? WEFT_LIGHT : 0;
	}
	for (int i = 0; i < THREADS; i++) {
		if (weft_join(id[i], &result) != 0 || !result)
			return 1;
		sum += *(int *)result;
	}
	printf("the sum is %d\n", sum);
	return sum != 30 || weft_stop() != 0;
}
