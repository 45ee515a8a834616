/* SPDX-License-Identifier: MIT */
/* spsc.c - scenarios: one producer, one consumer, a ring that fills and wraps */
#include "model.h"

#include "lockfree/spsc.h"

#define CAPACITY	2
#define TRIES		4
#define CELLS_AT	sizeof(struct weft_spsc)

static alignas(WEFT_SPSC_ALIGN) unsigned char
	memory[CELLS_AT + CAPACITY * sizeof(uint64_t)];
static struct weft_spsc *ring;
static uint64_t pushed, popped;		/* each of one thread */

static void init(void)
{
	for (int i = 0; i < CAPACITY; i++)
		m_data_write(memory + CELLS_AT + i * sizeof(uint64_t));
	m_check(weft_spsc_init(&ring, memory, sizeof(memory), CAPACITY,
			       sizeof(uint64_t)) == 0);
	pushed = popped = 0;
}

static void push(void)
{
	uint64_t next = pushed + 1;

	if (weft_spsc_push(ring, &next) == 0)
		pushed = next;
}

static void pop(void)
{
	uint64_t got = 0;

	if (weft_spsc_pop(ring, &got) == 0)
		m_check(got == ++popped);
}

static void push_many(void)
{
	const uint64_t next[] = { pushed + 1, pushed + 2 };

	pushed += weft_spsc_push_many(ring, next, 2);
}

static void pop_many(void)
{
	uint64_t got[2];
	size_t n = weft_spsc_pop_many(ring, got, 2);

	for (size_t i = 0; i < n; i++)
		m_check(got[i] == ++popped);
}

static void pushes(void)
{
	for (int i = 0; i < TRIES; i++)
		push();
	m_check(pushed >= CAPACITY);
}

static void pops(void)
{
	for (int i = 0; i < TRIES; i++)
		pop();
}

static void pushes_many(void)
{
	push_many();
	push_many();
	m_check(pushed >= CAPACITY);
}

static void pops_many(void)
{
	pop_many();
	pop_many();
}

/* What is left is what was not popped, and then it is empty. */
static void check(void)
{
	m_check(weft_spsc_count_hint(ring) == pushed - popped);
	while (popped < pushed) {
		uint64_t before = popped;

		pop();
		m_check(popped == before + 1);
	}
	pop();
	m_check(popped == pushed);
}

SCENARIO(spsc) = { init, { pushes, pops }, check };
SCENARIO(spsc_many) = { init, { pushes_many, pops_many }, check };

/* One makes the ring, and another, which has the memory, attaches to it. */
static void init_unmade(void)
{
	init();
	store_relaxed(&ring->magic, (uint64_t)0);
}

static void make(void)
{
	struct weft_spsc *made;

	m_check(weft_spsc_init(&made, memory, sizeof(memory), CAPACITY,
			       sizeof(uint64_t)) == 0);
}

static void attach(void)
{
	struct weft_spsc *found;

	if (weft_spsc_attach(&found, memory, sizeof(memory)) == 0)
		m_check(found == ring);
}

static void check_nothing(void)
{
}

SCENARIO(spsc_attached) = { init_unmade, { make, attach }, check_nothing };
