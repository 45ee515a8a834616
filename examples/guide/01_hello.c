/* SPDX-License-Identifier: MIT */
/* 01_hello - a thread says hello, and main waits for it */
#include <stdio.h>
#include <weft.h>

static void *greet(void *arg)
{
	printf("hello from %s\n", (const char *)arg);
	return NULL;
}

int main(void)
{
	uint64_t id;

	if (weft_start(NULL) != 0)
		return 1;
	if (weft_spawn(&id, NULL, greet, "a thread") != 0)
		return 1;
	if (weft_join(id, NULL) != 0)
		return 1;
	return weft_stop() != 0;
}
