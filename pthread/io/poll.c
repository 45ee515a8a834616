/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/poll.c - waits for several descriptors
 *
 * Each call looks without waiting first, then parks until a descriptor may be ready. If a
 * descriptor cannot be watched, the call waits in a region.
 */
#include <errno.h>
#include <string.h>

#include "os/call/missing.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/time.h"
#include "pthread/kthread/real_time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_wait.h"
#include "pthread/wait/sleep.h"
#include "sched/park.h"
#include "sched/slice.h"

#define TURN_NS	500000

static int fail(int error)
{
	errno = error;
	return -1;
}

/* When the thread last saw that another had run on its VCPU. */
static _Thread_local uint64_t ticks __attribute__((tls_model("initial-exec")));
static _Thread_local int64_t since __attribute__((tls_model("initial-exec")));

/*
 * Called by a thread that found events without a wait. An event loop under load finds
 * some at each look. It never parks, and the other threads of its VCPU would wait for the
 * end of its slice. So if no other thread has run for TURN_NS, it yields. (To yield each
 * time would shorten no wait that matters, and would cost throughput.)
 */
static void give_way(void)
{
	struct wefti_thread *self = wefti_enter();
	uint64_t ticks_now = load_relaxed(&self->vcpu->ticks);
	int64_t now = wefti_os_now_ns();

	wefti_slice_spared(self->vcpu);
	if (ticks != ticks_now) {
		ticks = ticks_now;
		since = now;
	} else if (now - since >= TURN_NS) {
		since = now;
		if (!wefti_real_time_keeps())
			wefti_yield(self);
	}
	wefti_leave(self);
	wefti_signals_run_any();
}

/* Without descriptors it is a sleep. */
static int just_sleep(int64_t deadline, uint32_t handled)
{
	int error = wefti_pt.handled != handled ? EINTR :
						  wefti_sleep_until(deadline);

	return error ? fail(error) : 0;
}

struct poll {
	struct pollfd *fds;
	nfds_t count;
	uint32_t handled;	/* how many handlers had run at the call */
	int n;
};

static int poll_fds(void *arg)
{
	struct poll *p = arg;

	return p->n = wefti_pt_poll_now(p->fds, p->count);
}

static int poll_one(struct poll *p, struct wefti_edges before,
		    int64_t deadline)
{
	int error;

	do {
		error = wefti_pt_fd_wait(p->fds->fd, p->fds->events, before,
					 deadline, &p->handled);
		if (error == EINTR)
			return fail(error);
		before = wefti_pt_fd_edges(p->fds->fd);
	} while (poll_fds(p) == 0 && error != EAGAIN);
	wefti_signals_run_any();
	return p->n;
}

static int in_ms(const struct timespec *time)
{
	if (!time)
		return -1;
	return time->tv_sec >= INT32_MAX / 1000 ? INT32_MAX :
	       (int)(time->tv_sec * 1000 + (time->tv_nsec + 999999) / 1000000);
}

/*
 * For descriptors that cannot be watched. The kernel ends a poll() after any signal, the
 * runtime's too. Only a handler of the program makes the call give up.
 */
static int poll_in_region(struct pollfd *fds, nfds_t count, int64_t deadline,
			  uint32_t handled)
{
	int saved = errno, n;

	if (wefti_pt.handled != handled)
		return fail(EINTR);
	do {
		struct timespec rest, *timeout = NULL;

		if (deadline != INT64_MAX) {
			rest = wefti_time_rest(deadline);
			timeout = &rest;
		}
		errno = saved;
		wefti_region_begin();
		n = REAL(ppoll)(fds, count, timeout, NULL);
		if (unlikely(n < 0) && wefti_os_is_missing(-errno))
			n = REAL(poll)(fds, count, in_ms(timeout));
		wefti_region_end();
		wefti_cancel_point();
	} while (n < 0 && errno == EINTR && wefti_pt.handled == handled);
	return n == 0 && wefti_pt.handled != handled ? fail(EINTR) : n;
}

/* poll() of a green thread. `handled`: how many handlers had run at the call. */
static int poll_until(struct pollfd *fds, nfds_t count, int64_t deadline,
		      uint32_t handled)
{
	struct wefti_edges before = wefti_pt_fd_edges(count == 1 ? fds->fd :
								   -1);
	struct poll p = { fds, count, handled, 0 };
	int error;

	wefti_cancel_point();
	if (poll_fds(&p) != 0 || deadline == 0) {
		if (p.n > 0 && count > 1)
			give_way();
		return p.n;
	}
	if (count == 0)
		return just_sleep(deadline, handled);
	if (count == 1 && fds->fd >= 0)
		return poll_one(&p, before, deadline);
	error = wefti_pt_ready_wait(fds, count, poll_fds, &p, deadline,
				    &p.handled);
	if (error != ENOTSUP)
		return error == EINTR ? fail(error) : p.n;
	return poll_in_region(fds, count, deadline, handled);
}

