/* SPDX-License-Identifier: MIT */
/* libgomp-module.c - calls the kernel by instructions of its own, as libgomp does */
#include "syscall.h"

long weft_test_call(long number, const long *six);

long weft_test_call(long number, const long *six)
{
	return wefti_arch_syscall(number, six[0], six[1], six[2], six[3],
				  six[4], six[5]);
}
