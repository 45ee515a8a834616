/* SPDX-License-Identifier: MIT */
/*
 * lockfree/atomic.c - the word behind fences that a tool cannot see, and what tests call
 *
 * The hook is not in perturb.c: a test can have a wefti_perturb() of its own.
 *
 * Writers
 *   wefti_perturb_hook  explore.c: wefti_explore_begin, wefti_explore_end
 */
#include "lockfree/atomic.h"
#include "lockfree/perturb.h"

extern _Atomic unsigned wefti_tsan_fence;

/* See atomic.h. No other code touches it, and the value has no meaning. */
_Atomic unsigned wefti_tsan_fence;

_Atomic(wefti_perturb_hook_fn *) wefti_perturb_hook;
