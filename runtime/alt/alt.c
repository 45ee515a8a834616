/* SPDX-License-Identifier: MIT */
/*
 * alt/alt.c - weft_alt: channels, joins, times and descriptors in one wait
 *
 * chan/chan_wait.c does the waiting. This file adds descriptors: each alternative with
 * WEFT_ALT_READY has an interest (io/fd_wait.h) for the time of the call. So its number is
 * not reused meanwhile, and nothing of it remains. One poll(2) looks at all of them in
 * each round of tries.
 */
#include <errno.h>
#include <stdlib.h>

#include "chan/chan.h"
#include "io/fd_wait.h"
#include "os/call/descriptor.h"
#include "sched/vcpu.h"

#define FEW	4	/* descriptors; their interests are on the stack */

_Static_assert(sizeof(((struct weft_alt *)0)->u) == sizeof(uint64_t),
	       "a number, a time or a descriptor");

struct call {
	struct wefti_alts alts;
	struct wefti_interest *interest;
	struct pollfd *fds;		/* one each; fd < 0: it is being closed */
	size_t opened;
};

static struct call *call_of(struct wefti_alts *alts)
{
	return (struct call *)((char *)alts - offsetof(struct call, alts));
}

/* weft_private[1] of an alternative: its interest, counted from 1. 0: none. */
static struct wefti_interest *interest_of(struct wefti_alts *alts,
					  const struct weft_alt *a)
{
	return &call_of(alts)->interest[a->weft_private[1] - 1];
}

static void poll_opened(struct wefti_alts *alts)
{
	struct call *c = call_of(alts);

	for (size_t i = 0; i < c->opened; i++)
		if (wefti_interest_note(&c->interest[i]))
			c->fds[i].fd = -1;
	if (wefti_os_fd_poll(c->fds, c->opened, 0) >= 0)
		return;
	/* poll(2) takes no more at once than the limit of descriptors. */
	for (size_t i = 0; i < c->opened; i++)
		(void)wefti_os_fd_poll(&c->fds[i], 1, 0);
}

static int ready_try_now(struct wefti_alts *alts, struct weft_alt *a)
{
	const struct pollfd *p;

	if (!a->weft_private[1])
		return -EBADF;
	p = &call_of(alts)->fds[a->weft_private[1] - 1];
	if (p->fd < 0 || (p->revents & POLLNVAL))
		return -EBADF;
	if (!p->revents)
		return -EAGAIN;
	a->u.ready.revents = p->revents;
	return 0;
}

static int runtime_is_on(void)
{
	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON;
}

static int ready_add(struct wefti_alts *alts, struct weft_alt *a)
{
	struct wefti_interest *i = interest_of(alts, a);
	int error;

	/* Without the runtime, no VCPU looks at the poller for a foreign thread. */
	if (unlikely(!runtime_is_on()))
		return -ESRCH;
	error = wefti_interest_watch(i);
	if (likely(!error))
		error = wefti_interest_join(i, alts->self, alts->ticket);
	/* A stop sets the state first, and then wakes the threads that have joined. */
	if (unlikely(!runtime_is_on()))
		return -ESRCH;
	return error == -EBADF ? 1 : error;	/* 1: the try returns it */
}

static void ready_withdraw(struct wefti_alts *alts, struct weft_alt *a)
{
	wefti_interest_part(interest_of(alts, a), alts->self);
}

static const struct wefti_alt_ready ready = {
	poll_opened, ready_try_now, ready_add, ready_withdraw,
};

static int is_chan(const struct weft_alt *a)
{
	return a->op == WEFT_ALT_SEND || a->op == WEFT_ALT_RECV;
}

/* *owned: is a channel one-to-one? */
static int check(const struct weft_alt *alt, size_t count, int *owned)
{
	*owned = 0;
	for (size_t i = 0; i < count; i++) {
		if (alt[i].op > WEFT_ALT_READY ||
		    (is_chan(&alt[i]) && !alt[i].chan))
			return -EINVAL;
		*owned |= is_chan(&alt[i]) && alt[i].chan->is_owned;
	}
	return 0;
}

