/* SPDX-License-Identifier: MIT */
/*
 * io/fd_wait.h - waits until a descriptor may be ready
 *
 * For one thread, one descriptor and one direction there is io/call.h. Here are its
 * parts, also for a thread that waits for several things at once, descriptors among
 * them:
 *
 *	error = wefti_interest_open(&i, fd, events)
 *	for (;;) {
 *		error = wefti_interest_note(&i)
 *		... poll(2), and the other things: none is ready ...
 *		error = wefti_interest_watch(&i)	once is enough
 *		self = wefti_enter()
 *		seq = wefti_park_begin(self, ...)
 *		error = wefti_interest_join(&i, self, seq)
 *		... the other things get the ticket (self, seq) ...
 *		cause = wefti_park(self, deadline)
 *		wefti_interest_part(&i, self)
 *		... the same with the others ...
 *		wefti_leave(self)
 *	}
 *	wefti_interest_close(&i)
 *
 * A descriptor ends the wait by wefti_unpark(self, seq, WEFTI_CAUSE_WOKEN): one CAS
 * against others that hold the ticket. This takes no data from the descriptor. WOKEN
 * means "look again", and the look may then find nothing. join may end the wait at
 * once. If join fails (-ENOMEM), the caller must end the wait, and part from what was
 * joined. part must follow every join, however the wait ended.
 */
#ifndef WEFT_IO_FD_WAIT_H
#define WEFT_IO_FD_WAIT_H

#include "io/table.h"

/*
 * Stores the poller's word; the poller is on then. Returns 0, -EMFILE, -ENFILE or
 * -ENOMEM.
 */
MUST_USE int wefti_fd_poller(uint64_t *poller);

/*
 * Makes the poller watch the descriptor, so that edges come to its sides. Returns 0,
 * -EPERM (the file is always ready), -EBADF, -EMFILE, -ENFILE, -ENOMEM.
 */
MUST_USE int wefti_fd_watch(const struct wefti_use *use);

/*
 * Waits until there is an edge on the side since `edges` was read. Without a runtime:
 * until it is ready. Returns 0 (look again), -ETIMEDOUT, -ECANCELED, or an error of
 * watch.
 */
MUST_USE int wefti_fd_wait(const struct wefti_use *use, int side,
			   uint32_t edges, enum wefti_side_mode mode,
			   int64_t deadline);

/*
 * The same for a thread that waits only for the deadline or a close, and for no event
 * of the descriptor: the poller is not asked to watch it.
 */
MUST_USE int wefti_fd_rest(const struct wefti_use *use, int side,
			   uint32_t edges, int64_t deadline);

struct wefti_interest {
	struct wefti_use use;
	short events;			/* POLLIN, POLLOUT ... */
	uint32_t edges[WEFTI_SIDES];
	struct wefti_place place[WEFTI_SIDES];
};

/* Returns 0, or an error of begin. */
MUST_USE int wefti_interest_open(struct wefti_interest *i, int fd,
				 short events);

/*
 * To be called before a join. Returns 0, also for a file, which is always ready; or an
 * error of watch.
 */
MUST_USE int wefti_interest_watch(struct wefti_interest *i);

/*
 * Open and watch in one call, for a descriptor that the caller says the poller watches:
 * the kernel is not asked. Returns -ENOENT if the poller does not watch this number.
 */
MUST_USE int wefti_interest_known(struct wefti_interest *i, int fd,
				  short events);
void wefti_interest_close(struct wefti_interest *i);

/*
 * To be called before the descriptor is looked at. Returns -EBADF if it is being
 * closed.
 */
MUST_USE int wefti_interest_note(struct wefti_interest *i);

/*
 * Called inside the runtime. Returns 0, or -ENOMEM: the caller must part from what was
 * joined.
 */
MUST_USE int wefti_interest_join(struct wefti_interest *i,
				 struct wefti_thread *self, uint64_t seq);
void wefti_interest_part(struct wefti_interest *i, struct wefti_thread *self);

/*
 * Several of one wait, as one: the same calls. Which of them are open, and when they are
 * watched, is the caller's. part() is of what was joined.
 */
struct wefti_interests {
	struct wefti_interest *of;
	size_t count;
	size_t joined;
};

void wefti_interests_close(struct wefti_interests *all);
int wefti_interests_note(struct wefti_interests *all);
MUST_USE int wefti_interests_join(struct wefti_interests *all,
				  struct wefti_thread *self, uint64_t seq);
void wefti_interests_part(struct wefti_interests *all, struct wefti_thread *self);

#endif
