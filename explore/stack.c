/* SPDX-License-Identifier: MIT */
/*
 * explore/stack.c - call stacks of instrumented code, each a number
 *
 * A function tells of its entry and its exit. A stack is the number of its caller's stack
 * and the place of the call. Equal stacks have equal numbers, so a stack is kept in four
 * bytes. A frame that was left by longjmp() lies below the frame that is entered next, and
 * is taken off then.
 */
#include "race.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST		4096u

struct node {
	const void *where;
	uint32_t outer;
	uint32_t next;		/* in the chain of its hash */
};

static struct node *nodes;
static uint32_t *chains;
static uint32_t room, used = 1;

static uint32_t *chain(uint32_t outer, const void *where)
{
	const uint64_t h = ((uintptr_t)where ^ (uint64_t)outer << 32) *
			   UINT64_C(0x9e3779b97f4a7c15);

	return &chains[(h >> 24) & (room - 1)];
}

static void grow(void)
{
	struct node *old = nodes;
	const uint32_t before = room;

	room = before ? before * 2 : FIRST;
	nodes = wefti_ex_memory(room * sizeof(*nodes));
	if (chains)
		(void)munmap(chains, before * sizeof(*chains));
	chains = wefti_ex_memory(room * sizeof(*chains));
	if (!old)
		return;
	memcpy(nodes, old, used * sizeof(*nodes));
	(void)munmap(old, before * sizeof(*old));
	for (uint32_t i = 1; i < used; i++) {
		uint32_t *first = chain(nodes[i].outer, nodes[i].where);

		nodes[i].next = *first;
		*first = i;
	}
}

static uint32_t number_of(uint32_t outer, const void *where)
{
	uint32_t *first, i;

	if (used >= room)
		grow();
	first = chain(outer, where);
	for (i = *first; i; i = nodes[i].next)
		if (nodes[i].outer == outer && nodes[i].where == where)
			return i;
	nodes[used] = (struct node){ .where = where, .outer = outer, .next = *first };
	*first = used;
	return used++;
}

static void make_room(struct wefti_ex_thread *self)
{
	const uint32_t more = self->frame_room ? self->frame_room * 2 : 64;
	struct wefti_ex_frame *frames = wefti_ex_pieces(more * sizeof(*frames));

	if (self->frames) {
		memcpy(frames, self->frames, self->frame_count * sizeof(*frames));
		wefti_ex_pieces_back(self->frames, self->frame_room * sizeof(*frames));
	}
	self->frames = frames;
	self->frame_room = more;
}

static uint32_t innermost(const struct wefti_ex_thread *self)
{
	return self->frame_count ? self->frames[self->frame_count - 1].stack : 0;
}

void wefti_ex_enters(struct wefti_ex_thread *self, const void *where, const void *frame)
{
	while (self->frame_count &&
	       (uintptr_t)self->frames[self->frame_count - 1].at <= (uintptr_t)frame)
		self->frame_count--;
	if (self->frame_count == self->frame_room)
		make_room(self);
	self->frames[self->frame_count].at = frame;
	self->frames[self->frame_count].stack = number_of(innermost(self), where);
	self->frame_count++;
}

void wefti_ex_leaves(struct wefti_ex_thread *self)
{
	if (self->frame_count)
		self->frame_count--;
}

uint32_t wefti_ex_stack(const struct wefti_ex_thread *self, const void *where)
{
	return number_of(innermost(self), where);
}

const void *wefti_ex_stack_top(uint32_t stack, uint32_t *outer)
{
	if (!stack)
		return NULL;
	*outer = nodes[stack].outer;
	return nodes[stack].where;
}
