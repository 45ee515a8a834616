/* SPDX-License-Identifier: MIT */
/*
 * work.h - a unit of work: a chain of arithmetic in which each step needs the
 * one before, so that no CPU can do two at a time
 */
#ifndef WEFT_BENCH_WORK_H
#define WEFT_BENCH_WORK_H

#include <stdint.h>

static inline uint64_t bench_work(uint64_t x, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		x = x * UINT64_C(6364136223846793005) +
		    UINT64_C(1442695040888963407);
		/*
		 * Or the compiler works several steps out at once, or none
		 * where nobody looks at the result.
		 */
		__asm__ volatile("" : "+r" (x));
	}
	return x;
}

#endif
