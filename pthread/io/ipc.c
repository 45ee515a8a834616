/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/ipc.c - message queues of both kinds, System V's semaphores
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
	return at && !wefti_time_is_kernels(at);
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
			wefti_signals_run_any();
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
 * A call that is tried at once; if the answer is "not now", it is made in a region. The
 * kernel never restarts these calls after a signal, not even after one of the runtime. So
 * only a handler of the program makes the call give up. If the call has succeeded, its
 * result is returned even if the thread has been cancelled meanwhile.
 */
struct waiting {
	int is_point;		/* a cancellation point */
	uint32_t handled;	/* as they were before the first try */
	int saved;
};

static struct waiting before_try(int is_point)
{
	return (struct waiting){ is_point, wefti_pt.handled, errno };
}

static void begin_wait(const struct waiting *w)
{
	errno = w->saved;
	wefti_region_begin_call(w->is_point ? WEFTI_ENDS : 0);
}

/* After the call, with its result r. Returns 0 if r is what the caller gets. */
static int is_again(const struct waiting *w, ssize_t r)
{
	wefti_region_end_call();
	if (r >= 0)
		return 0;
	if (w->is_point)
		wefti_cancel_point();
	else
		wefti_cancel_point_async();
	return errno == EINTR && wefti_pt.handled == w->handled;
}

static ssize_t receive(mqd_t q, char *buf, size_t bytes, unsigned *priority,
		       const struct timespec *at)
{
	struct waiting w;
	ssize_t r;

	wefti_cancel_point();
	w = before_try(1);
	r = REAL(mq_timedreceive)(q, buf, bytes, priority, &over);
	if (r >= 0 || errno != ETIMEDOUT)
		return r;
	do {
		begin_wait(&w);
		r = REAL(mq_timedreceive)(q, buf, bytes, priority, at);
	} while (is_again(&w, r));
	return r;
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
	struct waiting w;
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(msgrcv)(q, message, bytes, type, flags);
	wefti_cancel_point();
	if (flags & (IPC_NOWAIT | MSG_COPY))	/* such a call never waits */
		return REAL(msgrcv)(q, message, bytes, type, flags);
	w = before_try(1);
	r = REAL(msgrcv)(q, message, bytes, type, flags | IPC_NOWAIT);
	if (r >= 0 || errno != ENOMSG)
		return r;
	do {
		begin_wait(&w);
		r = REAL(msgrcv)(q, message, bytes, type, flags);
	} while (is_again(&w, r));
	return r;
}

EXPORT int msgsnd(int q, const void *message, size_t bytes, int flags)
{
	struct waiting w;
	int r;

	if (!wefti_pt_green())
		return REAL(msgsnd)(q, message, bytes, flags);
	wefti_cancel_point();
	if (flags & IPC_NOWAIT)
		return REAL(msgsnd)(q, message, bytes, flags);
	w = before_try(1);
	r = REAL(msgsnd)(q, message, bytes, flags | IPC_NOWAIT);
	if (r >= 0 || errno != EAGAIN)
		return r;
	do {
		begin_wait(&w);
		r = REAL(msgsnd)(q, message, bytes, flags);
	} while (is_again(&w, r));
	return r;
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
	struct waiting w;
	int r;

	if (!wefti_pt_green() ||
	    (time && !wefti_time_is_kernels(time)))
		return REAL(semtimedop)(set, ops, count, time);
	if (time)
		deadline = wefti_time_after(wefti_time_ns(time));
	w = before_try(0);
	r = try(set, ops, count);
	if (r >= 0 || errno != EAGAIN)
		return r;
	do {
		begin_wait(&w);
		r = operate(set, ops, count, deadline);
	} while (is_again(&w, r));
	return r;
}

EXPORT int semop(int set, struct sembuf *ops, size_t count)
{
	if (!wefti_pt_green())
		return REAL(semop)(set, ops, count);
	return semtimedop(set, ops, count, NULL);
}
