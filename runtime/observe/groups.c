/* SPDX-License-Identifier: MIT */
/*
 * observe/groups.c - threads that wait in the same place, described once
 *
 * A table of fixed size, since a dump does not allocate. A program has few places in
 * which most of its threads wait. The table belongs to the dump.
 */
#include "observe/groups.h"

#include <errno.h>
#include <string.h>

#define GROUPS	256u
#define IDS	8

static struct group {
	struct wefti_view first;	/* state NONE: not used */
	uint64_t count;
	uint64_t id[IDS];
	size_t frames;
	uintptr_t pcs[WEFTI_FRAMES_MOST];
} groups[GROUPS] TABLE;

void wefti_groups_clear(void)
{
	for (unsigned i = 0; i < GROUPS; i++)
		groups[i].first.state = WEFTI_VIEW_NONE;
}

static int is_same(const struct group *g, const struct wefti_view *view,
		   const uintptr_t *pcs, size_t n)
{
	return g->first.state == view->state && g->first.why == view->why &&
	       g->first.light == view->light && g->frames == n &&
	       memcmp(g->pcs, pcs, n * sizeof(pcs[0])) == 0;
}

int wefti_groups_add(const struct wefti_view *view, const uintptr_t *pcs,
		     size_t n)
{
	uint64_t hash = view->state * 31 + view->why;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (unsigned i = 0; i < GROUPS; i++) {
		struct group *g = &groups[((hash >> 32) + i) % GROUPS];

		if (g->first.state == WEFTI_VIEW_NONE) {
			g->first = *view;
			g->count = 0;
			g->frames = n;
			memcpy(g->pcs, pcs, n * sizeof(pcs[0]));
		}
		if (!is_same(g, view, pcs, n))
			continue;
		if (g->count < IDS)
			g->id[g->count] = view->id;
		g->count++;
		return 0;
	}
	return -ENOSPC;
}

void wefti_groups_tell(struct wefti_out *o)
{
	for (unsigned i = 0; i < GROUPS; i++) {
		const struct group *g = &groups[i];

		if (g->first.state == WEFTI_VIEW_NONE)
			continue;
		wefti_tell_thread(o, &g->first);
		if (g->count > 1) {
			wefti_out(o, "    and %lu more in the same place:",
				  g->count - 1);
			for (uint64_t k = 1; k < g->count && k < IDS; k++)
				wefti_out(o, " %lu", g->id[k]);
			wefti_out(o, g->count > IDS ? " ...\n" : "\n");
		}
		wefti_tell_stack(o, g->pcs, g->frames);
	}
}
