/* SPDX-License-Identifier: MIT */
/*
 * explore/spurious.c - a wait for a condition variable ends without a signal
 *
 * POSIX allows it, so a program has to look at its condition again. It is a choice at each
 * step, if it is asked for: which waiting thread, or none. A list of choices says it by
 * itself.
 */
#include "explore.h"

static unsigned waiting(struct wefti_ex_thread **some)
{
	unsigned n = 0;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->op == WEFTI_EX_WAIT &&
		    n < WEFTI_EX_THREADS)
			some[n++] = t;
	return n;
}

static struct wefti_ex_thread *drawn(struct wefti_ex_thread **some, unsigned n)
{
	if (!wefti_ex.early || wefti_ex_random() % wefti_ex.early != 0)
		return NULL;
	return some[wefti_ex_random() % n];
}

static struct wefti_ex_thread *listed(const struct wefti_ex_thread *self,
				      struct wefti_ex_thread **some, unsigned n)
{
	const uint32_t number = wefti_ex_listed(self, 's');

	for (unsigned i = 0; i < n; i++)
		if (some[i]->number == number)
			return some[i];
	return NULL;
}

struct wefti_ex_thread *wefti_ex_is_spurious(struct wefti_ex_thread *self,
					     struct wefti_ex_thread **some, unsigned n)
{
	struct wefti_ex_thread *chosen;

	if (n == 0 || (!wefti_ex.has_spurious && !wefti_ex_has_list()))
		return NULL;
	if (wefti_ex.has_spurious)
		wefti_ex_fork_of(self, 's', some, n, 0);
	chosen = wefti_ex_has_list() ? listed(self, some, n) : drawn(some, n);
	if (!chosen)
		return NULL;
	wefti_ex_chosen(self, 's', chosen->number);
	wefti_ex_past_choice(self, chosen);
	return chosen;
}

/* BLOCKED -> READY, as if nothing had happened. */
void wefti_ex_wake_without_reason(struct wefti_ex_thread *self)
{
	static struct wefti_ex_thread *some[WEFTI_EX_THREADS];
	struct wefti_ex_thread *chosen = NULL;

	if (wefti_ex.has_spurious || wefti_ex_has_list())
		chosen = wefti_ex_is_spurious(self, some, waiting(some));
	if (chosen)
		chosen->state = WEFTI_EX_READY;
}