/* Makes self the sender, or the receiver, of each channel that is one-to-one. */
static int own(const struct weft_alt *alt, size_t count,
	       struct wefti_thread *self)
{
	for (size_t i = 0; i < count; i++)
		if (is_chan(&alt[i]) && alt[i].chan->is_owned &&
		    wefti_chan_own(alt[i].chan, alt[i].op, self))
			return -EPERM;
	return 0;
}

static int call_inside(struct wefti_alts *alts, int64_t deadline)
{
	int owned, error = check(alts->alt, alts->count, &owned);

	if (error)
		return error;
	if (wefti_is_cancelled(alts->self))
		return -ECANCELED;
	if (unlikely(owned))
		error = own(alts->alt, alts->count, alts->self);
	if (error)
		return error;
	if (wefti_alts_try(alts) != 0) {
		if (deadline == WEFT_NO_WAIT)
			return -EAGAIN;
		error = wefti_alts_wait(alts, deadline, WEFTI_WHY_ALT, NULL);
		if (error)
			return error;
	}
	if (alts->error == -ENOMEM)
		return -ENOMEM;
	alts->alt[alts->chosen].error = alts->error;
	return (int)alts->chosen;
}

static int call(struct wefti_alts *alts, int64_t deadline)
{
	int result;

	alts->self = wefti_enter();
	result = call_inside(alts, deadline);
	wefti_leave(alts->self);
	return result;
}

static size_t descriptors_in(const struct weft_alt *alt, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += alt[i].op == WEFT_ALT_READY;
	return n;
}

/*
 * Opens the interest of each descriptor. A closed descriptor takes effect later.
 * Returns 0, or an error that ends the call.
 */
static int open_all(struct call *c)
{
	for (size_t i = 0; i < c->alts.count; i++) {
		struct weft_alt *a = &c->alts.alt[i];
		int error;

		if (a->op != WEFT_ALT_READY)
			continue;
		a->weft_private[1] = 0;
		error = wefti_interest_open(&c->interest[c->opened],
					    a->u.ready.fd, a->u.ready.events);
		if (error == -EBADF)
			continue;
		if (error)
			return error;
		c->fds[c->opened] = (struct pollfd){
			.fd = a->u.ready.fd, .events = a->u.ready.events,
		};
		a->weft_private[1] = ++c->opened;
	}
	return 0;
}

static COLD int call_with(struct weft_alt *alt, size_t count, int64_t deadline,
			  size_t descriptors)
{
	struct wefti_interest few[FEW];
	struct pollfd few_fds[FEW];
	struct call c = {
		.alts = { .alt = alt, .count = count, .chosen = count,
			  .ready = &ready },
		.interest = few, .fds = few_fds,
	};
	int result;

	if (descriptors > FEW) {
		c.interest = malloc(descriptors * (sizeof(*c.interest) +
						   sizeof(*c.fds)));
		if (!c.interest)
			return -ENOMEM;
		c.fds = (struct pollfd *)(c.interest + descriptors);
	}
	result = open_all(&c);
	if (!result)
		result = call(&c.alts, deadline);
	while (c.opened)
		wefti_interest_close(&c.interest[--c.opened]);
	if (c.interest != few)
		free(c.interest);
	return result;
}

int weft_alt(struct weft_alt *alt, size_t count, int64_t deadline)
{
	struct wefti_alts alts = {
		.alt = alt, .count = count, .chosen = count,
	};
	size_t descriptors;

	if (count < 1 || count > WEFT_ALTS_MAX)
		return -EINVAL;
	descriptors = descriptors_in(alt, count);
	if (unlikely(descriptors))
		return call_with(alt, count, deadline, descriptors);
	return call(&alts, deadline);
}
