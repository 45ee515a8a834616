/* SPDX-License-Identifier: MIT */
/* io/fd_wait.c - waits until a descriptor may be ready */
#include "io/fd_wait.h"

#include <errno.h>

#include "io/disk.h"
#include "os/call/descriptor.h"
#include "sched/park.h"
#include "sched/poller.h"
#include "weft/base.h"
#include "weft/runtime.h"

#define READ_EVENTS	(POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND | POLLRDHUP)
#define WRITE_EVENTS	(POLLOUT | POLLWRNORM | POLLWRBAND)

/* An event of the kernel. It is ignored if its descriptor has an earlier generation. */
static void on_event(uint64_t data, uint32_t ready)
{
	struct wefti_fd *e;

	if (data == WEFTI_POLLER_OWN) {
		wefti_disk_complete();
		return;
	}
	e = wefti_fd_find((uint32_t)data);
	if (wefti_fd_generation(load_seq_cst(&e->word)) != data >> 32)
		return;
	if (ready & WEFTI_OS_READABLE)
		wefti_side_post(&e->sides, WEFTI_READ_SIDE);
	if (ready & WEFTI_OS_WRITABLE)
		wefti_side_post(&e->sides, WEFTI_WRITE_SIDE);
}

static uint64_t event_data(const struct wefti_use *use)
{
	return (uint64_t)wefti_fd_generation(use->word) << 32 |
	       (uint32_t)use->fd;
}

/* The poller watches another generation of this number, or none. */
static int renew(int ep, const struct wefti_use *use)
{
	int error;

	do {
		error = wefti_os_epoll_again(ep, use->fd, event_data(use));
		if (error == -ENOENT)
			error = wefti_os_epoll_add(ep, use->fd,
						   event_data(use));
	} while (error == -EEXIST);
	return error;
}

/* The value of `watched` if that poller watches this descriptor. */
static uint64_t watched_by(const struct wefti_use *use, uint64_t poller)
{
	return (uint64_t)wefti_fd_generation(use->word) << 32 |
	       wefti_poller_instance(poller);
}

int wefti_fd_poller(uint64_t *poller)
{
	int error = wefti_poller_is_on() ? 0 : wefti_poller_start(on_event);

	*poller = load_seq_cst(&wefti_poller.word);
	return error;
}

int wefti_fd_watch(const struct wefti_use *use)
{
	struct wefti_fd *e = use->entry;
	uint64_t poller, mine;
	int error = wefti_fd_poller(&poller);

	if (unlikely(error))
		return error;
	mine = watched_by(use, poller);
	if (likely((use->word & WEFTI_FD_MADE) &&
		   load_seq_cst(&e->watched) == mine))
		return 0;
	/* A PLAIN descriptor may not be the one from before. */
	error = wefti_os_epoll_add(wefti_poller_epoll(poller), use->fd,
				   event_data(use));
	if (error == -EEXIST)
		error = load_seq_cst(&e->watched) == mine ? 0 :
			renew(wefti_poller_epoll(poller), use);
	if (!error)
		store_seq_cst(&e->watched, mine);
	return error;
}

static int runtime_is_on(void)
{
	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON;
}

/* For a foreign thread, or without a runtime: the kernel thread may wait. */
static COLD int wait_in_kernel(const struct wefti_use *use, int side,
			       int64_t deadline)
{
	struct pollfd p = {
		.fd = use->fd,
		.events = side == WEFTI_READ_SIDE ? READ_EVENTS : WRITE_EVENTS,
	};
	int n = wefti_os_fd_poll(&p, 1, deadline);

	if (n < 0)
		return n == -EINTR ? 0 : n;
	return n == 0 ? -ETIMEDOUT : 0;
}

/* For systems where there can be no poller: a kernel thread for each waiting thread. */
static COLD int wait_in_region(const struct wefti_use *use, int side,
			       int64_t deadline, int error)
{
	if (error != -ENOSYS)
		return error;
	weft_block_begin();
	error = wait_in_kernel(use, side, deadline);
	weft_block_end();
	return error;
}

static int park_until(struct wefti_thread *self, int64_t deadline)
{
	/* After a stop no VCPU looks at the poller for a foreign thread. */
	if (self->kind == WEFTI_KIND_FOREIGN && !runtime_is_on())
		wefti_wait_resolve(self, load_relaxed(&self->wait) >>
				   WEFTI_WAIT_SEQ_SHIFT, WEFTI_CAUSE_WOKEN);
	switch (wefti_park(self, deadline)) {
	case WEFTI_CAUSE_TIMEDOUT:
		return -ETIMEDOUT;
	case WEFTI_CAUSE_CANCELLED:
		return -ECANCELED;
	default:
		return 0;
	}
}

static uint64_t begin(struct wefti_thread *self, int64_t deadline,
		      const struct wefti_fd *e)
{
	uint64_t flags = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;

	return wefti_park_begin(self, flags | wefti_cancel_flag(self),
				WEFTI_WHY_DESCRIPTOR, e);
}

