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
 *   fd  the descriptor to write to
 *
 * The dump shows for each thread its name, id and state, what it waits for and for how
 * long, the owner of that object if there is one, and its stack. SIGQUIT writes the same
 * to standard error, unless the program has a handler of its own or WEFT_DUMP=off.
 *
 * Returns 0, else
 *   -EIO    fd did not accept the whole dump
 *   -EBUSY  another dump was in progress for two seconds
 *   -ESRCH  the runtime is not running
 *
 * Blocks     the kernel thread while it writes. The call allocates no memory, and
 *            each of its waits for another thread has a time-out.
 * Since      0.1
 */
WEFT_API int weft_dump(int fd);

/* Counts since weft_start(), and present levels. */
struct weft_stat {
	uint64_t threads_made;		/* spawned so far */
	uint64_t threads;		/* spawned and not yet released, now */
	uint64_t threads_peak;		/* the most at any time; with several VCPUs
					 * it may be a little too low */
	uint64_t kernel_threads;	/* carriers and spares, now */
	uint64_t switches;		/* from thread to thread */
	uint64_t steals;		/* threads taken from other VCPUs */
	uint64_t preemptions;		/* threads stopped at their slice's end */
	uint64_t compensations;		/* VCPUs taken from blocked threads */
	uint64_t wakes;			/* VCPUs woken from idle */
	uint64_t own_tls;		/* 1: threads have TLS of their own */
	uint64_t blocked_ns;		/* time that threads were blocked after
					 * their VCPU was taken; threads that
					 * are blocked now do not count yet */
	uint64_t reserved[5];
};

/*
 * weft_stat - the runtime's counters
 *
 *   stat  receives the counters
 *
 * Returns 0, or -ESRCH: the runtime is not running.
 *
 * Blocks     never. The counts are not all of the same moment.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_stat(struct weft_stat *stat);

#ifdef __cplusplus
}
#endif
#endif
