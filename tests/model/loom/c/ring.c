/* SPDX-License-Identifier: MIT */
/* ring.c - scenarios: producers and consumers of a ring that fills and wraps */
#include "model.h"

#include "lockfree/ring.h"

#define CAPACITY	2
#define ELEMENTS	4

static alignas(WEFT_RING_ALIGN) unsigned char
	memory[sizeof(struct weft_ring) + CAPACITY * sizeof(struct wefti_pair)];
static struct weft_ring *ring;
static _Atomic unsigned pushed[ELEMENTS + 1], popped[ELEMENTS + 1];
static char body[ELEMENTS + 1];		/* what an element stands for */

static void init(void)
{
	m_check(weft_ring_init(&ring, memory, sizeof(memory), CAPACITY) == 0);
	for (int i = 0; i <= ELEMENTS; i++) {
		store_relaxed(&pushed[i], 0u);
		store_relaxed(&popped[i], 0u);
		m_data_write(&body[i]);
	}
}

static int push(uint64_t e)
{
	m_data_write(&body[e]);
	if (weft_ring_push(ring, e) != 0)
		return 0;
	fetch_add_relaxed(&pushed[e], 1u);
	return 1;
}

/* Returns the element, 0: none. */
static uint64_t pop(void)
{
	uint64_t e = 0;

	if (weft_ring_pop(ring, &e) != 0)
		return 0;
	m_data_write(&body[e]);
	m_check(fetch_add_relaxed(&popped[e], 1u) == 0);
	return e;
}

static void check(void)
{
	while (pop() != 0)
		;
	for (int i = 1; i <= ELEMENTS; i++)
		m_check(load_relaxed(&popped[i]) == load_relaxed(&pushed[i]));
}

/* One producer laps the ring, one consumer sees its order. */

static void push_three(void)
{
	m_check(push(1) && push(2));
	push(3);
}

static void pop_three(void)
{
	uint64_t last = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t e = pop();

		m_check(e == 0 || e == last + 1);
		last = e ? e : last;
	}
}

SCENARIO(ring) = { init, { push_three, pop_three }, check };

/* Two and two, from a ring with one in it. */

static void init_one(void)
{
	init();
	m_check(push(1));
}

static void push_2(void)
{
	push(2);
}

static void push_3(void)
{
	push(3);
}

static void pop_one(void)
{
	pop();
}

SCENARIO(ring_many) = {
	init_one, { push_2, push_3, pop_one, pop_one }, check,
};

/* A consumer starts at a hint that another one has moved. */

static void init_hints(void)
{
	init();
	for (int i = 0; i < 2; i++)
		m_check(weft_ring_push(ring, 0) == 0 &&
			weft_ring_pop(ring, &(uint64_t){ 0 }) == 0);
}

/* There is always room for one each, and one to pop. */
static void push_pop(uint64_t e)
{
	m_check(push(e));
	m_check(pop() != 0);
}

static void push_pop_twice(void)
{
	push_pop(1);
	push_pop(2);
}

static void push_pop_once(void)
{
	push_pop(3);
}

SCENARIO(ring_hints) = { init_hints, { push_pop_twice, push_pop_once }, check };

/* The same from the first position on, with no hint moved: they walk. */
SCENARIO(ring_walk) = { init, { push_pop_twice, push_pop_once }, check };

/* One makes the ring, and another, which has the memory, attaches to it. */
static void init_unmade(void)
{
	init();
	store_relaxed(&ring->magic, (uint64_t)0);
}

static void make(void)
{
	struct weft_ring *made;

	m_check(weft_ring_init(&made, memory, sizeof(memory), CAPACITY) == 0);
}

static void attach(void)
{
	struct weft_ring *found;

	if (weft_ring_attach(&found, memory, sizeof(memory)) == 0)
		m_check(found == ring);
}

static void check_nothing(void)
{
}

SCENARIO(ring_attached) = { init_unmade, { make, attach }, check_nothing };
