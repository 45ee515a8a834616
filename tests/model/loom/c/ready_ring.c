/* SPDX-License-Identifier: MIT */
/* ready_ring.c - scenarios: the owner of a ready ring, and thieves */
#include "model.h"

#include "lockfree/ready_ring.h"

#define ITEMS	4

static struct wefti_ring ring, loot;
static _Atomic unsigned taken[ITEMS + 1];	/* how often; item 0 is none */
static char body[ITEMS + 1];			/* of the thread itself */

static struct wefti_thread *item(uintptr_t n)
{
	return (struct wefti_thread *)n;
}

static void init(void)
{
	store_relaxed(&ring.word, (uint64_t)0);
	store_relaxed(&loot.word, (uint64_t)0);
	for (int i = 0; i < 2 * ITEMS; i++) {
		store_relaxed(&ring.slot[i], NULL);
		store_relaxed(&loot.slot[i], NULL);
	}
	for (int i = 0; i <= ITEMS; i++) {
		store_relaxed(&taken[i], 0u);
		m_data_write(&body[i]);
	}
}

static void push(uintptr_t n)
{
	m_data_write(&body[n]);
	m_check(wefti_ring_push(&ring, item(n)) == 0);
}

/* Runs a thread that was taken, if one was. */
static void run(struct wefti_thread *t)
{
	uintptr_t n = (uintptr_t)t;

	if (n == 0)
		return;
	m_data_write(&body[n]);
	m_check(fetch_add_relaxed(&taken[n], 1u) == 0);
}

static void drain(struct wefti_ring *r)
{
	struct wefti_thread *t;

	while ((t = wefti_ring_pop(r)) != NULL)
		run(t);
}

static void steal_one(void)
{
	run(wefti_ring_steal_one(&ring));
}

static void steal_half(void)
{
	struct wefti_thread *first = NULL;

	wefti_ring_steal(&ring, &loot, &first);
	run(first);
}

static void check(uintptr_t items)
{
	drain(&ring);
	drain(&loot);
	for (uintptr_t i = 1; i <= items; i++)
		m_check(load_relaxed(&taken[i]) == 1);
}

/* Pushes and pops, two thieves. */

static void push_two_pop_one(void)
{
	push(1);
	push(2);
	run(wefti_ring_pop(&ring));
}

static void check_two(void)
{
	check(2);
}

SCENARIO(ring_steal) = {
	init, { push_two_pop_one, steal_one, steal_one }, check_two,
};

/* Spawn and exit: the parent is taken back from the tail, then another goes. */

static void init_one(void)
{
	init();
	push(1);
}

static void take_back_and_push(void)
{
	if (wefti_ring_pop_tail_if(&ring, item(1)))
		run(item(1));
	push(2);
	if (wefti_ring_pop_tail_if(&ring, item(2)))
		run(item(2));
}

SCENARIO(ring_tail) = {
	init_one, { take_back_and_push, steal_one, steal_one }, check_two,
};

/* Half of it at once, while the owner pushes, and another takes of the loot. */

static void init_three(void)
{
	init_one();
	push(2);
	push(3);
}

static void pop_and_push(void)
{
	run(wefti_ring_pop(&ring));
	push(4);
}

static void steal_from_the_loot(void)
{
	run(wefti_ring_steal_one(&loot));
}

static void check_four(void)
{
	check(4);
}

SCENARIO(ring_half) = {
	init_three, { pop_and_push, steal_half, steal_from_the_loot },
	check_four,
};