static int wait_inside(const struct wefti_use *use, int side, uint32_t edges,
		       enum wefti_side_mode mode, int64_t deadline,
		       struct wefti_thread *self)
{
	struct wefti_place place;
	uint64_t seq = begin(self, deadline, use->entry);
	int error = wefti_side_join(&use->entry->sides, side, &place, self, seq,
				    edges, mode);
	int ended;

	if (unlikely(error))
		wefti_wait_resolve(self, seq, WEFTI_CAUSE_WOKEN);
	ended = park_until(self, deadline);
	wefti_side_part(&place, self);
	return unlikely(error) ? error : ended;
}

int wefti_fd_wait(const struct wefti_use *use, int side, uint32_t edges,
		  enum wefti_side_mode mode, int64_t deadline)
{
	struct wefti_thread *self;
	int error;

	if (unlikely(!runtime_is_on()))
		return wait_in_kernel(use, side, deadline);
	error = wefti_fd_watch(use);
	if (unlikely(error))	/* the poller may be gone with the runtime */
		return runtime_is_on() ? wait_in_region(use, side, deadline,
							error) :
		       wait_in_kernel(use, side, deadline);
	self = wefti_enter();
	error = wait_inside(use, side, edges, mode, deadline, self);
	wefti_leave(self);
	return error;
}

int wefti_fd_rest(const struct wefti_use *use, int side, uint32_t edges,
		  int64_t deadline)
{
	struct wefti_thread *self;
	int error;

	if (unlikely(!runtime_is_on())) {
		(void)wefti_os_fd_poll(NULL, 0, deadline);
		return -ETIMEDOUT;
	}
	self = wefti_enter();
	error = wait_inside(use, side, edges, WEFTI_SIDE_ALL, deadline, self);
	wefti_leave(self);
	return error;
}

int wefti_interest_open(struct wefti_interest *i, int fd, short events)
{
	i->events = events;
	i->place[0].list = i->place[1].list = NULL;
	return wefti_fd_begin(&i->use, fd);
}

int wefti_interest_watch(struct wefti_interest *i)
{
	int error = wefti_fd_watch(&i->use);

	return error == -EPERM ? 0 : error;
}

int wefti_interest_known(struct wefti_interest *i, int fd, short events)
{
	uint64_t poller = load_seq_cst(&wefti_poller.word);
	int error = poller ? wefti_fd_begin(&i->use, fd) : -ENOENT;

	if (error)
		return error;
	i->events = events;
	i->place[0].list = i->place[1].list = NULL;
	if (load_seq_cst(&i->use.entry->watched) ==
	    watched_by(&i->use, poller))
		return 0;
	(void)wefti_fd_end(&i->use);
	return -ENOENT;
}

void wefti_interest_close(struct wefti_interest *i)
{
	(void)wefti_fd_end(&i->use);
}

int wefti_interest_note(struct wefti_interest *i)
{
	for (int side = 0; side < WEFTI_SIDES; side++)
		i->edges[side] = wefti_side_edges(&i->use.entry->sides, side);
	return wefti_fd_is_closing(&i->use) ? -EBADF : 0;
}

static int is_of(const struct wefti_interest *i, int side)
{
	/* Errors are reported without being asked for, on both sides. */
	if (side == WEFTI_WRITE_SIDE)
		return (i->events & WRITE_EVENTS) != 0;
	return (i->events & READ_EVENTS) || !(i->events & WRITE_EVENTS);
}

int wefti_interest_join(struct wefti_interest *i, struct wefti_thread *self,
			uint64_t seq)
{
	for (int side = 0; side < WEFTI_SIDES; side++) {
		int error;

		if (!is_of(i, side))
			continue;
		error = wefti_side_join(&i->use.entry->sides, side,
					&i->place[side], self, seq,
					i->edges[side], WEFTI_SIDE_ALL);
		if (unlikely(error))
			return error;
	}
	return 0;
}

void wefti_interest_part(struct wefti_interest *i, struct wefti_thread *self)
{
	for (int side = 0; side < WEFTI_SIDES; side++)
		wefti_side_part(&i->place[side], self);
}

void wefti_interests_close(struct wefti_interests *all)
{
	while (all->count > 0)
		wefti_interest_close(&all->of[--all->count]);
}

int wefti_interests_note(struct wefti_interests *all)
{
	int error = 0;

	for (size_t i = 0; i < all->count; i++)
		if (wefti_interest_note(&all->of[i]))
			error = -EBADF;
	return error;
}

int wefti_interests_join(struct wefti_interests *all, struct wefti_thread *self,
			 uint64_t seq)
{
	int error = 0;

	for (all->joined = 0; all->joined < all->count && !error; all->joined++)
		error = wefti_interest_join(&all->of[all->joined], self, seq);
	return error;
}

void wefti_interests_part(struct wefti_interests *all, struct wefti_thread *self)
{
	while (all->joined > 0)
		wefti_interest_part(&all->of[--all->joined], self);
}
