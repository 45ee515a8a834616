/* SPDX-License-Identifier: MIT */
/* stack.c - scenarios: two threads take from and give to an intrusive stack */
#include "model.h"

#include "lockfree/public_stacks.h"

#define ELEMENTS	3

static struct weft_stack stack;
static struct weft_stack_node node[ELEMENTS];
static _Atomic unsigned held[ELEMENTS];
static char body[ELEMENTS];

static void give(int i)
{
	m_check(fetch_sub_relaxed(&held[i], 1u) == 1);
	m_data_write(&body[i]);
	weft_stack_push(&stack, &node[i]);
}

/* Returns the element, -1: none. */
static int take(void)
{
	struct weft_stack_node *n = weft_stack_pop(&stack);
	int i;

	if (!n)
		return -1;
	i = (int)(n - node);
	m_data_write(&body[i]);
	m_check(fetch_add_relaxed(&held[i], 1u) == 0);
	return i;
}

static void init_all_out(void)
{
	struct wefti_pointer_stack *s = wefti_pointer_stack_of(&stack);

	pair_init(&s->head, 0, 0);
	store_relaxed(&s->back_off.most, UINT64_C(1));
	for (int i = 0; i < ELEMENTS; i++) {
		store_relaxed((_Atomic uintptr_t *)(void *)&node[i],
			      (uintptr_t)0);
		store_relaxed(&held[i], 1u);
		m_data_write(&body[i]);
	}
}

static void init(void)
{
	init_all_out();
	give(2);
	give(1);
	give(0);
}

/* The one that makes ABA: takes two, gives the first back. */
static void take_two_give_one(void)
{
	int a = take();
	int b = take();

	m_check(a >= 0 && b >= 0);
	give(a);
}

static void take_one(void)
{
	m_check(take() >= 0);
}

/* One is held by each thread; one is left. */
static void check(void)
{
	m_check(take() >= 0);
	m_check(take() < 0);
}

SCENARIO(stack) = { init, { take_two_give_one, take_one }, check };

/* What a pusher wrote is what the popper finds, or it finds nothing. */

static void give_two(void)
{
	give(0);
	give(1);
}

static void take_what_there_is(void)
{
	if (take() >= 0)
		take();
}

static void check_the_rest(void)
{
	while (take() >= 0)
		;
	for (int i = 0; i < ELEMENTS; i++)
		m_check(load_relaxed(&held[i]) == 1);
}

SCENARIO(stack_handed_on) = {
	init_all_out, { give_two, take_what_there_is }, check_the_rest,
};
