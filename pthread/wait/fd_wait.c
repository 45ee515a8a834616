/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/fd_wait.c - a green thread waits until descriptors are ready
 *
 * The thread parks, and the runtime's poller wakes it. If the poller cannot watch the
 * descriptor (the kernel has no epoll, or the table is full), the thread waits
 * by poll() in a region. A file that is always ready (EPERM) is not waited for. The descriptor's flags are never changed: another process may
 * share the open file.
 *
 * If the poller is believed to know the descriptor, a wait costs no system call of its
 * own (pthread/wait/fd_table.h).
 */
#include "pthread/wait/fd_wait.h"

#include <errno.h>
#include <string.h>

#include "io/fd_wait.h"
#include "os/call/descriptor.h"
#include "os/call/fatal.h"
#include "os/call/missing.h"
#include "pthread/core/real.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/room.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"
#include "sched/park.h"

#define FEW	8	/* interests that the stack has room for */

int wefti_pt_fd_is_nonblocking(int fd)
{
	int saved = errno, flags;

	if (wefti_pt_fd_is_all(fd, WEFTI_FD_BLOCKS | WEFTI_FD_WATCHED))
		return 0;
	flags = REAL(fcntl)(fd, F_GETFL);
	if (unlikely(flags < 0) && wefti_os_is_missing(-errno))
		wefti_os_fatal("fcntl", -errno);
	errno = saved;
	if (flags < 0 || (flags & O_NONBLOCK))
		return 1;
	wefti_pt_fd_note(fd, WEFTI_FD_BLOCKS);
	return 0;
}

int wefti_pt_poll_now(struct pollfd *fds, nfds_t count)
{
	int saved = errno, n;

	do {
		n = WEFTI_NO_POINT(REAL(poll)(fds, count, 0));
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		errno = saved;
	return n;
}

/*
 * Interests are open only inside the runtime, where no handler runs: a handler may leave
 * by siglongjmp().
 */
static int open_one(struct wefti_interests *all, const struct pollfd *fd)
{
	struct wefti_interest *i = &all->of[all->count];
	int error = wefti_interest_open(i, fd->fd, fd->events);

	if (error)
		return -error;
	all->count++;
	return -wefti_interest_watch(i);
}

/* Returns 0, EBADF or ENOTSUP. Descriptors below 0 are not looked at. */
static int open_all(struct wefti_interests *all, const struct pollfd *fds,
		    nfds_t count)
{
	all->count = 0;
	for (nfds_t i = 0; i < count; i++) {
		int error = fds[i].fd < 0 ? 0 : open_one(all, &fds[i]);

		if (error) {
			wefti_interests_close(all);
			return error == EBADF ? EBADF : ENOTSUP;
		}
	}
	return 0;
}

/*
 * Has a handler run that ends the wait? See fd_wait.h. If the call is one that Linux
 * restarts, only handlers that end such calls count, from `ending` on. A handler may have
 * run before there was anything to wait for.
 */
static int is_ended(const uint32_t *handled, uint32_t ending)
{
	return handled ? wefti_pt.handled != *handled :
			 wefti_pt.handled_no_restart != ending;
}

/* Called after a wait: runs the handlers that are due. */
static int is_ended_by_handler(const uint32_t *handled, uint32_t ending)
{
	wefti_signals_run();
	return is_ended(handled, ending);
}

/*
 * Parks until an edge, the deadline (then it returns 1), or something urgent. No handler
 * runs between its check and the wait. It clears WEFTI_URGENT_LOOK, because the caller
 * looks again. If the caller is a handler, the interrupted wait looks again as well.
 */
static int park(struct wefti_interests *all, int64_t deadline,
		const uint32_t *handled, uint32_t ending)
{
	struct wefti_thread *self = wefti_enter();
	uint64_t seq = wefti_park_begin(self, deadline == INT64_MAX ? 0 :
					WEFTI_WAIT_TIMED, WEFTI_WHY_DESCRIPTOR,
					all->of[0].use.entry);
	enum wefti_cause cause;
	int error;

	wefti_pt_wait_begins(seq);
	error = wefti_interests_join(all, self, seq);
	if (error || is_ended(handled, ending) ||
	    wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL | WEFTI_URGENT_CANCEL |
			       WEFTI_URGENT_LOOK))
		wefti_unpark(self, seq, WEFTI_CAUSE_WOKEN);
	cause = wefti_park(self, deadline);
	wefti_pt_wait_ends();
	if (unlikely(wefti_pt_is_urgent(WEFTI_URGENT_LOOK)))
		fetch_and_seq_cst(&wefti_pt.urgent, ~WEFTI_URGENT_LOOK);
	wefti_interests_part(all, self);
	if (error)
		wefti_yield(self);	/* no memory for a wait: look again */
	wefti_leave(self);
	return cause == WEFTI_CAUSE_TIMEDOUT;
}

