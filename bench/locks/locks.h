/* SPDX-License-Identifier: MIT */
/* locks/locks.h - the variants of the suite, each in a file of its own */
#ifndef WEFT_BENCH_LOCKS_H
#define WEFT_BENCH_LOCKS_H

#include "bench.h"

extern const struct bench_variant bench_locks_light;
extern const struct bench_variant bench_locks_tls;
extern const struct bench_variant bench_locks_pthreads;
extern const struct bench_variant bench_locks_futex;
extern const struct bench_variant *const bench_locks_tables[];	/* to NULL */

/*
 * A mutex as in U. Drepper's "Futexes are tricky", with so many tries before it
 * sleeps; the third of the paper.
 */
struct futex_mutex {
	_Alignas(64) _Atomic unsigned word;	/* 0, 1: locked, 2: and waited for */
};

void futex_mutex_lock(struct futex_mutex *m, unsigned tries);
void futex_mutex_unlock(struct futex_mutex *m);

#endif
