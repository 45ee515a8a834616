/* SPDX-License-Identifier: MIT */
/*
 * cli/explore_shrink.c - weft explore: the fewest choices that still lead to a failure
 *
 * The library tells which choices of the run a plain run would not have made
 * (explore/choice.c). Pieces of this list are taken out, first large and then small ones,
 * and the program runs by the rest. What fails in the same way is kept.
 *
 * Source
 *   A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002,
 *   without its second half: a piece alone is not tried. With pairs.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#include "os/call/clock.h"

#define RUNS_MOST	300u
#define TIMES_MOST	2	/* a run's longest time */
#define CHOICE		WEFTI_EX_CHOICE_TEXT

/* All but those from `from` to before `to`, and but for the one at `other`. For free(). */
static char *list_of(const struct wefti_ex_choice *choices, unsigned n, unsigned from,
		     unsigned to, unsigned other)
{
	char *text = malloc((size_t)n * CHOICE + 1);
	size_t length = 0;

	if (!text)
		return NULL;
	*text = 0;
	for (unsigned i = 0; i < n; i++)
		if ((i < from || i >= to) && i != other)
			length += (size_t)snprintf(text + length, CHOICE, "%s%u%c%u@%u",
						   length ? "/" : "", choices[i].by,
						   choices[i].what, choices[i].to,
						   choices[i].at);
	return text;
}

struct shrinking {
	struct weft_cli_explored *run;
	const struct weft_cli_failure *failure;
	struct wefti_ex_choice *choices;
	unsigned n, runs;
	int64_t until_ns;
};

/* Does the program fail in the same way without this piece? */
static int fails_without(struct shrinking *s, unsigned from, unsigned to, unsigned other)
{
	char *list = list_of(s->choices, s->n, from, to, other);
	int is_same = 0;

	if (list) {
		s->runs++;
		weft_cli_explore_run_list(s->run, list, 0);
		is_same = weft_cli_explore_is_same(s->run, s->failure);
	}
	free(list);
	return is_same;
}

static void take_out(struct shrinking *s, unsigned from, unsigned to)
{
	memmove(s->choices + from, s->choices + to, (s->n - to) * sizeof(*s->choices));
	s->n -= to - from;
}

/* One round by pieces of this size. Returns whether one was taken out. */
static int round_of(struct shrinking *s, unsigned size)
{
	int is_shorter = 0;
	unsigned from = 0;

	while (from < s->n && s->runs < RUNS_MOST && !weft_cli_explore_is_to_end &&
	       wefti_os_now_ns() < s->until_ns) {
		const unsigned to = from + size < s->n ? from + size : s->n;

		if (fails_without(s, from, to, UINT_MAX)) {
			take_out(s, from, to);
			is_shorter = 1;
		} else {
			from = to;
		}
	}
	return is_shorter;
}

/*
 * A switch to a thread and the one back are needed by each other alone. Takes out the first
 * such pair; returns whether there is one.
 */
static int take_pair(struct shrinking *s)
{
	for (unsigned i = 0; i + 1 < s->n; i++)
		for (unsigned k = i + 1; k < s->n; k++) {
			if (s->runs >= RUNS_MOST || weft_cli_explore_is_to_end ||
			    wefti_os_now_ns() >= s->until_ns)
				return 0;
			if (fails_without(s, i, i + 1, k)) {
				take_out(s, k, k + 1);
				take_out(s, i, i + 1);
				return 1;
			}
		}
	return 0;
}

/* Until no choice alone, and no pair, can be taken out. */
static void shrink(struct shrinking *s)
{
	for (unsigned size = s->n / 2; size > 1; size /= 2)
		(void)round_of(s, size);
	do
		while (round_of(s, 1))
			;
	while (take_pair(s));
}

char *weft_cli_explore_shrink(struct weft_cli_explored *run,
			      const struct weft_cli_failure *failure)
{
	struct shrinking s = { .run = run, .failure = failure,
			       .n = run->report->choices,
			       .until_ns = wefti_os_now_ns() +
					   TIMES_MOST * weft_cli_how.timeout_ns };
	char *list = NULL;

	if (s.n > WEFTI_EX_CHOICES)
		return NULL;
	s.choices = malloc((s.n + 1) * sizeof(*s.choices));
	if (!s.choices)
		return NULL;
	memcpy(s.choices, run->report->choice, s.n * sizeof(*s.choices));
	if (fails_without(&s, 0, 0, UINT_MAX)) {
		shrink(&s);
		list = list_of(s.choices, s.n, 0, 0, UINT_MAX);
	}
	free(s.choices);
	if (list)
		weft_cli_explore_run_list(run, list, 1);
	return list;
}
