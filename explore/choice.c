/* SPDX-License-Identifier: MIT */
/*
 * explore/choice.c - a run by a list of choices, and the list of a run
 *
 * The plain run needs no list: a thread goes on until it waits, ends, yields, or has made
 * ROW steps while others could run. Then the next one in the order of creation runs. A list
 * has what differs. Each choice names its thread and counts that thread's choices, so a
 * choice keeps its meaning when another one is taken out of the list.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#define ROW	1000u

static const char *given;

void wefti_ex_list_begin(const char *list)
{
	given = list;
}

int wefti_ex_has_list(void)
{
	return given != NULL;
}

/* The list ends with the string or with a comma. */
uint32_t wefti_ex_listed(const struct wefti_ex_thread *by, char what)
{
	const char *text = given;

	while (*text && *text != ',') {
		char *end, kind;
		const unsigned long thread = strtoul(text, &end, 10);
		unsigned long to = 0, at = 0;

		kind = *end;
		if (kind)
			to = strtoul(end + 1, &end, 10);
		if (*end == '@')
			at = strtoul(end + 1, &end, 10);
		if (thread == by->number && kind == what && at == by->choices)
			return what == 't' || what == 'h' ? 1 : (uint32_t)to;
		text = end + (*end == '/');
		if (*end && *end != '/' && *end != ',')
			return 0;
	}
	return 0;
}

void wefti_ex_chosen(const struct wefti_ex_thread *by, char what, uint32_t to)
{
	struct wefti_ex_report *r = wefti_ex.report;

	if (r->choices < WEFTI_EX_CHOICES)
		r->choice[r->choices] = (struct wefti_ex_choice){
			.by = by->number, .at = by->choices, .to = to, .what = what,
		};
	r->choices++;
}

struct wefti_ex_thread *wefti_ex_plain(struct wefti_ex_thread **ready, unsigned n,
				       struct wefti_ex_thread *self)
{
	if (self->state == WEFTI_EX_READY && !wefti_ex_gives_way(self, ROW))
		return self;
	for (unsigned i = 0; i < n; i++)
		if (ready[i]->number > self->number)
			return ready[i];
	return ready[0];
}

struct wefti_ex_thread *wefti_ex_by_list(struct wefti_ex_thread **ready, unsigned n,
					 struct wefti_ex_thread *self)
{
	const uint32_t to = wefti_ex_listed(self, 'r');

	for (unsigned i = 0; to && i < n; i++)
		if (ready[i]->number == to)
			return ready[i];
	return wefti_ex_plain(ready, n, self);
}
