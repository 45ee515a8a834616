/* SPDX-License-Identifier: MIT */
/*
 * weft/base.h - what every header of weft shares: time, and how errors are returned
 *
 * WEFT_VERSION is the version of the headers, as a string.
 *
 * Functions return 0 (or a count) or a negative errno value; they never set errno
 * itself. On an error nothing has changed, unless the entry says otherwise.
 *
 * The compiler warns if a program drops a result without which it cannot go on safely: of
 * a try that did not get the lock, of a join with a thread that still runs. gcc warns in
 * spite of a cast to void; write (void)!call there.
 *
 * There is no warning for calls that lock or wait without a deadline: weft_mutex_lock(),
 * weft_rwlock_read(), weft_rwlock_write(), weft_cond_wait(), weft_sem_wait(),
 * weft_barrier_wait() and weft_once(). There is none for weft_wait_all(), weft_sleep(),
 * weft_sleep_until(), weft_chan_send(), weft_chan_recv() and weft_alt() either. Many
 * programs give these calls no reason to fail: no thread is cancelled, and no channel is
 * closed. A program may drop such a result if none of the errors in the entry can come.
 *
 * Other functions without a warning fail only if the program is wrong, or if nothing is
 * left to do (weft_cancel(), weft_detach(), weft_stop(), the destroy functions). Most
 * programs can do nothing about a failure of weft_close(), weft_set_name() or
 * weft_dump(), so these give no warning either. All of these results may be dropped.
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
 * A signal handler may call weft_sem_post(), weft_clock(), weft_vcpus() and
 * weft_strerror(), whatever code it has interrupted. It may call no other function of
 * weft, because the signal may have interrupted such a function. A thread that is to act
 * on a signal therefore waits for a semaphore, which the handler posts.
 *
 * The kernel threads of the runtime accept only the signals that report errors
 * (SIGSEGV and the like). A signal sent to the process is handled by the kernel thread
 * that called weft_start(), whichever thread runs there, or by a foreign thread. raise(3)
 * and pthread_kill(3) send a signal to one kernel thread instead, which may be one that
 * does not accept it: use kill(2).
 */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_VERSION	"0.2"

#ifndef WEFT_API
#define WEFT_API	__attribute__((visibility("default")))
#endif
#define WEFT_MUST_USE	__attribute__((warn_unused_result))

#define WEFT_NO_WAIT	((int64_t)0)
#define WEFT_FOREVER	INT64_MAX

/*
 * Times in nanoseconds: WEFT_MS(100), WEFT_SECONDS(5). The argument is a whole number and
 * is evaluated once. A product that does not fit becomes the greatest or the least
 * number. With a constant argument the macro is a constant.
 */
#define WEFT_MS(n)	WEFT_TIME_(n, INT64_C(1000000))
#define WEFT_SECONDS(n)	WEFT_TIME_(n, INT64_C(1000000000))

#define WEFT_TIME_(n, unit)						\
	(__builtin_constant_p(n) ?					\
	 (int64_t)(n) > INT64_MAX / (unit) ? INT64_MAX :		\
	 (int64_t)(n) < INT64_MIN / (unit) ? INT64_MIN :		\
	 (int64_t)((uint64_t)(int64_t)(n) * (uint64_t)(unit)) :		\
	 weft_time_product_((n), (unit)))

static inline __attribute__((unused)) int64_t
weft_time_product_(int64_t n, int64_t unit)
{
	return n > INT64_MAX / unit ? INT64_MAX :
	       n < INT64_MIN / unit ? INT64_MIN : n * unit;
}

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

/*
 * weft_deadline - the deadline that is some time away from now
 *
 *   ns  how far away, in nanoseconds: WEFT_MS(100), WEFT_SECONDS(5)
 *
 * Returns weft_clock() + ns. If that is over INT64_MAX, or ns is WEFT_FOREVER, it returns
 * WEFT_FOREVER. If ns is 0 or negative, the deadline is now: it has passed. The result is
 * never WEFT_NO_WAIT.
 *
 * Blocks     never.
 * See        weft_clock()
 * Since      0.2
 */
WEFT_API int64_t weft_deadline(int64_t ns);

/*
 * weft_strerror - what an error means, in words
 *
 *   error  what a function of weft returned; the number without its sign works too
 *
 * The words say what the error means in weft: -EPIPE is "closed" also for a channel, and
 * not "Broken pipe". An error that only comes from a system call has libc's words. 0 and
 * a number that is no error have words as well.
 *
 * Returns a string that is never NULL, has no newline, is in English, and stays valid for
 * ever.
 *
 * Blocks     never. A signal handler may call it.
 * Since      0.2
 */
WEFT_API const char *weft_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif
