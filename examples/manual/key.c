/* SPDX-License-Identifier: MIT */
/* key.c - each light thread has a buffer of its own, which its end frees */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static unsigned key;
static _Atomic int freed;

static void free_buffer(void *buffer)
{
	free(buffer);
	freed++;
}

static void *use_buffer(void *arg)
{
	char *buffer = malloc(32);

	if (!buffer || weft_key_set(key, buffer) != 0)
		return NULL;
	weft_yield();		/* other threads set their own values */
	snprintf(weft_key_get(key), 32, "thread %d", *(int *)arg);
	return weft_key_get(key) == buffer ? arg : NULL;
}

int main(void)
{
	struct weft_attr light = { .flags = WEFT_LIGHT };
	int number[3] = { 1, 2, 3 };
	uint64_t id[3];
	void *result;

	if (weft_start(NULL) != 0 || weft_key_create(&key, free_buffer) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (weft_spawn(&id[i], &light, use_buffer, &number[i]) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		if (weft_join(id[i], &result) != 0 || !result)
			return 1;
	printf("%d buffers were freed\n", freed);
	return freed != 3 || weft_key_delete(key) != 0 || weft_stop() != 0;
}
