/* SPDX-License-Identifier: MIT */
/* plan9/random.c - random numbers: libc's, in the ranges of Plan 9 */
#include "plan9.h"

#include <stdlib.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

void weft_plan9_srand(long seed)
{
	srandom((unsigned)seed);
}

long weft_plan9_lrand(void)
{
	return random();
}

int weft_plan9_rand(void)
{
	return (int)(random() & 0x7fff);
}

/* Each number below n is as likely as the others. */
long weft_plan9_lnrand(long n)
{
	const long all = 1l << 31;
	long v;

	if (n <= 0 || n > all)
		return 0;
	do {
		v = random();
	} while (v >= all - all % n);
	return v % n;
}

int weft_plan9_nrand(int n)
{
	return (int)weft_plan9_lnrand(n);
}

/* As many bits as a double keeps: with more, the highest number would round to 1. */
double weft_plan9_frand(void)
{
	const uvlong high = (uvlong)random() << 22;

	return (double)(high | (uvlong)random() >> 9) * 0x1p-53;
}

/* The kernel's. */
ulong weft_plan9_truerand(void)
{
	unsigned v;

	if (getentropy(&v, sizeof(v)) != 0)
		weft_plan9_sysfatal("truerand: %r");
	return v;
}

ulong weft_plan9_ntruerand(ulong n)
{
	const uvlong all = 1ull << 32;
	uvlong v;

	if (!n || n > all)
		return 0;
	do {
		v = weft_plan9_truerand();
	} while (v >= all - all % n);
	return (ulong)(v % n);
}
