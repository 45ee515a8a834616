/* SPDX-License-Identifier: MIT */
/* code_on_stack.h - a function inside a function, and its address is taken */
#ifndef WEFT_TESTS_CODE_ON_STACK_H
#define WEFT_TESTS_CODE_ON_STACK_H

#include <stdlib.h>

/*
 * The place of 0 among 16 numbers that are sorted by how far they are from `from`.
 * GCC builds code on the stack for the comparison, which needs `from`.
 */
static inline int place_of_zero(int from)
{
	int numbers[16], place = 0;

	int is_nearer(const void *a, const void *b)
	{
		return abs(*(const int *)a - from) - abs(*(const int *)b - from);
	}

	for (int i = 0; i < 16; i++)
		numbers[i] = 2 * i;
	qsort(numbers, 16, sizeof(*numbers), is_nearer);
	while (numbers[place] != 0)
		place++;
	return place;
}

#endif
