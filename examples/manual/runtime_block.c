/* SPDX-License-Identifier: MIT */
/* runtime_block.c - a call of a library that blocks in the kernel */
#include <stdio.h>
#include <time.h>
#include <weft.h>

static int counted;

static void *count(void *unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++, counted++)
		weft_yield();
	return NULL;
}

int main(void)
{
	struct weft_options options = { .vcpus = 1 };
	struct timespec little = { .tv_nsec = 20000000 };
	uint64_t id;

	if (weft_start(&options) != 0 || weft_spawn(&id, NULL, count, NULL) != 0)
		return 1;
	/* libc's nanosleep() knows nothing of weft. The VCPU goes to count() meanwhile. */
	weft_block_begin();
	nanosleep(&little, NULL);
	weft_block_end();
	if (weft_join(id, NULL) != 0 || weft_stop() != 0)
		return 1;
	printf("counted to %d\n", counted);
	return counted != 1000;
}
