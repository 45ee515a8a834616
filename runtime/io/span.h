/* SPDX-License-Identifier: MIT */
/* io/span.h - a list of buffers, part of which is done */
#ifndef WEFT_IO_SPAN_H
#define WEFT_IO_SPAN_H

#include "os/call/descriptor.h"

struct wefti_span {
	const struct iovec *iov;	/* the first buffer that is not done */
	int count;
	size_t skip;			/* how much of it is done */
	size_t left;			/* bytes not done yet */
	struct iovec rest;		/* of the first buffer, if skip is not 0 */
};

static inline struct wefti_span wefti_span(const struct iovec *iov, int count)
{
	struct wefti_span s = { .iov = iov, .count = count };

	for (int i = 0; i < count; i++)
		s.left += iov[i].iov_len;
	return s;
}

/* The buffers for the next system call. */
static inline const struct iovec *wefti_span_next(struct wefti_span *s,
						  int *count)
{
	*count = s->count;
	if (!s->skip)
		return s->iov;
	*count = 1;
	s->rest.iov_base = (char *)s->iov->iov_base + s->skip;
	s->rest.iov_len = s->iov->iov_len - s->skip;
	return &s->rest;
}

static inline void wefti_span_advance(struct wefti_span *s, size_t bytes)
{
	s->left -= bytes;
	s->skip += bytes;
	while (s->count && s->skip >= s->iov->iov_len) {
		s->skip -= s->iov->iov_len;
		s->iov++;
		s->count--;
	}
}

/* One system call for these buffers, at `at` in the file, or at its position: -1. */
typedef ssize_t wefti_span_step_fn(void *arg, const struct iovec *iov, int count,
				   off_t at);

/*
 * Calls step until all is done, or until step does nothing. Returns the number of bytes,
 * or the error of step if there are none.
 */
static inline ssize_t wefti_span_do(const struct iovec *iov, int count, off_t at,
				    wefti_span_step_fn *step, void *arg)
{
	struct wefti_span span = wefti_span(iov, count);
	const size_t bytes = span.left;
	ssize_t r, done = 0;

	do {
		iov = wefti_span_next(&span, &count);
		r = step(arg, iov, count, at < 0 ? at : at + done);
		if (r > 0)
			wefti_span_advance(&span, (size_t)r);
		done = (ssize_t)(bytes - span.left);
	} while (r > 0 && span.left > 0);
	return done > 0 ? done : r;
}

#endif