static int64_t after_ms(int timeout)
{
	return timeout < 0 ? INT64_MAX : timeout == 0 ? 0 :
	       wefti_time_after((int64_t)timeout * 1000000);
}

static int64_t after(const struct timespec *time)
{
	return !time ? INT64_MAX : time->tv_sec == 0 && time->tv_nsec == 0 ? 0 :
	       wefti_time_after(wefti_time_ns(time));
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!wefti_pt_green())
		return REAL(poll)(fds, count, timeout);
	return poll_until(fds, count, after_ms(timeout), wefti_pt.handled);
}
SECOND_NAME(poll, __poll);

/* Sets a mask for the time of the call. */
static uint64_t lend_mask(const sigset_t *mask)
{
	uint64_t before = load_relaxed(&wefti_pt.mask);

	wefti_signals_set_mask(wefti_signal_mask(mask));
	return before;
}

/*
 * As in the kernel, ready descriptors come before the signals that the mask lets in: the
 * signals stay pending. If nothing is ready, such a signal ends the call, whatever its
 * timeout.
 */
static int poll_masked(struct pollfd *fds, nfds_t count, int64_t deadline,
		       const sigset_t *mask)
{
	const uint32_t handled = wefti_pt.handled;
	uint64_t before;
	int n;

	wefti_cancel_point();
	n = wefti_pt_poll_now(fds, count);
	if (n > 0 && count > 1)
		give_way();
	if (n != 0)
		return n;
	before = lend_mask(mask);
	if (wefti_pt.handled != handled)
		n = fail(EINTR);
	else if (deadline != 0)
		n = poll_until(fds, count, deadline, handled);
	wefti_signals_set_mask(before);
	return n;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time,
		 const sigset_t *mask)
{
	if (!wefti_pt_green())
		return REAL(ppoll)(fds, count, time, mask);
	if (time && !wefti_time_is_kernels(time))
		return fail(EINVAL);
	return mask ? poll_masked(fds, count, after(time), mask) :
		      poll_until(fds, count, after(time), wefti_pt.handled);
}

struct epoll {
	int fd;
	struct epoll_event *events;
	int most;
	int n;
};

/* Returns how many. */
static int take_events(void *arg)
{
	struct epoll *e = arg;

	return e->n = REAL(epoll_wait)(e->fd, e->events, e->most, 0);
}

/* An epoll descriptor is ready when it has events. */
static int epoll_until(struct epoll *e, int64_t deadline, uint32_t handled)
{
	int error = 0;

	wefti_cancel_point();
	while (!error) {
		struct wefti_edges before = wefti_pt_fd_edges(e->fd);

		if (take_events(e) != 0 || deadline == 0) {
			if (e->n > 0)
				give_way();
			return e->n;
		}
		error = wefti_pt_fd_wait(e->fd, POLLIN, before, deadline,
					 &handled);
	}
	return error == EINTR ? fail(error) : 0;
}

/* Like poll_masked(), but no signal ends a call with timeout 0. */
static int epoll_masked(struct epoll *e, int64_t deadline, const sigset_t *mask)
{
	const uint32_t handled = wefti_pt.handled;
	uint64_t before;
	int n;

	if (!mask)
		return epoll_until(e, deadline, handled);
	n = epoll_until(e, 0, handled);
	if (n != 0 || deadline == 0)
		return n;
	before = lend_mask(mask);
	n = wefti_pt.handled != handled ? fail(EINTR) :
					  epoll_until(e, deadline, handled);
	wefti_signals_set_mask(before);
	return n;
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most,
		       int timeout, const sigset_t *mask)
{
	struct epoll e = { fd, events, most, 0 };

	if (!wefti_pt_green())
		return REAL(epoll_pwait)(fd, events, most, timeout, mask);
	return epoll_masked(&e, after_ms(timeout), mask);
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most,
			const struct timespec *time, const sigset_t *mask)
{
	struct epoll e = { fd, events, most, 0 };

	if (!wefti_pt_green())
		return REAL(epoll_pwait2)(fd, events, most, time, mask);
	if (time && !wefti_time_is_kernels(time))
		return fail(EINVAL);
	return epoll_masked(&e, after(time), mask);
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most,
		      int timeout)
{
	if (!wefti_pt_green())
		return REAL(epoll_wait)(fd, events, most, timeout);
	return epoll_pwait(fd, events, most, timeout, NULL);
}
