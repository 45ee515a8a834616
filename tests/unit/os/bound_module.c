/* SPDX-License-Identifier: MIT */
/* bound_module.c - a library that calls libc, and takes addresses of its functions */
#include <unistd.h>

int weft_test_call(void);
int weft_test_call_named(void);
int weft_test_call_other(void);

static pid_t (*volatile named)(void);

int weft_test_call(void)
{
	return getpid();
}

int weft_test_call_named(void)
{
	named = getpgrp;
	return named();
}

int weft_test_call_other(void)
{
	return getppid();
}
