/* SPDX-License-Identifier: MIT */
/* steer.h - a victim is stopped in a call, and what steers all that */
#ifndef WEFT_TESTS_STALL_STEER_H
#define WEFT_TESTS_STALL_STEER_H

#include "threads.h"

#include "lockfree/atomic.h"
#include "steps.h"

#define STALL_STEPS_MOST 400	/* then a searching VCPU goes round and round */

/* The thread whose call is stopped before step n. */
struct stall_victim {
	size_t n;
	uint64_t id;
	_Atomic int begun, returned;	/* the call */
};

/* The call. It says begin, and that it has returned. */
#define STALL_STEPS(v, call)						\
	do {								\
		store_seq_cst(&(v)->begun, 1);				\
		steps_begin((v)->n);					\
		call;							\
		steps_end();						\
		store_seq_cst(&(v)->returned, 1);			\
	} while (0)

/*
 * Waits until the victim is stopped, has returned, or is parked with its kernel
 * thread at rest. Returns 1 if it is stopped.
 */
int stall_await_stop(struct stall_victim *v);

/* All steps at first, further apart then: the same few in a loop. */
size_t stall_next_step(size_t n, uint64_t *random);

/*
 * Runs fn on a kernel thread that weft did not make, while the runtime runs on
 * three VCPUs: a green thread could be in the hands of the one that is stopped.
 */
void stall_steer(void *(*fn)(void *arg), void *arg);

/* The same on so many VCPUs. */
void stall_steer_on(unsigned vcpus, void *(*fn)(void *arg), void *arg);

/* Fresh threads of both kinds run fn to its end. */
void stall_all_end(void *(*fn)(void *arg), void *arg);

/* Until the thread is parked. */
void stall_await_parked(uint64_t id);

/*
 * The steering thread sleeps by the kernel's means, not by weft_sleep(): it must
 * not depend on what it tests.
 */
void stall_nap(void);

/* A thread's function: every call, on objects of its own. */
void *stall_probe(void *arg);

#endif
