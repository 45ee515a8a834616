/* SPDX-License-Identifier: MIT */
/*
 * weft/thread.h - threads: spawn, join, detach, exit, cancel, yield, sleep
 *
 * A thread is named by a uint64_t, its id: a slot number and a generation. An id is not
 * used again before 2^31 threads have had the same slot. So the id of a thread that has
 * ended gives an error, and never means another thread. 0 is not an id.
 *
 * Like a kernel thread, a thread has thread-local variables, errno and C++ exception
 * state of its own. A light thread (WEFT_LIGHT) has none: it uses those of the kernel
 * thread that carries it at the moment. So a light thread must not use anything in
 * thread-local storage, errno included, across a call that may park or yield. Light
 * threads are for computing and for message passing.
 *
 * A thread that computes without a call is preempted at the end of its slice if others
 * wait. A light thread is not stopped: it keeps its kernel thread, and another kernel
 * thread takes over the VCPU and runs the others beside it.
 *
 * Cancellation is a request. From the request until the thread ends, each call that
 * lists -ECANCELED returns it at once and has no effect, unless its entry says otherwise:
 * weft_reader_line() still hands out what is in its buffer. weft_cancel_hold() protects a
 * section of code, for example a clean-up that has to wait. Locking calls are never
 * cancelled.
 */
#ifndef WEFT_THREAD_H
#define WEFT_THREAD_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_LIGHT	1u	/* uses its carrier's thread-local storage */
#define WEFT_DETACHED	2u	/* is never joined */

#define WEFT_NAME_MAX	32	/* bytes of a name, with its final 0 */

/*
 * Zero-filled is the default. Below the stack there is a guard page. The stack of a
 * thread that is not light also holds its thread-local variables and libc's control
 * block, some 5 KiB. Such a thread has at least 32 KiB, whatever stack_bytes says,
 * because signal handlers run on its stack.
 *
 * The default does for most code. printf() takes a few KiB; getaddrinfo(), regular
 * expressions and deep recursion may need 256 KiB or more. Memory is used for the pages
 * that a thread has touched, so a large stack costs address space alone. A thread that
 * overflows its stack ends the process with a message.
 */
struct weft_attr {
	size_t stack_bytes;	/* 0: WEFT_STACK, else 64 KiB; at least 16 KiB */
	const char *name;	/* may be NULL; copied, cut at WEFT_NAME_MAX */
	unsigned flags;		/* WEFT_LIGHT | WEFT_DETACHED */
	unsigned reserved0;	/* zero */
	uint64_t reserved[4];	/* zero */
};

/*
 * weft_spawn - start a thread
 *
 *   id    receives the thread's id; may be NULL (then use WEFT_DETACHED if the
 *         thread is never joined)
 *   attr  stack size, name and flags, see struct weft_attr; NULL: the defaults.
 *         Not kept.
 *   fn    the thread's function; its return value is the thread's result
 *   arg   passed to fn
 *
 * The new thread may run at once on the caller's VCPU, before the call returns. The
 * caller is then ready, and another VCPU can steal it.
 *
 * Returns 0, else
 *   -EINVAL  an attribute is out of range
 *   -EAGAIN  no stack can be mapped
 *   -ENOMEM  no memory, or there are 16 million threads
 *   -ESRCH   the runtime is not running
 *
 * Blocks     may park.
 * Orders     everything that the caller did before happens before fn.
 * Progress   lock-free, except for mmap(2) when the pools are empty.
 * See        weft_join(), weft_detach(), weft_exit(), weft_start()
 * Source     E. Mohr, D. Kranz, R. Halstead, "Lazy task creation", 1991, for
 *            running the child first.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_spawn(uint64_t *id,
	const struct weft_attr *attr, void *(*fn)(void *arg), void *arg);

/*
 * weft_join, weft_join_until - wait for a thread to end, and release it
 *
 *   id        a thread that is not detached
 *   result    receives the thread's result; may be NULL
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns 0 when the thread has ended; its id is then no longer valid. Else
 *   -ESRCH      there is no such thread
 *   -EINVAL     the thread is detached, or another thread joins it
 *   -EDEADLK    the thread is the caller
 *   -ETIMEDOUT  the thread did not end before the deadline
 *   -EAGAIN     the thread has not ended, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the caller is cancelled; the thread was not joined
 *
 * Blocks     may park.
 * Orders     everything that the thread did happens before the return.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_join(uint64_t id, void **result);
WEFT_API WEFT_MUST_USE int weft_join_until(uint64_t id, void **result,
	int64_t deadline);

/*
 * weft_detach - let a thread release itself when it ends
 *
 * Returns 0, else
 *   -ESRCH   there is no such thread
 *   -EINVAL  the thread is detached, or another thread joins it
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_detach(uint64_t id);

/*
 * weft_wait_all - wait until all other threads have ended
 *
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * For the end of a program that has detached threads: after it weft_stop() succeeds, if
 * every thread that is not detached has been joined. The call waits for detached and
 * joinable threads, and joins none. Foreign threads do not count. To wait
 * for some of the threads, use weft_group_wait().
 *
 * The caller must be the thread that called weft_start().
 *
 * Returns 0 if at some moment during the call all other threads had ended, else
 *   -EPERM      the caller is not the thread that started the runtime
 *   -ESRCH      the runtime is not running
 *   -ETIMEDOUT  threads ran until the deadline
 *   -EAGAIN     threads run, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  threads run, and the caller is cancelled
 *
 * Blocks     may park.
 * Orders     everything that the ended threads did happens before the return of 0.
 * See        weft_stop(), weft_detach(), weft_group_wait()
 * Since      0.2
 */
