/* SPDX-License-Identifier: MIT */
/* runtime.c - start the runtime with two VCPUs, use it, and stop it */
#include <stdio.h>
#include <weft.h>

static void *hello(void *arg)
{
	printf("hello from a thread, %s\n", (const char *)arg);
	return NULL;
}

int main(void)
{
	struct weft_options options = { .vcpus = 2 };
	uint64_t id;
	int error = weft_start(&options);

	if (error) {
		fprintf(stderr, "weft_start: %s\n", weft_strerror(error));
		return 1;
	}
	/* main is a thread of weft now, and other threads run beside it. */
	printf("%u VCPUs\n", weft_vcpus());
	if (weft_vcpus() != 2 || weft_spawn(&id, NULL, hello, "and goodbye") != 0 ||
	    weft_join(id, NULL) != 0)
		return 1;
	return weft_stop() != 0;
}
