/* SPDX-License-Identifier: MIT */
/* cli/profile/table.c - what was measured, by thread and stack */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

const struct profile_type profile_types[PROFILE_VALUES] = {
	[PROFILE_SAMPLES] = { "samples", "count" },
	[PROFILE_CPU] = { "cpu", "nanoseconds" },
	[PROFILE_WAITS] = { "waits", "count" },
	[PROFILE_WAIT] = { "wait", "nanoseconds" },
	[PROFILE_LOCK_WAITS] = { "lock_waits", "count" },
	[PROFILE_LOCK] = { "lock", "nanoseconds" },
	[PROFILE_READY] = { "ready", "nanoseconds" },
	[PROFILE_SPAWNS] = { "spawns", "count" },
};

enum profile_value profile_type_of(const char *name)
{
	unsigned i = 0;

	while (i < PROFILE_VALUES && strcmp(profile_types[i].name, name) != 0)
		i++;
	return (enum profile_value)i;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *profile_text(struct profile_table *table, const char *text)
{
	char *copy = strdup(text), **found;

	found = copy ? tsearch(copy, &table->texts, by_text) : NULL;
	if (!found || *found != copy)
		free(copy);
	if (!found)
		table->failed = 1;
	return found ? *found : "";
}

static int by_address(const void *a, const void *b)
{
	return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

/* Texts are the same if their addresses are. */
static int by_key(const void *a, const void *b)
{
	const struct profile_sample *x = a, *y = b;
	int order = by_address(x->thread, y->thread);

	if (!order)
		order = by_address(x->what, y->what);
	if (!order)
		order = by_address(x->owner, y->owner);
	if (!order && x->depth != y->depth)
		order = x->depth < y->depth ? -1 : 1;
	return order ? order : memcmp(x->pcs, y->pcs, x->depth * sizeof(*x->pcs));
}

struct profile_sample *profile_sample(struct profile_table *table, const char *thread,
				      const char *what, const char *owner,
				      const uint64_t *pcs, size_t depth)
{
	struct profile_sample *new = calloc(1, sizeof(*new) + depth * sizeof(*pcs)), **found;

	if (new) {
		new->thread = thread;
		new->what = what;
		new->owner = owner;
		new->depth = depth;
		if (depth)
			memcpy(new->pcs, pcs, depth * sizeof(*pcs));
	}
	found = new ? tsearch(new, &table->samples, by_key) : NULL;
	if (!found || *found != new)
		free(new);
	if (!found)
		table->failed = 1;
	return found ? *found : NULL;
}

struct walk {
	profile_each_fn *fn;
	void *arg;
};

static void visit(const void *node, VISIT which, void *arg)
{
	const struct walk *w = arg;

	if (which == postorder || which == leaf)
		w->fn(*(struct profile_sample *const *)node, w->arg);
}

void profile_each(struct profile_table *table, profile_each_fn *fn, void *arg)
{
	struct walk w = { fn, arg };

	twalk_r(table->samples, visit, &w);
}

void profile_table_free(struct profile_table *table)
{
	tdestroy(table->samples, free);
	tdestroy(table->texts, free);
}
