/* SPDX-License-Identifier: MIT */
/*
 * futex_call.h - futexes as test_futex.c calls for them
 *
 * By syscall(), or where WEFT_TESTS_INLINE is defined by instructions of a library's
 * own.
 */
#ifndef WEFT_TESTS_FUTEX_CALL_H
#define WEFT_TESTS_FUTEX_CALL_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * FUTEX_MOVES: a waiting thread is moved, and counted. Else some may wait in
 * the kernel.
 */
#ifdef WEFT_TESTS_INLINE
#include "inline_call.h"
#define FUTEX_CALL	inline_call
#define FUTEX_MOVES	0
#else
#define FUTEX_CALL	syscall
#define FUTEX_MOVES	1
#endif

extern int futex_flag;	/* FUTEX_PRIVATE_FLAG, or 0 */

static inline long futex(_Atomic unsigned *at, int op, unsigned value,
			 const void *time, _Atomic unsigned *second,
			 unsigned value3)
{
	return FUTEX_CALL(SYS_futex, at, op | futex_flag, value, time, second,
			  value3);
}

#endif
