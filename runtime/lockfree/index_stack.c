/* SPDX-License-Identifier: MIT */
/*
 * lockfree/index_stack.c - the public stack of indexes: the runtime's depot,
 * with a back-off
 *
 * Structure, States, Invariants, Linearization, Progress, ABA and reclamation,
 * Pairs, Source: lockfree/depot.h.
 *
 * Writers
 *   *link_of()  weft_index_stack_push; depot.h: wefti_depot_push_if
 */
#include <errno.h>

#include "lockfree/public_stacks.h"

static _Atomic uint32_t *link_of(void *links, size_t stride, uint32_t index)
{
	return (void *)((char *)links + index * stride);
}

/* OUT -> IN */
void weft_index_stack_push(struct weft_index_stack *stack, void *links,
			   size_t stride, uint32_t index)
{
	struct wefti_index_stack *s = wefti_index_stack_of(stack);
	_Atomic uint32_t *link = link_of(links, stride, index);
	uint64_t w = load_relaxed(&s->depot.word);	/* a guess */
	unsigned lost = 0;

	while (!wefti_depot_push_if(&s->depot, &w, index, link)) {
		wefti_stack_back_off(&s->back_off, &lost);
		w = load_relaxed(&s->depot.word);	/* a guess */
	}
}

/* IN -> OUT */
uint32_t weft_index_stack_pop(struct weft_index_stack *stack, void *links,
			      size_t stride)
{
	struct wefti_index_stack *s = wefti_index_stack_of(stack);
	unsigned lost = 0;

	for (;;) {
		uint64_t w = wefti_depot_load(&s->depot);
		uint32_t index = wefti_depot_top(w);

		if (index == WEFTI_DEPOT_NONE ||
		    wefti_depot_pop_if(&s->depot, w,
					link_of(links, stride, index)))
			return index;
		wefti_stack_back_off(&s->back_off, &lost);
	}
}

int weft_index_stack_is_empty(const struct weft_index_stack *stack)
{
	return wefti_depot_is_empty(&wefti_index_stack_of(stack)->depot);
}

int weft_index_stack_set_back_off(struct weft_index_stack *stack,
				  unsigned most)
{
	return wefti_back_off_set(&wefti_index_stack_of(stack)->back_off, most) ?
	       -EINVAL : 0;
}
