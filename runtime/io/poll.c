/* SPDX-License-Identifier: MIT */
/* io/poll.c - waits until a descriptor, or one of several, is ready */
#include <errno.h>
#include <stdlib.h>

#include "io/fd_wait.h"
#include "os/call/descriptor.h"
#include "sched/park.h"
#include "weft/io.h"
#include "weft/runtime.h"

#define FEW	8	/* this many are kept on the stack */

/* The descriptors among fds that can become ready, with an interest each. */
struct set {
	struct pollfd *fds;
	size_t count;
	struct wefti_interests all;
	int bad;			/* one is closed, or is being closed */
	int missing;			/* one was so when all were opened */
	int is_watched;			/* the poller watches all of them */
};

/* Returns 0, or an error that does not concern a single descriptor. */
static int open_all(struct set *s)
{
	for (size_t i = 0; i < s->count; i++) {
		int error;

		if (s->fds[i].fd < 0)
			continue;
		error = wefti_interest_open(&s->all.of[s->all.count],
					    s->fds[i].fd, s->fds[i].events);
		if (!error)
			s->all.count++;
		else if (error == -EBADF)
			s->bad = s->missing = 1;
		else
			return error;
	}
	return 0;
}

/*
 * Called after a look, not before. The poller's own descriptors are made for the first
 * watched descriptor, and must not get the number of one that is closed. A descriptor
 * that became ready since the look gives an edge.
 */
static int watch_all(struct set *s)
{
	for (size_t i = 0; i < s->all.count && !s->is_watched; i++) {
		int error = wefti_interest_watch(&s->all.of[i]);

		if (error)
			return error;
	}
	s->is_watched = 1;
	return 0;
}

/* A descriptor that weft is closing counts as closed. Returns how many have revents. */
static int mark_closed(struct set *s)
{
	int n = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct wefti_use use;

		if (s->fds[i].fd < 0)
			continue;
		if (wefti_fd_begin(&use, s->fds[i].fd) == 0)
			(void)wefti_fd_end(&use);
		else
			s->fds[i].revents = POLLNVAL;
		n += s->fds[i].revents != 0;
	}
	return n;
}

static int poll_now(struct set *s)
{
	int n;

	if (wefti_interests_note(&s->all))
		s->bad = 1;
	do {
		n = wefti_os_fd_poll(s->fds, s->count, WEFT_NO_WAIT);
	} while (n == -EINTR);
	return s->bad && n >= 0 ? mark_closed(s) : n;
}

/*
 * One descriptor was being closed at first, and is not any more: its number belongs to
 * another by now, or is closed soon. A wait that leaves it out would not be ended by
 * it.
 */
static int open_all_again(struct set *s)
{
	wefti_interests_close(&s->all);
	s->bad = s->missing = s->is_watched = 0;
	return open_all(s);
}

static int runtime_is_on(void)
{
	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON;
}

static int wait_inside(struct set *s, struct wefti_thread *self,
		       int64_t deadline)
{
	uint64_t flags = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;
	uint64_t seq = wefti_park_begin(self, flags | wefti_cancel_flag(self),
					WEFTI_WHY_DESCRIPTOR,
					s->all.count == 1 ?
					s->all.of[0].use.entry : NULL);
	enum wefti_cause cause;
	const int error = wefti_interests_join(&s->all, self, seq);

	if (error || (self->kind == WEFTI_KIND_FOREIGN && !runtime_is_on()))
		wefti_wait_resolve(self, seq, WEFTI_CAUSE_WOKEN);
	cause = wefti_park(self, deadline);
	wefti_interests_part(&s->all, self);
	if (error)
		return error;
	return cause == WEFTI_CAUSE_CANCELLED ? -ECANCELED :
	       cause == WEFTI_CAUSE_TIMEDOUT ? -ETIMEDOUT : 0;
}

/* For a program without a runtime: the kernel thread waits. */
static COLD int poll_in_kernel(struct pollfd *fds, size_t count,
			       int64_t deadline)
{
	int n;

	do {
		n = wefti_os_fd_poll(fds, count, deadline);
	} while (n == -EINTR);
	if (n)
		return n;
	return deadline == WEFT_NO_WAIT ? -EAGAIN : -ETIMEDOUT;
}

static COLD int poll_in_region(struct pollfd *fds, size_t count,
			       int64_t deadline)
{
	int n;

	weft_block_begin();
	n = poll_in_kernel(fds, count, deadline);
	weft_block_end();
	return n;
}

static int wait_once(struct set *s, int64_t deadline)
{
	int error = watch_all(s);
	struct wefti_thread *self;

	if (error)
		return error == -EBADF ? 0 : error;	/* closed: look again */
	self = wefti_enter();
	error = wait_inside(s, self, deadline);
	wefti_leave(self);
	return error;
}

static int poll_until(struct set *s, int64_t deadline)
{
	int error = open_all(s);

	while (!error) {
		int n = poll_now(s);

		if (n)
			return n;
		if (unlikely(!runtime_is_on()))
			break;
		error = s->missing ? open_all_again(s) : wait_once(s, deadline);
	}
	/* The runtime has stopped meanwhile, and the poller's descriptor is closed. */
	if (unlikely(!runtime_is_on()) && error != -ECANCELED)
		return poll_in_kernel(s->fds, s->count, deadline);
	if (unlikely(error == -ENOSYS))		/* there can be no poller */
		return poll_in_region(s->fds, s->count, deadline);
	return error;
}

int weft_poll(struct pollfd *fds, size_t count, int64_t deadline)
{
	struct wefti_interest few[FEW];
	struct set s = { .fds = fds, .count = count, .all.of = few };
	int n;

	if (wefti_is_cancelled(wefti_known_self()))
		return -ECANCELED;
	if (!runtime_is_on() || deadline == WEFT_NO_WAIT)
		return poll_in_kernel(fds, count, deadline);
	if (count > FEW)
		s.all.of = calloc(count, sizeof(*s.all.of));
	if (!s.all.of)
		return -ENOMEM;
	n = poll_until(&s, deadline);
	wefti_interests_close(&s.all);
	if (s.all.of != few)
		free(s.all.of);
	return n;
}

int weft_wait_fd(int fd, short events, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	if (fd < 0)
		return -EBADF;
	n = weft_poll(&p, 1, deadline);
	if (n < 0)
		return n;
	return p.revents & POLLNVAL ? -EBADF : p.revents;
}
