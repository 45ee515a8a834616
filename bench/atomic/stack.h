/* SPDX-License-Identifier: MIT */
/* atomic/stack.h - the stack of the suite, over atomic objects or under a lock */
#ifndef WEFT_BENCH_ATOMIC_STACK_H
#define WEFT_BENCH_ATOMIC_STACK_H

#include "crew.h"

/* The functions that a compiler calls, of one library. */
struct atomic_ops {
	void (*load)(size_t n, const void *object, void *to, int order);
	void (*store)(size_t n, void *object, const void *from, int order);
	_Bool (*cas)(size_t n, void *object, void *expected,
		     const void *desired, int success, int failure);
};

extern struct atomic_ops atomic_ops;

extern const struct bench_body atomic_object_bodies[];
extern const struct bench_body atomic_mutex_bodies[];
extern const struct bench_body atomic_ttas_bodies[];

#endif
