/* SPDX-License-Identifier: MIT */
/* code_on_stack_module.c - a library that needs code on stacks */
#include "code_on_stack.h"

int weft_test_place(int from);

int weft_test_place(int from)
{
	return place_of_zero(from);
}
