/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/message.c - message queues of both kinds, System V's semaphores
 *
 * POSIX's queues are descriptors. They are tried with a deadline in the past, which
 * answers "not now" even without O_NONBLOCK. A sender then waits by the poller. A
 * receiver waits in the kernel, in a region, because a waiting receiver matters to
 * mq_notify(): a message that comes goes to the receiver, and no process is notified.
 * System V's queues and semaphores are tried with their own flag, and waited for in a
 * region.
 */
#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_wait.h"

/* Not const: QEMU writes to times that the kernel only reads. */
static struct timespec over;

/* The kernel checks the time first. */
static int is_wrong(const struct timespec *at)
{
	return at && (at->tv_sec < 0 || !wefti_time_is_valid(at));
}

/* After a "not now": waits. Returns 0 (try again), or -1 with errno, as the call does. */
static int wait_for_room(mqd_t q, struct wefti_edges before,
			 const struct timespec *at, int saved)
{
	int error = wefti_pt_fd_wait(q, POLLOUT, before, at ?
				     wefti_time_deadline(CLOCK_REALTIME, at) :
				     INT64_MAX, NULL);

	errno = error == EAGAIN ? ETIMEDOUT : error ? error : saved;
	return error ? -1 : 0;
}

static int put(mqd_t q, const char *buf, size_t bytes, unsigned priority,
	       const struct timespec *at)
{
	int saved = errno;

	wefti_cancel_point();
	for (;;) {
		struct wefti_edges before = wefti_pt_fd_edges(q);
		int r = REAL(mq_timedsend)(q, buf, bytes, priority, &over);

		if (r == 0 || errno != ETIMEDOUT ||
		    wait_for_room(q, before, at, saved) != 0) {
			wefti_signals_look();
			return r;
		}
	}
}

EXPORT int mq_timedsend(mqd_t q, const char *buf, size_t bytes,
			unsigned priority, const struct timespec *at)
{
	if (!wefti_pt_green() || is_wrong(at))
		return REAL(mq_timedsend)(q, buf, bytes, priority, at);
	return put(q, buf, bytes, priority, at);
}

EXPORT int mq_send(mqd_t q, const char *buf, size_t bytes, unsigned priority)
{
	if (!wefti_pt_green())
		return REAL(mq_send)(q, buf, bytes, priority);
	return put(q, buf, bytes, priority, NULL);
}

/* --- in a region --------------------------------------------------- */

/*
 * Tries `at_once`; if that returns `busy`, makes `call` in a region. The kernel never
 * restarts these calls after a signal, not even after one of the runtime. So only a
 * handler of the program makes the call give up. If the call has succeeded, its result is
 * returned even if the thread has been cancelled meanwhile.
 */
#define AT_ONCE_OR_IN_REGION(at_once, busy, call, is_point)		\
	uint32_t handled_ = wefti_pt.handled;				\
	int saved_ = errno;						\
	__typeof__(call) r_ = (at_once);				\
									\
	if (r_ >= 0 || errno != (busy))					\
		return r_;						\
	for (;;) {							\
		errno = saved_;						\
		wefti_region_begin_call((is_point) ? WEFTI_ENDS : 0);	\
		r_ = (call);						\
		wefti_region_end_call();				\
		if (r_ >= 0)						\
			return r_;					\
		if (is_point)						\
			wefti_cancel_point();				\
		else							\
			wefti_cancel_point_async();			\
		if (errno != EINTR || wefti_pt.handled != handled_)	\
			return r_;					\
	}

static ssize_t receive(mqd_t q, char *buf, size_t bytes, unsigned *priority,
		       const struct timespec *at)
{
	wefti_cancel_point();
	AT_ONCE_OR_IN_REGION(
		REAL(mq_timedreceive)(q, buf, bytes, priority, &over), ETIMEDOUT,
		REAL(mq_timedreceive)(q, buf, bytes, priority, at), 1)
}

EXPORT ssize_t mq_timedreceive(mqd_t q, char *buf, size_t bytes,
			       unsigned *priority, const struct timespec *at)
{
	if (!wefti_pt_green() || is_wrong(at))
		return REAL(mq_timedreceive)(q, buf, bytes, priority, at);
	return receive(q, buf, bytes, priority, at);
}

EXPORT ssize_t mq_receive(mqd_t q, char *buf, size_t bytes, unsigned *priority)
{
	if (!wefti_pt_green())
		return REAL(mq_receive)(q, buf, bytes, priority);
	return receive(q, buf, bytes, priority, NULL);
}

/* --- System V ------------------------------------------------------ */

EXPORT ssize_t msgrcv(int q, void *message, size_t bytes, long type, int flags)
{
	if (!wefti_pt_green())
		return REAL(msgrcv)(q, message, bytes, type, flags);
	wefti_cancel_point();
	if (flags & (IPC_NOWAIT | MSG_COPY))	/* such a call never waits */
		return REAL(msgrcv)(q, message, bytes, type, flags);
	AT_ONCE_OR_IN_REGION(REAL(msgrcv)(q, message, bytes, type,
					  flags | IPC_NOWAIT), ENOMSG,
			     REAL(msgrcv)(q, message, bytes, type, flags), 1)
}

EXPORT int msgsnd(int q, const void *message, size_t bytes, int flags)
{
	if (!wefti_pt_green())
		return REAL(msgsnd)(q, message, bytes, flags);
	wefti_cancel_point();
	if (flags & IPC_NOWAIT)
		return REAL(msgsnd)(q, message, bytes, flags);
	AT_ONCE_OR_IN_REGION(REAL(msgsnd)(q, message, bytes,
					  flags | IPC_NOWAIT), EAGAIN,
			     REAL(msgsnd)(q, message, bytes, flags), 1)
}

#define FEW	8	/* operations that the stack has room for */

/* Tries without waiting. EAGAIN: the call has to wait. */
static int try(int set, const struct sembuf *ops, size_t count)
{
	struct sembuf copy[FEW];

	if (count > FEW) {
		errno = EAGAIN;
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		copy[i] = ops[i];
		copy[i].sem_flg |= IPC_NOWAIT;
	}
	return REAL(semop)(set, copy, count);
}

static int operate(int set, struct sembuf *ops, size_t count, int64_t deadline)
{
	struct timespec rest;

	if (deadline == INT64_MAX)
		return REAL(semop)(set, ops, count);
	rest = wefti_time_rest(deadline);
	return REAL(semtimedop)(set, ops, count, &rest);
}

/* These are not cancellation points. */
EXPORT int semtimedop(int set, struct sembuf *ops, size_t count,
		      const struct timespec *time)
{
	int64_t deadline = INT64_MAX;

	if (!wefti_pt_green() ||
	    (time && (time->tv_sec < 0 || !wefti_time_is_valid(time))))
		return REAL(semtimedop)(set, ops, count, time);
	if (time)
		deadline = wefti_time_after(wefti_time_ns(time));
	AT_ONCE_OR_IN_REGION(try(set, ops, count), EAGAIN,
			     operate(set, ops, count, deadline), 0)
}

EXPORT int semop(int set, struct sembuf *ops, size_t count)
{
	if (!wefti_pt_green())
		return REAL(semop)(set, ops, count);
	return semtimedop(set, ops, count, NULL);
}
