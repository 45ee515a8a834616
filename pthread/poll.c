/* SPDX-License-Identifier: MIT */
/*
 * pthread/poll.c - waits for several descriptors
 *
 * Each looks without waiting first; only what has to wait does so in a region.
 */
#include <errno.h>
#include <string.h>

#include "pthread/cancel.h"
#include "pthread/real.h"
#include "pthread/region.h"
#include "pthread/signal.h"
#include "pthread/sleep.h"
#include "pthread/time.h"

/* After a wait: handlers that ran meanwhile are seen as EINTR. */
static int finish(int n)
{
	wefti_cancel_point();
	if (wefti_signals_run() != WEFTI_SIGNALS_NONE && n <= 0) {
		errno = EINTR;
		return -1;
	}
	return n;
}

/* No descriptor: a sleep. */
static int just_sleep(int64_t deadline)
{
	int error = wefti_sleep_until(deadline);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int n;

	if (!wefti_pt_green())
		return REAL(poll)(fds, count, timeout);
	wefti_cancel_point();
	n = REAL(poll)(fds, count, 0);
	if (n != 0 || timeout == 0)
		return n;
	if (count == 0)
		return just_sleep(timeout < 0 ? INT64_MAX :
			wefti_time_after((int64_t)timeout * 1000000));
	wefti_region_begin();
	n = REAL(poll)(fds, count, timeout);
	wefti_region_end();
	return finish(n);
}

/* A mask for the time of the call. */
static uint64_t lend_mask(const sigset_t *mask)
{
	uint64_t before = load_relaxed(&wefti_pt.mask);

	if (mask)
		wefti_signals_set_mask(wefti_signal_mask(mask));
	return before;
}

static void take_mask(const sigset_t *mask, uint64_t before)
{
	if (mask)
		wefti_signals_set_mask(before);
}

static const struct timespec no_time;

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time,
		 const sigset_t *mask)
{
	uint64_t before;
	int n;

	if (!wefti_pt_green())
		return REAL(ppoll)(fds, count, time, mask);
	wefti_cancel_point();
	before = lend_mask(mask);
	n = REAL(ppoll)(fds, count, &no_time, NULL);
	if (n == 0 && (!time || time->tv_sec || time->tv_nsec)) {
		wefti_region_begin();
		n = REAL(ppoll)(fds, count, time, NULL);
		wefti_region_end();
		n = finish(n);
	}
	take_mask(mask, before);
	return n;
}

EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *except,
		   const struct timespec *time, const sigset_t *mask)
{
	uint64_t before;
	int n;

	if (!wefti_pt_green())
		return REAL(pselect)(count, in, out, except, time, mask);
	wefti_cancel_point();
	before = lend_mask(mask);
	wefti_region_begin();
	n = REAL(pselect)(count, in, out, except, time, NULL);
	wefti_region_end();
	n = finish(n);
	take_mask(mask, before);
	return n;
}

EXPORT int select(int count, fd_set *in, fd_set *out, fd_set *except,
		  struct timeval *time)
{
	int n;

	if (!wefti_pt_green())
		return REAL(select)(count, in, out, except, time);
	wefti_cancel_point();
	if (count == 0 && time) {
		int64_t ns = (int64_t)time->tv_sec * WEFTI_NS +
			     (int64_t)time->tv_usec * 1000;

		return just_sleep(wefti_time_after(ns));
	}
	wefti_region_begin();
	n = REAL(select)(count, in, out, except, time);
	wefti_region_end();
	return finish(n);
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most,
		       int timeout, const sigset_t *mask)
{
	uint64_t before;
	int n;

	if (!wefti_pt_green())
		return REAL(epoll_pwait)(fd, events, most, timeout, mask);
	wefti_cancel_point();
	before = lend_mask(mask);
	n = REAL(epoll_wait)(fd, events, most, 0);
	if (n == 0 && timeout != 0) {
		wefti_region_begin();
		n = REAL(epoll_wait)(fd, events, most, timeout);
		wefti_region_end();
		n = finish(n);
	}
	take_mask(mask, before);
	return n;
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most,
		      int timeout)
{
	if (!wefti_pt_green())
		return REAL(epoll_wait)(fd, events, most, timeout);
	return epoll_pwait(fd, events, most, timeout, NULL);
}
