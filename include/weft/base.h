/* SPDX-License-Identifier: MIT */
/*
 * weft/base.h - what every header of weft shares: time, and how errors come
 *
 * Functions return 0 (or a count) or a negative errno value; errno itself is
 * never set. On an error nothing has changed unless the entry says otherwise.
 *
 * A "deadline" is a time of weft_clock() in nanoseconds, WEFT_NO_WAIT (try
 * once, never park) or WEFT_FOREVER.
 *
 * "May park" means: the calling thread stops and its VCPU runs others. A kernel
 * thread that weft did not make (a foreign thread) may call the same function
 * and sleeps itself. After a call that may park, a thread can be carried by
 * another kernel thread; a light thread then sees another kernel thread's
 * thread-local variables (errno among them).
 *
 * A signal's handler may call weft_sem_post(), weft_clock() and weft_vcpus(),
 * whatever it has interrupted, and no other function of weft: it may have come
 * while its thread was inside one. Whoever is to act on a signal waits for a
 * semaphore. Kernel threads of the runtime take no signals but those that mean
 * errors; a signal to the process comes to the one that called weft_start(),
 * whichever thread runs there, or to a foreign thread.
 */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_VERSION	"0.1"

#ifndef WEFT_API
#define WEFT_API	__attribute__((visibility("default")))
#endif
#define WEFT_MUST_USE	__attribute__((warn_unused_result))

#define WEFT_NO_WAIT	((int64_t)0)
#define WEFT_FOREVER	INT64_MAX

#ifdef __cplusplus
extern "C" {
#endif

/*
 * weft_clock - the time that deadlines are given in
 *
 * Returns nanoseconds of CLOCK_MONOTONIC; never fails.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int64_t weft_clock(void);

#ifdef __cplusplus
}
#endif
#endif
