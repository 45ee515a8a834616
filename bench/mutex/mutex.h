/* SPDX-License-Identifier: MIT */
/* mutex/mutex.h - the variants and the policies of the suite */
#ifndef WEFT_BENCH_MUTEX_MUTEX_H
#define WEFT_BENCH_MUTEX_MUTEX_H

#include "bench.h"

/* The low byte of a case's arg; the rest is units of work outside. */
enum mutex_policy {
	POLICY_ADAPTIVE,	/* as WEFT_MUTEX_ADAPTIVE */
	POLICY_STRICT,		/* as WEFT_MUTEX_STRICT */
	POLICY_SPIN,		/* mutex/spinmutex.h */
	POLICY_PAPER,		/* mutex/rho.h */
	POLICY_LINUX,		/* pthread_mutex_t */
	POLICY_NONE,		/* no mutex: what the machine can do */
};

#define MUTEX_ARG(policy, outside)	((uint64_t)(outside) << 8 | (policy))

extern const struct bench_variant bench_mutex_light;
extern const struct bench_variant bench_mutex_tls;
extern const struct bench_variant bench_mutex_pthreads;

/*
 * With --preempt=processes: one process for each VCPU, on the CPUs that the
 * sample may use, computes until the sample ends.
 */
void mutex_hogs_begin(const struct bench_ctx *ctx);
void mutex_hogs_end(void);

#endif
