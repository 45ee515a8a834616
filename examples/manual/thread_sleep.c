/* SPDX-License-Identifier: MIT */
/* thread_sleep.c - two threads sleep; a third one only gives way to others */
#include <stdio.h>
#include <weft.h>

static void *sleep_a_little(void *arg)
{
	int64_t *slept = arg, begin = weft_clock();

	if (weft_sleep(WEFT_MS(10)) == 0 && weft_sleep_until(begin + WEFT_MS(20)) == 0)
		*slept = weft_clock() - begin;
	return NULL;
}

static void *spin(void *arg)
{
	for (int i = 0; i < 100; i++)
		weft_yield();
	return arg;
}

int main(void)
{
	int64_t slept[2] = { 0, 0 };
	uint64_t id[3];

	if (weft_start(NULL) != 0 ||
	    weft_spawn(&id[0], NULL, sleep_a_little, &slept[0]) != 0 ||
	    weft_spawn(&id[1], NULL, sleep_a_little, &slept[1]) != 0 ||
	    weft_spawn(&id[2], NULL, spin, NULL) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (weft_join(id[i], NULL) != 0)
			return 1;
	printf("they slept for at least 20 ms\n");
	return slept[0] < WEFT_MS(20) || slept[1] < WEFT_MS(20) || weft_stop() != 0;
}
