/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/threads.c - the threads of a recording: names and states
 *
 * A file may name any slot. So the table is cut into chunks, and a short file with large
 * numbers makes it no larger than its own few chunks.
 */
#include "trace/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MOST	(UINT32_C(1) << 28)
#define IN_CHUNK	UINT32_C(256)

/* Where the slot's thread is pointed to. NULL: there is no memory, or no such slot. */
static struct trace_thread **make_place(struct trace_threads *all, uint32_t slot)
{
	struct trace_thread ***chunk;

	if (slot >= SLOTS_MOST)
		return NULL;
	if (!all->chunk)
		all->chunk = calloc(SLOTS_MOST / IN_CHUNK, sizeof(*all->chunk));
	if (!all->chunk)
		return NULL;
	chunk = &all->chunk[slot / IN_CHUNK];
	if (!*chunk)
		*chunk = calloc(IN_CHUNK, sizeof(**chunk));
	if (!*chunk)
		return NULL;
	if (slot >= all->slots)
		all->slots = (size_t)slot + 1;
	return *chunk + slot % IN_CHUNK;
}

struct trace_thread *trace_thread_in(const struct trace_threads *all, size_t slot)
{
	if (slot >= all->slots || !all->chunk[slot / IN_CHUNK])
		return NULL;
	return all->chunk[slot / IN_CHUNK][slot % IN_CHUNK];
}

struct trace_thread *trace_thread(struct trace_threads *all, uint64_t id)
{
	struct trace_thread **place, *t;

	if (id == 0)
		return NULL;
	t = trace_thread_in(all, (uint32_t)id);
	if (t && t->id == id)
		return t;
	if (t) {
		all->in_state[t->state]--;
	} else {
		place = make_place(all, (uint32_t)id);
		if (place)
			t = *place = malloc(sizeof(*t));
	}
	if (!t)
		return NULL;
	*t = (struct trace_thread){ .id = id };
	all->in_state[TRACE_UNKNOWN]++;
	(void)trace_recording_name(all->recording, id, t->name);
	return t;
}

void trace_thread_is(struct trace_threads *all, struct trace_thread *t,
		     enum trace_state state)
{
	all->in_state[t->state]--;
	all->in_state[state]++;
	t->state = state;
}

void trace_thread_rename(struct trace_thread *t, const char *name)
{
	snprintf(t->name, sizeof(t->name), "%s", name);
}

const char *trace_thread_words(const struct trace_thread *t, char text[TRACE_NAME_BYTES])
{
	if (!t)
		snprintf(text, TRACE_NAME_BYTES, "none");
	else if (t->name[0])
		snprintf(text, TRACE_NAME_BYTES, "%s", t->name);
	else
		snprintf(text, TRACE_NAME_BYTES, "id %" PRIu64, t->id);
	return text;
}

void trace_threads_free(struct trace_threads *all)
{
	for (size_t i = 0; i < all->slots; i++)
		free(trace_thread_in(all, i));
	for (size_t i = 0; i < all->slots; i += IN_CHUNK)
		free(all->chunk[i / IN_CHUNK]);
	free(all->chunk);
}
