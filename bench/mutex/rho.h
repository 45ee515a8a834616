/* SPDX-License-Identifier: MIT */
/*
 * mutex/rho.h - the hand-off mutex as LFthreads published it. For comparison
 * only: its unlock can touch the mutex after the next owner has destroyed it
 */
#ifndef WEFT_BENCH_MUTEX_RHO_H
#define WEFT_BENCH_MUTEX_RHO_H

#include <stdint.h>

#include "lockfree/atomic.h"

struct bench_rho_waiter;

/* Zero-filled is unlocked. */
struct bench_rho {
	_Atomic uint64_t count;		/* the owner and all that want it */
	_Atomic uint64_t token;		/* 0: the hand-off is taken care of */
	_Atomic(struct bench_rho_waiter *) come;	/* newest first */
	/* Touched only by the thread that is responsible for the hand-off: */
	struct bench_rho_waiter *oldest;
	uint64_t last_token;
};

void bench_rho_lock(struct bench_rho *m);
void bench_rho_unlock(struct bench_rho *m);

#endif