struct wait {
	const struct pollfd *fds;
	nfds_t count;
	int (*look)(void *arg);
	void *arg;
	int64_t deadline;
	const uint32_t *handled;
	uint32_t ending;
};

/* Has one of the numbers been given to another file since? */
static int is_changed(const struct wefti_interests *all)
{
	for (nfds_t i = 0; i < all->count; i++)
		if (wefti_fd_generation_of(all->of[i].use.fd) !=
		    wefti_fd_generation(all->of[i].use.word))
			return 1;
	return 0;
}

/*
 * Opens the interests again, for the files that the numbers have now. If a number is
 * closed, look() finds that next, or the number is another file's by then. This is not
 * repeated for ever. Returns 0, EBADF or ENOTSUP.
 */
static int open_again(struct wefti_interests *all, const struct wait *w, int before)
{
	int opened;

	wefti_interests_close(all);
	opened = open_all(all, w->fds, w->count);
	return opened && before ? ENOTSUP : opened;
}

/* Inside the runtime. EINTR: the caller has to look at what is urgent. */
static int wait_inside(const struct wait *w, struct wefti_interests *all)
{
	int opened = open_all(all, w->fds, w->count);
	int timed_out = 0, error = 0;

	for (;;) {
		if (opened == ENOTSUP)
			return ENOTSUP;
		(void)!wefti_interests_note(all);
		if (w->look(w->arg) != 0)
			break;
		if (unlikely(opened != 0 || is_changed(all))) {
			opened = open_again(all, w, opened);
			continue;
		}
		if (timed_out || (w->deadline != INT64_MAX &&
				  w->deadline <= wefti_os_now_ns())) {
			error = EAGAIN;
			break;
		}
		timed_out = park(all, w->deadline, w->handled, w->ending);
		if (is_ended(w->handled, w->ending) ||
		    wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL |
				       WEFTI_URGENT_CANCEL)) {
			error = EINTR;
			break;
		}
	}
	wefti_interests_close(all);
	return error;
}

/*
 * Waits until a descriptor is ready, or a handler has run that ends the wait. A handler may
 * have forked. In the child the thread is the process, and waits in the kernel.
 */
static int wait_until(const struct wait *w, struct wefti_interests *all)
{
	while (wefti_pt_green()) {
		struct wefti_thread *self = wefti_enter();
		int error = wait_inside(w, all);

		wefti_leave(self);
		if (error != EINTR)
			return error;
		if (is_ended_by_handler(w->handled, w->ending))
			return EINTR;
		wefti_cancel_point();
	}
	return ENOTSUP;
}

int wefti_pt_ready_wait(const struct pollfd *fds, nfds_t count,
			int (*look)(void *arg), void *arg, int64_t deadline,
			const uint32_t *handled)
{
	const struct wait w = { fds, count, look, arg, deadline, handled,
				wefti_pt.handled_no_restart };
	struct wefti_interest few[FEW];
	struct wefti_interests all;
	int error;

	wefti_cancel_point();
	all.of = count <= FEW ? few : wefti_room_take(count * sizeof(*all.of));
	if (!all.of)
		return ENOTSUP;
	error = wait_until(&w, &all);
	if (all.of != few)
		wefti_room_give(all.of);
	wefti_signals_run_any();
	if (error != ENOTSUP)
		wefti_cancel_point();
	return error;
}

