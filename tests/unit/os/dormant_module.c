/* SPDX-License-Identifier: MIT */
/* dormant_module.c - a library that asks for each thing that linking does */
#include <string.h>
#include <unistd.h>

#define BSS	20000

int weft_test_made(void);
int weft_test_own(int number);
int weft_test_imported(void);
int weft_test_imported_by_pointer(void);
int weft_test_has_weak(void);
int weft_test_call_missing(void);
int weft_test_tls(void);
int weft_test_zeros(void);

int weft_test_missing(void);
int weft_test_weak(void) __attribute__((weak));

static int made;
static _Thread_local int in_tls;
static char zeros[BSS];

__attribute__((constructor)) static void make(void)
{
	made++;
}

int weft_test_made(void)
{
	return made;
}

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

/* Addresses of its own, in data: with gaps, and more than a word of bits tells of. */
static int (*volatile own[200])(void) = {
	[0] = one, [1] = two, [62] = one, [63] = two, [64] = one, [199] = two,
};

int weft_test_own(int number)
{
	return own[number] ? own[number]() : 0;
}

int weft_test_imported(void)
{
	return getpid();
}

static pid_t (*volatile imported)(void) = getppid;

int weft_test_imported_by_pointer(void)
{
	return imported();
}

int weft_test_has_weak(void)
{
	return weft_test_weak ? weft_test_weak() : 0;
}

int weft_test_call_missing(void)
{
	return weft_test_missing();
}

int weft_test_tls(void)
{
	return ++in_tls;
}

/* Writes to all of it, too. Returns whether it was zeros. */
int weft_test_zeros(void)
{
	int are = 1;

	for (size_t i = 0; i < BSS; i++)
		are = are && zeros[i] == 0;
	memset(zeros, 1, BSS);
	return are;
}
