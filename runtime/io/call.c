/* SPDX-License-Identifier: MIT */
/* io/call.c - a call on a descriptor: try, wait, try again */
#include "io/call.h"

#include <errno.h>

#include "os/call/descriptor.h"
#include "sched/park.h"
#include "weft/base.h"

/*
 * What kind of descriptor it is: known if weft made it; otherwise the kernel is asked.
 */
static int learn(struct wefti_call *call)
{
	uint64_t w = call->use.word;

	if (likely(w & WEFTI_FD_MADE)) {
		call->kind = (int)(w >> WEFTI_FD_KIND_SHIFT & 3);
		call->nonblocking = (w & WEFTI_FD_NONBLOCK) != 0;
		return 0;
	}
	call->kind = wefti_os_fd_kind(call->use.fd);
	call->nonblocking = 0;
	return call->kind < 0 ? call->kind : 0;
}

int wefti_call_is_ready(const struct wefti_call *call, short event)
{
	struct pollfd p = { .fd = call->use.fd, .events = event };

	return wefti_os_fd_poll(&p, 1, 0) == 1;
}

static ssize_t try_and_wait(struct wefti_call *call, wefti_attempt_fn *attempt,
			    void *arg, int64_t deadline)
{
	struct wefti_sides *sides = &call->use.entry->sides;
	int waited = 0;
	ssize_t ret;

	for (;;) {
		uint32_t edges = wefti_side_edges(sides, call->side);

		ret = -EBADF;
		if (wefti_fd_is_closing(&call->use))
			break;	/* of table.c: I3 */
		ret = attempt(call, arg);
		if (ret == -EINTR)
			continue;
		if (ret != -EAGAIN || deadline == WEFT_NO_WAIT)
			break;
		ret = wefti_fd_wait(&call->use, call->side, edges, call->mode,
				    deadline);
		if (ret)
			break;
		waited = 1;
	}
	if (waited && call->mode == WEFTI_SIDE_ONE &&
	    wefti_side_next_waits(sides)) {
		struct wefti_thread *self = wefti_enter();

		wefti_side_wake_next(sides);	/* of side.c: I2 */
		wefti_leave(self);
	}
	return ret;
}

ssize_t wefti_call_do(int fd, int side, enum wefti_side_mode mode,
		      wefti_attempt_fn *attempt, void *arg, int64_t deadline)
{
	struct wefti_call call = { .side = side, .mode = mode };
	ssize_t ret;

	if (unlikely(wefti_is_cancelled(wefti_known_self())))
		return -ECANCELED;
	ret = wefti_fd_begin(&call.use, fd);
	if (ret)
		return ret;
	ret = learn(&call);
	if (!ret)
		ret = try_and_wait(&call, attempt, arg, deadline);
	(void)wefti_fd_end(&call.use);
	return ret;
}
