/* SPDX-License-Identifier: MIT */
/*
 * explore/poll.c - poll, select and epoll: the thread waits for its turn, and then looks
 *
 * A mask of signals that ppoll() and its like take is set during the whole wait, the turns of
 * other threads included. An epoll descriptor is ready itself when one of its own is; another
 * thread may take that first, and then the wait goes on.
 */
#include "explore.h"

#include <errno.h>
#include <string.h>

#include "real.h"

#define NS_PER_MS	INT64_C(1000000)
#define NS_PER_S	INT64_C(1000000000)

static int64_t in_ms(int ms)
{
	return ms < 0 ? WEFTI_EX_NEVER : wefti_ex_in(ms * NS_PER_MS);
}

static int64_t in_time(const struct timespec *time)
{
	if (!time || time->tv_sec >= INT64_MAX / NS_PER_S - 1)
		return WEFTI_EX_NEVER;
	return wefti_ex_in(time->tv_sec * NS_PER_S + time->tv_nsec);
}

/* Sets a mask of signals for a wait, if there is one. */
static void set_mask(const sigset_t *mask, sigset_t *before)
{
	if (mask)
		(void)REAL(pthread_sigmask)(SIG_SETMASK, mask, before);
}

static void set_back(const sigset_t *mask, const sigset_t *before)
{
	if (mask)
		(void)REAL(pthread_sigmask)(SIG_SETMASK, before, NULL);
}

struct poll_call {
	struct pollfd *fds;
	nfds_t n;
};

static int poll_now(void *arguments)
{
	const struct poll_call *c = arguments;

	return REAL(poll)(c->fds, c->n, 0);
}

static int wait_poll(struct pollfd *fds, nfds_t n, int64_t deadline, const void *where)
{
	struct poll_call c = { fds, n };

	return wefti_ex_wait_ready(&(struct wefti_ex_try){ poll_now, &c }, fds, n, deadline,
				   WEFTI_EX_POLL, where);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int ms)
{
	return wefti_ex_controlled() ? wait_poll(fds, n, in_ms(ms), CALLER) :
				       REAL(poll)(fds, n, ms);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time,
		 const sigset_t *mask)
{
	sigset_t before;
	int ready;

	if (!wefti_ex_controlled())
		return REAL(ppoll)(fds, n, time, mask);
	set_mask(mask, &before);
	ready = wait_poll(fds, n, in_time(time), CALLER);
	set_back(mask, &before);
	return ready;
}

struct select_call {
	int n;
	fd_set *sets[3], wanted[3];
};

static int select_now(void *arguments)
{
	struct select_call *c = arguments;
	struct timeval none = { 0, 0 };

	for (int i = 0; i < 3; i++)
		if (c->sets[i])
			*c->sets[i] = c->wanted[i];
	return REAL(select)(c->n, c->sets[0], c->sets[1], c->sets[2], &none);
}

static int wait_select(struct select_call *c, int64_t deadline, const void *where)
{
	static const short events[3] = { POLLIN, POLLOUT, POLLPRI };
	struct pollfd fds[FD_SETSIZE];
	nfds_t n = 0;

	for (int i = 0; i < 3; i++)
		if (c->sets[i])
			c->wanted[i] = *c->sets[i];
	for (int fd = 0; fd < c->n && fd < FD_SETSIZE; fd++) {
		short wanted = 0;

		for (int i = 0; i < 3; i++)
			if (c->sets[i] && FD_ISSET(fd, &c->wanted[i]))
				wanted |= events[i];
		if (wanted)
			fds[n++] = (struct pollfd){ .fd = fd, .events = wanted };
	}
	return wefti_ex_wait_ready(&(struct wefti_ex_try){ select_now, c }, fds, n, deadline,
				   WEFTI_EX_POLL, where);
}

/* Linux leaves the rest of the time in *time; here no time has passed for a ready one. */
EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *besides, struct timeval *time)
{
	struct select_call c = { .n = n, .sets = { in, out, besides } };
	struct timespec at_most;

	if (!wefti_ex_controlled() || n < 0 ||
	    (time && (time->tv_sec < 0 || time->tv_usec < 0)))
		return REAL(select)(n, in, out, besides, time);
	if (time)
		at_most = (struct timespec){ time->tv_sec, time->tv_usec * 1000 };
	return wait_select(&c, in_time(time ? &at_most : NULL), CALLER);
}

EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *besides,
		   const struct timespec *time, const sigset_t *mask)
{
	struct select_call c = { .n = n, .sets = { in, out, besides } };
	sigset_t before;
	int ready;

	if (!wefti_ex_controlled() || n < 0)
		return REAL(pselect)(n, in, out, besides, time, mask);
	set_mask(mask, &before);
	ready = wait_select(&c, in_time(time), CALLER);
	set_back(mask, &before);
	return ready;
}

struct epoll_call {
	int fd, most;
	struct epoll_event *events;
};

static int epoll_now(void *arguments)
{
	const struct epoll_call *c = arguments;

	return REAL(epoll_wait)(c->fd, c->events, c->most, 0);
}

static int wait_epoll(int fd, struct epoll_event *events, int most, int64_t deadline,
		      const void *where)
{
	struct epoll_call c = { fd, most, events };
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return wefti_ex_wait_ready(&(struct wefti_ex_try){ epoll_now, &c }, &one, 1, deadline,
				   WEFTI_EX_POLL, where);
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	return wefti_ex_controlled() ? wait_epoll(fd, events, most, in_ms(ms), CALLER) :
				       REAL(epoll_wait)(fd, events, most, ms);
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int ms,
		       const sigset_t *mask)
{
	sigset_t before;
	int ready;

	if (!wefti_ex_controlled())
		return REAL(epoll_pwait)(fd, events, most, ms, mask);
	set_mask(mask, &before);
	ready = wait_epoll(fd, events, most, in_ms(ms), CALLER);
	set_back(mask, &before);
	return ready;
}
