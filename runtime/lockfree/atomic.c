/* SPDX-License-Identifier: MIT */
/* lockfree/atomic.c - the word behind fences that a tool cannot see */
#include "lockfree/atomic.h"

extern _Atomic unsigned wefti_tsan_fence;

/* See atomic.h; nobody else touches it, and the value means nothing. */
_Atomic unsigned wefti_tsan_fence;
