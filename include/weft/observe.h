/* SPDX-License-Identifier: MIT */
/* weft/observe.h - what the runtime is doing: dump and statistics */
#ifndef WEFT_OBSERVE_H
#define WEFT_OBSERVE_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * weft_dump - write every thread, with its stack, as text
 *
 *   fd  where to
 *
 * For each thread: name, id, state, what it waits for and since when, the owner
 * of that where there is one, and its stack. SIGQUIT does the same to standard
 * error unless the program has a handler of its own or WEFT_DUMP=off.
 *
 * Returns 0, else
 *   -EIO    fd did not take it all
 *   -EBUSY  another dump was being written for two seconds
 *   -ESRCH  the runtime does not run
 *
 * Blocks     the kernel thread while it writes. Allocates no memory and waits
 *            for no other thread without a time-out.
 * Since      0.1
 */
WEFT_API int weft_dump(int fd);

/* Counts since weft_start(), and levels now. */
struct weft_stat {
	uint64_t threads_made;		/* spawned so far */
	uint64_t threads;		/* spawned and not yet released, now */
	uint64_t threads_peak;		/* most of these at once */
	uint64_t kernel_threads;	/* carriers and spares now */
	uint64_t switches;		/* from thread to thread */
	uint64_t steals;		/* threads taken from other VCPUs */
	uint64_t preemptions;		/* threads stopped at their slice's end */
	uint64_t compensations;		/* VCPUs taken from blocked threads */
	uint64_t wakes;			/* VCPUs woken from idle */
	uint64_t own_tls;		/* 1: threads have TLS of their own */
	uint64_t blocked_ns;		/* how long threads were blocked since
					 * their VCPU was taken; those that are
					 * so now do not count yet */
	uint64_t reserved[5];
};

/*
 * weft_stat - the runtime's counters
 *
 *   stat  filled
 *
 * Returns 0, or -ESRCH: the runtime does not run.
 *
 * Blocks     never. The counts are not taken at one moment.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_stat(struct weft_stat *stat);

#ifdef __cplusplus
}
#endif
#endif
