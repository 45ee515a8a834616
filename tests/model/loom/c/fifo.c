/* SPDX-License-Identifier: MIT */
/* fifo.c - scenarios: pushers and poppers of a FIFO, with nodes that wander */
#include "model.h"

#include "lockfree/fifo.h"

#define ITEMS	4
#define NODES	(ITEMS + 1)		/* node 0 is the first dummy */

static struct wefti_fifo q;
static struct wefti_fifo_node nodes[NODES];
static _Atomic unsigned taken[ITEMS + 1];
static char body[ITEMS + 1];

static void init(void)
{
	store_relaxed(&wefti_fifo_chunk[0], nodes);
	for (int i = 0; i < NODES; i++) {
		store_relaxed(&nodes[i].next, (uint64_t)0);
		store_relaxed(&nodes[i].item, NULL);
	}
	for (int i = 0; i <= ITEMS; i++) {
		store_relaxed(&taken[i], 0u);
		m_data_write(&body[i]);
	}
	wefti_fifo_init(&q, 0);
}

static void push_with(uintptr_t n, uint32_t node)
{
	m_data_write(&body[n]);
	wefti_fifo_push(&q, node, (void *)n);
}

static void push(uintptr_t n)
{
	push_with(n, (uint32_t)n);
}

/* Returns the item, 0 when there is none. */
static uintptr_t pop(uint32_t *spare)
{
	uintptr_t n = (uintptr_t)wefti_fifo_pop(&q, spare);

	if (n != 0) {
		m_data_write(&body[n]);
		m_check(fetch_add_relaxed(&taken[n], 1u) == 0);
	}
	return n;
}

/* Nothing is lost, and the order of what one thread pushed is kept. */
static void drain(uintptr_t items)
{
	uint32_t spare;

	while (pop(&spare) != 0)
		continue;
	for (uintptr_t i = 1; i <= items; i++)
		m_check(load_relaxed(&taken[i]) == 1);
}

/* One of each. */

static void push_1(void)
{
	push(1);
}

static void pop_one(void)
{
	uint32_t spare;

	pop(&spare);
}

static void check_one(void)
{
	drain(1);
}

SCENARIO(fifo_one_each) = { init, { push_1, pop_one }, check_one };

/* Two pushers and a popper; the first pusher's items come in order. */

static void push_1_2(void)
{
	push(1);
	push(2);
}

static void push_3(void)
{
	push(3);
}

static void pop_two(void)
{
	uint32_t spare;
	uintptr_t a = pop(&spare), b = pop(&spare);

	m_check(a != 2);		/* 1 first */
	m_check(!(a == 3 && b == 2));
	m_check(!(a == 0 && b == 2));
}

static void check_three(void)
{
	drain(3);
}

SCENARIO(fifo_push_pop) = { init, { push_1_2, push_3, pop_two }, check_three };

/* Two poppers: what the first learnt must reach the second (P4). */

static void check_two(void)
{
	drain(2);
}

SCENARIO(fifo_two_poppers) = {
	init, { push_1_2, pop_one, pop_one }, check_two,
};

/*
 * Nodes wander: whoever pops pushes again with the node it got, so the dummy
 * that another still looks at becomes a last node. The queue is never empty.
 */

static void init_two(void)
{
	init();
	push(1);
	push(2);
}

static void pop_and_push_again(void)
{
	uint32_t spare;

	m_check(pop(&spare) != 0);
	push_with(3, spare);
}

static void pop_what_is_there(void)
{
	uint32_t spare;

	m_check(pop(&spare) != 0);
}

SCENARIO(fifo_nodes_wander) = {
	init_two, { pop_and_push_again, pop_what_is_there }, check_three,
};

/* A look for emptiness while a node goes round; two stay in the queue. */

static void look(void)
{
	m_check(!wefti_fifo_is_empty(&q));
}

SCENARIO(fifo_look) = { init_two, { pop_and_push_again, look }, check_three };

/* The same, when what keeps it from being empty came before the pop. */

static void init_first(void)
{
	init();
	push(1);
}

static void push_and_pop(void)
{
	uint32_t spare;

	push(2);
	m_check(pop(&spare) == 1);
}

SCENARIO(fifo_look_behind) = { init_first, { push_and_pop, look }, check_two };

/* The node that tail named first comes again, while another pushes. */

static void push_pop_push(void)
{
	uint32_t spare;

	push(1);
	m_check(pop(&spare) != 0);
	push_with(3, spare);
}

static void push_2(void)
{
	push(2);
}

SCENARIO(fifo_tail) = { init, { push_pop_push, push_2 }, check_three };
