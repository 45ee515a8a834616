/* SPDX-License-Identifier: MIT */
/*
 * alt/alt.c - weft_alt: channels, joins, times and descriptors in one wait
 *
 * chan/alt.c does the waiting. Here is what a descriptor is in it: an interest
 * (io/wait.h) for each alternative with WEFT_ALT_READY, for the time of the call.
 * So its number is not given again meanwhile, and nothing of it stays behind.
 */
#include <errno.h>
#include <stdlib.h>

#include "chan/chan.h"
#include "io/wait.h"
#include "sched/vcpu.h"

#define FEW	4	/* descriptors, whose interests lie on the stack */

_Static_assert(sizeof(((struct weft_alt *)0)->u) == sizeof(uint64_t),
	       "a number, a time or a descriptor");

/* In weft_private[1]. NULL: it is not open, or is being closed. */
static struct wefti_interest *interest_of(const struct weft_alt *a)
{
	return (struct wefti_interest *)(uintptr_t)a->weft_private[1];
}

static int ready_attempt(struct weft_alt *a)
{
	struct wefti_interest *i = interest_of(a);
	int events = i ? wefti_interest_look(i) : -EBADF;

	if (events == 0)
		return -EAGAIN;
	if (events < 0)
		return events;
	a->u.ready.revents = (short)events;
	return 0;
}

static int runtime_is_on(void)
{
	return load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON;
}

static int ready_put_in(struct weft_alt *a, struct wefti_thread *self,
			uint64_t ticket)
{
	struct wefti_interest *i = interest_of(a);
	int error;

	/* Else nobody looks at the poller for a foreign thread. */
	if (unlikely(!runtime_is_on()))
		return -ESRCH;
	error = wefti_interest_watch(i);
	if (likely(!error))
		error = wefti_interest_join(i, self, ticket);
	/* A stop says so, and then wakes who has joined. */
	if (unlikely(!runtime_is_on()))
		return -ESRCH;
	return error == -EBADF ? 1 : error;	/* 1: attempt says it */
}

static void ready_take_out(struct weft_alt *a, struct wefti_thread *self)
{
	wefti_interest_part(interest_of(a), self);
}

static const struct wefti_alt_ready ready = {
	ready_attempt, ready_put_in, ready_take_out,
};

/* 0, or why none of them may be waited for. */
static int check(struct weft_alt *alt, size_t count, struct wefti_thread *self)
{
	for (size_t i = 0; i < count; i++) {
		struct weft_alt *a = &alt[i];
		int is_chan = a->op == WEFT_ALT_SEND || a->op == WEFT_ALT_RECV;

		if (a->op > WEFT_ALT_READY || (is_chan && !a->chan))
			return -EINVAL;
		if (is_chan && a->chan->is_owned &&
		    wefti_chan_own(a->chan, a->op, self))
			return -EPERM;
	}
	return 0;
}

static int call_inside(struct weft_alt *alt, size_t count, int64_t deadline,
		       struct wefti_thread *self)
{
	struct wefti_alts alts = {
		.alt = alt, .count = count, .self = self, .ready = &ready,
		.chosen = count,
	};
	int error = check(alt, count, self);

	if (error)
		return error;
	if (wefti_is_cancelled(self))
		return -ECANCELED;
	if (!wefti_alts_attempt(&alts)) {
		if (deadline == WEFT_NO_WAIT)
			return -EAGAIN;
		error = wefti_alts_wait(&alts, deadline, WEFTI_WHY_ALT, NULL);
		if (error)
			return error;
	}
	if (alts.error == -ENOMEM)
		return -ENOMEM;
	alt[alts.chosen].error = alts.error;
	return (int)alts.chosen;
}

static int call(struct weft_alt *alt, size_t count, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int result = call_inside(alt, count, deadline, self);

	wefti_leave(self);
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
 * Opens the interest of each descriptor, *opened of them. One that is not open
 * takes effect later. Returns 0, or an error that ends the call.
 */
static int open_all(struct weft_alt *alt, size_t count,
		    struct wefti_interest *interest, size_t *opened)
{
	*opened = 0;
	for (size_t i = 0; i < count; i++) {
		struct wefti_interest *at = &interest[*opened];
		int error;

		if (alt[i].op != WEFT_ALT_READY)
			continue;
		alt[i].weft_private[1] = 0;
		error = wefti_interest_open(at, alt[i].u.ready.fd,
					    alt[i].u.ready.events);
		if (!error) {
			alt[i].weft_private[1] = (uintptr_t)at;
			++*opened;
		} else if (error != -EBADF) {
			return error;
		}
	}
	return 0;
}

static COLD int call_with(struct weft_alt *alt, size_t count, int64_t deadline,
			  size_t descriptors)
{
	struct wefti_interest few[FEW], *interest = few;
	size_t opened;
	int result;

	if (descriptors > FEW)
		interest = malloc(descriptors * sizeof(*interest));
	if (!interest)
		return -ENOMEM;
	result = open_all(alt, count, interest, &opened);
	if (!result)
		result = call(alt, count, deadline);
	while (opened)
		wefti_interest_close(&interest[--opened]);
	if (interest != few)
		free(interest);
	return result;
}

int weft_alt(struct weft_alt *alt, size_t count, int64_t deadline)
{
	size_t descriptors;

	if (count < 1 || count > WEFT_ALTS_MAX)
		return -EINVAL;
	descriptors = descriptors_in(alt, count);
	if (unlikely(descriptors))
		return call_with(alt, count, deadline, descriptors);
	return call(alt, count, deadline);
}
