/* SPDX-License-Identifier: MIT */
/* lockfree/atomic.c - the word behind fences that a tool cannot see */
#include "lockfree/atomic.h"

extern _Atomic unsigned wefti_tsan_fence;

/* See atomic.h. No other code touches it, and the value has no meaning. */
_Atomic unsigned wefti_tsan_fence;
