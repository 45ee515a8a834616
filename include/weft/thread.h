/* SPDX-License-Identifier: MIT */
/*
 * weft/thread.h - threads: spawn, join, detach, exit, cancel, yield, sleep
 *
 * A thread is named by a uint64_t: a slot number and a generation, so that an
 * id is not given again before 2^31 threads have used its slot, and the id of
 * a thread that has ended is an error rather than another thread. 0 is no id.
 *
 * A thread has thread-local variables, errno and C++ exception state of its
 * own, like a kernel thread. A light thread (WEFT_LIGHT) has not: it sees those
 * of the kernel thread that carries it at the moment. Its rule: nothing that
 * lives in thread-local storage (errno included) may be used across a call that
 * may park. It is for computing and for message passing.
 *
 * A thread that computes without a call is preempted after its slice when
 * others wait. A light one then goes on beside them on a kernel thread of its
 * own instead of being stopped.
 *
 * Cancellation is a request. From then on, each call that says "-ECANCELED"
 * returns that at once, having done nothing but what its entry says, until the
 * thread ends; weft_cancel_hold() shields a stretch of code (a clean-up that
 * has to wait, say). Locking calls are never cancelled.
 */
#ifndef WEFT_THREAD_H
#define WEFT_THREAD_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_LIGHT	1u	/* shares its carrier's thread-local storage */
#define WEFT_DETACHED	2u	/* is never joined */

#define WEFT_NAME_MAX	32	/* bytes of a name, with its final 0 */

/*
 * Zero-filled is the default. Of a stack, one page guards it, and the variables and
 * libc's control block of a thread that is not light lie on it, too, some 5 KiB. Such
 * a thread has 32 KiB at least, whatever is asked for: signals come on its stack.
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
 *   id    where its id goes; may be NULL (a thread that is never joined wants
 *         WEFT_DETACHED)
 *   attr  may be NULL; not kept
 *   fn    runs as the thread; its return value is the thread's result
 *   arg   handed to fn
 *
 * The new thread may run at once, before the call returns, on the caller's
 * VCPU; the caller is then ready and can be taken by another VCPU.
 *
 * Returns 0, else
 *   -EINVAL  an attribute is out of range
 *   -EAGAIN  no stack can be mapped
 *   -ENOMEM  no memory, or there are 16 million threads
 *   -ESRCH   the runtime does not run
 *
 * Blocks     may park.
 * Orders     all that the caller did before happens before fn.
 * Progress   lock-free, but for mmap when the pools are empty.
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
 *   result    where what it returned goes; may be NULL
 *   deadline  see weft/base.h
 *
 * Returns 0 when the thread has ended and its id is no more, else
 *   -ESRCH      there is no such thread
 *   -EINVAL     it is detached, or another thread joins it
 *   -EDEADLK    it is the caller
 *   -ETIMEDOUT  it has not ended before the deadline
 *   -EAGAIN     it has not ended and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the caller is cancelled; the thread was not joined
 *
 * Blocks     may park.
 * Orders     all that the thread did happens before the return.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_join(uint64_t id, void **result);
WEFT_API WEFT_MUST_USE int weft_join_until(uint64_t id, void **result,
	int64_t deadline);

/*
 * weft_detach - have a thread release itself when it ends
 *
 * Returns 0, else
 *   -ESRCH   there is no such thread
 *   -EINVAL  it is detached, or another thread joins it
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_detach(uint64_t id);

/*
 * weft_exit - end the calling thread
 *
 *   result  handed to the thread that joins it
 *
 * Thread-local C++ objects are destroyed, then key destructors run. Stack
 * frames are not unwound. The first thread ends the process by exit(0) when
 * it calls this as the last thread, else it waits for the others first.
 *
 * Not for    foreign threads, which end as they began, by a return or
 *            pthread_exit(): the program is ended with a message.
 * Since      0.1
 */
WEFT_API __attribute__((noreturn)) void weft_exit(void *result);

/*
 * weft_cancel - ask a thread to end
 *
 * A call in which the thread is parked returns -ECANCELED if it can be
 * cancelled. Asking twice is the same as asking once.
 *
 * Returns 0, or -ESRCH: there is no such thread.
 *
 * Blocks     never.
 * Orders     all that the caller did before happens before the -ECANCELED.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_cancel(uint64_t id);

/*
 * weft_is_cancelled - has the calling thread been asked to end?
 *
 * Returns 1 or 0, regardless of weft_cancel_hold().
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_is_cancelled(void);

/*
 * weft_cancel_hold, weft_cancel_release - a stretch that is not cancelled
 *
 * Between the two, calls of this thread do not return -ECANCELED. They nest. A
 * release without a hold does nothing.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void weft_cancel_hold(void);
WEFT_API void weft_cancel_release(void);

/*
 * weft_yield - let other ready threads run first
 *
 * Blocks     no: the thread stays ready and goes to the end of the queue.
 * Fairness   every thread that is in this VCPU's queue runs before the caller
 *            does again.
 * Since      0.1
 */
WEFT_API void weft_yield(void);

/*
 * weft_sleep, weft_sleep_until - let time pass
 *
 *   ns        how long, in nanoseconds
 *   deadline  until when
 *
 * Returns 0 after that time, or -ECANCELED before it. Where all VCPUs are busy
 * with threads that compute without a call, time is looked at each half slice,
 * and the thread then waits for a VCPU as any ready one does: until the slice of
 * one of the others is over.
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API int weft_sleep(int64_t ns);
WEFT_API int weft_sleep_until(int64_t deadline);

/*
 * weft_self - the id of the calling thread
 *
 * Returns the id; a foreign thread gets one that cannot be joined.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API uint64_t weft_self(void);

/*
 * weft_set_name, weft_name - what a thread is called in dumps
 *
 *   id    any thread
 *   name  copied, cut at WEFT_NAME_MAX; NULL or "" takes the name away
 *   buf   at least size bytes; gets the name, always ended by 0
 *
 * Returns 0, else
 *   -ESRCH   there is no such thread
 *   -ENOMEM  no memory for the name
 *   -EINVAL  size is 0
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_set_name(uint64_t id, const char *name);
WEFT_API WEFT_MUST_USE int weft_name(uint64_t id, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