WEFT_API int weft_wait_all(int64_t deadline);

/*
 * weft_exit - end the calling thread
 *
 *   result  passed to the thread that joins this one
 *
 * Thread-local C++ objects are destroyed, then the destructors of keys run. Stack
 * frames are not unwound.
 *
 * If the first thread calls weft_exit(), the call waits until all other threads have
 * ended. Then it ends the process by exit(0), which calls no destructors of keys.
 *
 * Blocks     the first thread may park.
 * Not for    foreign threads: the program is ended with a message. A foreign thread
 *            ends as a kernel thread does, by a return or pthread_exit().
 * Since      0.1
 */
WEFT_API __attribute__((noreturn)) void weft_exit(void *result);

/*
 * weft_cancel - ask a thread to end
 *
 * If the thread is parked in a call that can be cancelled, that call returns -ECANCELED.
 * To ask twice has the same effect as to ask once.
 *
 * Returns 0, or -ESRCH: there is no such thread.
 *
 * Blocks     never.
 * Orders     everything that the caller did before happens before the -ECANCELED.
 * Since      0.1
 */
WEFT_API int weft_cancel(uint64_t id);

/*
 * weft_is_cancelled - tells whether the calling thread has been asked to end
 *
 * For threads that compute: calls that wait return -ECANCELED anyway. Returns 1 or 0,
 * regardless of weft_cancel_hold().
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_is_cancelled(void);

/*
 * weft_cancel_hold, weft_cancel_release - a section that is not cancelled
 *
 * Between the two, calls of this thread do not return -ECANCELED. Sections nest. A
 * release without a hold does nothing. A cancelled thread that has a result to hand over
 * sends it in such a section. This needs a receiver that is not cancelled: otherwise the
 * send may wait for ever for room.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void weft_cancel_hold(void);
WEFT_API void weft_cancel_release(void);

/*
 * weft_yield - let other ready threads run first
 *
 * Blocks     never: the thread stays ready and goes to the end of the queue. Another
 *            VCPU may take it from there.
 * Fairness   every thread in this VCPU's queue runs before the caller runs again.
 * Since      0.1
 */
WEFT_API void weft_yield(void);

/*
 * weft_sleep, weft_sleep_until - let time pass
 *
 *   ns        how long, in nanoseconds: WEFT_MS(100), WEFT_SECONDS(5)
 *   deadline  until when: a time of weft_clock()
 *
 * If all VCPUs run threads that compute without a call, deadlines are checked every half
 * slice. The thread then waits for a VCPU like any ready thread, until the slice of one
 * of the others ends. If the time has passed already, the call yields.
 *
 * Returns 0 after that time, or -ECANCELED before it.
 *
 * Blocks     may park.
 * Fairness   none: threads that wake at the same time may go on in another order
 *            than that of their deadlines.
 * Since      0.1
 */
WEFT_API int weft_sleep(int64_t ns);
WEFT_API int weft_sleep_until(int64_t deadline);

/*
 * weft_self - the id of the calling thread
 *
 * Returns the id. A foreign thread gets an id that cannot be joined.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API uint64_t weft_self(void);

/*
 * weft_set_name, weft_name - the name of a thread in dumps
 *
 *   id    any thread
 *   name  copied, cut at WEFT_NAME_MAX; NULL or "" removes the name
 *   buf   receives the name, always ended by 0
 *   size  bytes of buf
 *
 * Returns 0, else
 *   -ESRCH   there is no such thread, or it has ended and has not been joined
 *   -ENOMEM  no memory for the name
 *   -EINVAL  size is 0
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_set_name(uint64_t id, const char *name);
WEFT_API WEFT_MUST_USE int weft_name(uint64_t id, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
