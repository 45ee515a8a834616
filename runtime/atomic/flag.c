/* SPDX-License-Identifier: MIT */
/*
 * atomic/flag.c - the functions behind the macros of <stdatomic.h>, and the
 * floating-point exceptions of C11's compound assignments
 *
 * Writers
 *   *flag  flag_clear, flag_clear_explicit, flag_test_and_set,
 *       flag_test_and_set_explicit
 */
#include <fenv.h>
#include <float.h>

#include "atomic/names.h"
#include "lockfree/atomic.h"

/* The state of an atomic_flag is a byte. */
#define FLAG(type, name, ...)						\
	type wefti_##name(__VA_ARGS__) EXPORT_AS("atomic_" #name);	\
	type wefti_##name(__VA_ARGS__)

FLAG(_Bool, flag_test_and_set, volatile _Atomic unsigned char *flag)
{
	return xchg_seq_cst(flag, 1) != 0;
}

FLAG(_Bool, flag_test_and_set_explicit, volatile _Atomic unsigned char *flag,
     int order)
{
	(void)order;
	return xchg_seq_cst(flag, 1) != 0;
}

FLAG(void, flag_clear, volatile _Atomic unsigned char *flag)
{
	store_seq_cst(flag, 0);
}

FLAG(void, flag_clear_explicit, volatile _Atomic unsigned char *flag, int order)
{
	(void)order;
	store_seq_cst(flag, 0);
}

FLAG(void, thread_fence, int order)
{
	if (order != memory_order_relaxed)
		atomic_thread_fence(memory_order_seq_cst);
}

FLAG(void, signal_fence, int order)
{
	(void)order;
	compiler_barrier();
}

/* By operations that raise them: no libm. */
void wefti_feraiseexcept(int which) EXPORT_AS("__atomic_feraiseexcept");
void wefti_feraiseexcept(int which)
{
	volatile double zero = 0.0, one = 1.0, most = DBL_MAX, least = DBL_MIN;
	volatile double result;

	if (which & FE_INVALID)
		result = zero / zero;
	if (which & FE_DIVBYZERO)
		result = one / zero;
	if (which & FE_OVERFLOW)
		result = most * most;
	if (which & FE_UNDERFLOW)
		result = least * least;
	if (which & FE_INEXACT)
		result = one / (one + one + one);
	(void)result;
}
