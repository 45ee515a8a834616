/* SPDX-License-Identifier: MIT */
/*
 * weft/base.h - what every header of weft shares: time, and how errors are returned
 *
 * Functions return 0 (or a count) or a negative errno value; they never set errno
 * itself. On an error nothing has changed, unless the entry says otherwise.
 *
 * A "deadline" is an absolute time of weft_clock() in nanoseconds, WEFT_NO_WAIT (try
 * once, never park) or WEFT_FOREVER. If the call would have to wait, WEFT_NO_WAIT gives
 * -EBUSY from a mutex or a rwlock, -ETIMEDOUT from a condition variable, and -EAGAIN from
 * other calls. The entry says where a call differs.
 *
 * "May park" means that the calling thread stops until its wait is over, and its VCPU
 * runs other threads meanwhile. A kernel thread that weft did not make (a foreign
 * thread) may call the same functions; it sleeps where a thread would park. After a
 * call that may park or yield, a thread can be carried by another kernel thread. A light
 * thread then sees the thread-local variables of that kernel thread (errno is one of
 * them).
 *
 * A signal handler may call weft_sem_post(), weft_clock() and weft_vcpus(), whatever
 * code it has interrupted. It may call no other function of weft, because the signal may
 * have interrupted such a function. A thread that is to act on a signal therefore waits
 * for a semaphore, which the handler posts.
 *
 * The kernel threads of the runtime accept only the signals that report errors
 * (SIGSEGV and the like). A signal sent to the process is handled by the kernel thread
 * that called weft_start(), whichever thread runs there, or by a foreign thread.
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