/* Waits in the kernel, in a region. */
static int wait_in_region(struct pollfd *p, int64_t deadline,
			  const uint32_t *handled)
{
	const uint32_t ending = wefti_pt.handled_no_restart;
	struct timespec time, *timeout = NULL;
	int saved = errno, n;

	if (is_ended(handled, ending))
		return EINTR;
	if (deadline != INT64_MAX) {
		int64_t left = deadline - wefti_os_now_ns();

		if (left <= 0)
			return EAGAIN;
		time = (struct timespec){ left / WEFTI_NS, left % WEFTI_NS };
		timeout = &time;
	}
	wefti_region_begin();
	n = REAL(ppoll)(p, 1, timeout, NULL);
	if (unlikely(n < 0) && wefti_os_is_missing(-errno)) {
		n = wefti_os_fd_poll(p, 1, deadline);
		if (wefti_os_is_missing(n))
			wefti_os_fatal("ppoll", n);
	}
	wefti_region_end();
	errno = saved;
	wefti_cancel_point();
	if (is_ended_by_handler(handled, ending))
		return EINTR;
	return n == 0 ? EAGAIN : 0;
}

struct file {
	struct pollfd poll;
	uint32_t generation;		/* of the number */
};

/* Is it ready? Also 1 if the number is closed, or another file's. */
static int is_ready(void *arg)
{
	struct file *f = arg;
	int saved = errno, n = wefti_pt_poll_now(&f->poll, 1);

	errno = saved;
	return n || wefti_fd_generation_of(f->poll.fd) != f->generation;
}

struct wefti_edges wefti_pt_fd_edges(int fd)
{
	struct wefti_fd *e = wefti_pt_fd_is(fd, WEFTI_FD_WATCHED) ?
			     wefti_fd_find((uint32_t)fd) : NULL;
	struct wefti_edges edges = { { 0, 0 } };

	for (int side = 0; e && side < WEFTI_SIDES; side++)
		edges.of[side] = wefti_side_edges(&e->sides, side);
	return edges;
}

/* ENOENT: the poller does not know the descriptor. */
static int wait_known(int fd, short events, struct wefti_edges before,
		      int64_t deadline, const uint32_t *handled)
{
	int64_t limit = wefti_os_now_ns() + WEFTI_FD_TRUST_NS;
	const uint32_t ending = wefti_pt.handled_no_restart;
	struct wefti_interest one;
	struct wefti_interests all = { .of = &one, .count = 1 };
	struct wefti_thread *self = wefti_enter();
	int timed_out;

	if (wefti_interest_known(all.of, fd, events) != 0) {
		wefti_leave(self);
		return ENOENT;
	}
	memcpy(all.of->edges, before.of, sizeof(before.of));
	timed_out = park(&all, deadline < limit ? deadline : limit, handled,
			 ending);
	wefti_interests_close(&all);
	wefti_leave(self);
	if (is_ended_by_handler(handled, ending))
		return EINTR;
	wefti_cancel_point();
	if (timed_out && deadline < limit)
		return EAGAIN;
	if (timed_out)
		wefti_pt_fd_doubt(fd, WEFTI_FD_GUESSED);
	return 0;
}

int wefti_pt_fd_wait(int fd, short events, struct wefti_edges before,
		     int64_t deadline, const uint32_t *handled)
{
	struct file f = { { .fd = fd, .events = events },
			  wefti_fd_generation_of(fd) };
	int error;

	wefti_cancel_point();
	if (wefti_pt_fd_is(fd, WEFTI_FD_WATCHED) && likely(wefti_pt_green())) {
		error = wait_known(fd, events, before, deadline, handled);
		if (error == ENOENT)
			wefti_pt_fd_doubt(fd, WEFTI_FD_GUESSED);
		error = error == ENOENT ? 0 : error;
	} else {
		error = wefti_pt_ready_wait(&f.poll, 1, is_ready, &f, deadline,
					    handled);
		if (error == ENOTSUP)
			error = wait_in_region(&f.poll, deadline, handled);
		else
			wefti_pt_fd_note(fd, WEFTI_FD_WATCHED);
	}
	return wefti_fd_generation_of(fd) == f.generation ? error : EBADF;
}
