/* SPDX-License-Identifier: MIT */
/*
 * explore/native_chan.c - channels, alt, rings and stacks of libweft.so: points, and what is
 * before what
 *
 * A send happens before the receive of its message, and a receive before the send that gets
 * its place. A channel has one key for its sends and one for its receives. So calls count as
 * ordered that are not, and a race may be missed. No false race is reported.
 */
#include <errno.h>

#include "descriptor.h"
#include "export.h"
#include "native.h"
#include "weft.h"

static int is_in_vain(int64_t result)
{
	return result == -ETIMEDOUT || result == -EAGAIN || result == -ECANCELED;
}

/* The caller's part, and what it gets from the other end. A close ends both. */
static void gives(struct wefti_ex_thread *self, const void *at, int is_send)
{
	wefti_ex_native_give(self, is_send ? at : wefti_ex_second(at));
}

static void takes(struct wefti_ex_thread *self, const void *at, int is_send)
{
	wefti_ex_native_take(self, is_send ? wefti_ex_second(at) : at);
}

#define PASSES(type, name, op, kind, is_send, parameters, arguments)		\
	EXPORT type name parameters						\
	{									\
		struct wefti_ex_thread *self =					\
			wefti_ex_native_point(WEFTI_EX_##op, at, WEFTI_EX_##kind, CALLER); \
		type result;							\
										\
		gives(self, at, is_send);					\
		result = NEXT(name) arguments;					\
		(void)wefti_ex_native_did(self, (int)result);			\
		if (!is_in_vain((int64_t)result))				\
			takes(self, at, is_send);				\
		return result;							\
	}

PASSES(int, weft_chan_send, CHAN_SEND, CHAN, 1,
       (struct weft_chan *at, const void *elem, int64_t deadline), (at, elem, deadline))
PASSES(int, weft_chan_recv, CHAN_RECEIVE, CHAN, 0,
       (struct weft_chan *at, void *elem, int64_t deadline), (at, elem, deadline))
PASSES(int, weft_ring_push, PUSH, RING, 1, (struct weft_ring *at, uint64_t element),
       (at, element))
PASSES(int, weft_ring_pop, POP, RING, 0, (struct weft_ring *at, uint64_t *element),
       (at, element))
PASSES(int, weft_spsc_push, PUSH, RING, 1, (struct weft_spsc *at, const void *elem),
       (at, elem))
PASSES(size_t, weft_spsc_push_many, PUSH, RING, 1,
       (struct weft_spsc *at, const void *elems, size_t n), (at, elems, n))
PASSES(int, weft_spsc_pop, POP, RING, 0, (struct weft_spsc *at, void *elem), (at, elem))
PASSES(size_t, weft_spsc_pop_many, POP, RING, 0,
       (struct weft_spsc *at, void *elems, size_t n), (at, elems, n))

EXPORT int weft_chan_close(struct weft_chan *at)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_CLOSE, at, WEFTI_EX_CHAN,
							     CALLER);

	gives(self, at, 1);
	gives(self, at, 0);
	return wefti_ex_native_did(self, NEXT(weft_chan_close)(at));
}

EXPORT void weft_stack_push(struct weft_stack *at, struct weft_stack_node *node)
{
	wefti_ex_native_give(wefti_ex_native_point(WEFTI_EX_PUSH, at, WEFTI_EX_STACK, CALLER),
			     at);
	NEXT(weft_stack_push)(at, node);
}

/* Two pops of an empty stack in one turn are a yield. */
static void popped(struct wefti_ex_thread *self, const void *at, int is_empty)
{
	(void)wefti_ex_native_did(self, is_empty ? -EAGAIN : 0);
	if (!is_empty)
		wefti_ex_native_take(self, at);
}

EXPORT struct weft_stack_node *weft_stack_pop(struct weft_stack *at)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_POP, at, WEFTI_EX_STACK,
							     CALLER);
	struct weft_stack_node *node = NEXT(weft_stack_pop)(at);

	popped(self, at, !node);
	return node;
}

EXPORT void weft_index_stack_push(struct weft_index_stack *at, void *links, size_t stride,
				  uint32_t index)
{
	wefti_ex_native_give(wefti_ex_native_point(WEFTI_EX_PUSH, at, WEFTI_EX_STACK, CALLER),
			     at);
	NEXT(weft_index_stack_push)(at, links, stride, index);
}

EXPORT uint32_t weft_index_stack_pop(struct weft_index_stack *at, void *links, size_t stride)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_POP, at, WEFTI_EX_STACK,
							     CALLER);
	const uint32_t index = NEXT(weft_index_stack_pop)(at, links, stride);

	popped(self, at, index == WEFT_INDEX_NONE);
	return index;
}

/* A thread gets memory that another one has freed: what that one did with it came before. */
EXPORT void *weft_slab_alloc(struct weft_slab *slab, int *error)
{
	void *object = NEXT(weft_slab_alloc)(slab, error);

	if (object)
		wefti_ex_native_take(wefti_ex_native_current(), slab);
	return object;
}

EXPORT void *weft_slab_reserve(struct weft_slab *slab, int *error)
{
	void *object = NEXT(weft_slab_reserve)(slab, error);

	if (object)
		wefti_ex_native_take(wefti_ex_native_current(), slab);
	return object;
}

EXPORT int weft_slab_free(struct weft_slab *slab, void *object)
{
	wefti_ex_native_give(wefti_ex_native_current(), slab);
	return NEXT(weft_slab_free)(slab, object);
}

static void before(struct wefti_ex_thread *self, const struct weft_alt *alt, size_t n)
{
	for (size_t i = 0; self && alt && i < n; i++)
		if (alt[i].chan && (alt[i].op == WEFT_ALT_SEND || alt[i].op == WEFT_ALT_RECV))
			gives(self, alt[i].chan, alt[i].op == WEFT_ALT_SEND);
}

static void behind(struct wefti_ex_thread *self, const struct weft_alt *alt)
{
	if (!self)
		return;
	if (alt->op == WEFT_ALT_SEND || alt->op == WEFT_ALT_RECV)
		takes(self, alt->chan, alt->op == WEFT_ALT_SEND);
	else if (alt->op == WEFT_ALT_JOIN && !alt->error)
		wefti_ex_native_joined(alt->u.thread);
	else if (alt->op == WEFT_ALT_READY)
		wefti_ex_read_by(self);
}

EXPORT int weft_alt(struct weft_alt *alt, size_t n, int64_t deadline)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_ALT, NULL,
							     WEFTI_EX_NOTHING, CALLER);
	int result;

	before(self, alt, n);
	result = wefti_ex_native_did(self, NEXT(weft_alt)(alt, n, deadline));
	if (result >= 0)
		behind(self, &alt[result]);
	return result;
}
