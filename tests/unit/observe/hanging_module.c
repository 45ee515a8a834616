/* SPDX-License-Identifier: MIT */
/* hanging_module.c - a library that dlopen() does not come back from */
#include <unistd.h>

static __attribute__((noinline)) void hang_in_constructor(void)
{
	static const char text[] = "in dlopen\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) <= 0)
		return;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static __attribute__((constructor)) void begin(void)
{
	hang_in_constructor();
}
