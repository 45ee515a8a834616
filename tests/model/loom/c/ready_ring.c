/* SPDX-License-Identifier: MIT */
/* ready_ring.c - scenarios: the owner of a ready ring, and thieves */
#include "model.h"

#include "lockfree/ready_ring.h"

#define ITEMS	9

static struct wefti_ring ring, loot;
static _Atomic unsigned taken[ITEMS + 1];	/* how often; item 0 is none */
static char body[ITEMS + 1];			/* of the thread itself */

static struct wefti_thread *item(uintptr_t n)
{
	return (struct wefti_thread *)n;
}

static void init(void)
{
	wefti_ring_init(&ring);
	wefti_ring_init(&loot);
	for (unsigned i = 0; i < 2 * ITEMS && i < WEFTI_RING_CAPACITY; i++) {
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

/* The same with threads that come while they are stolen. */

static void push_three(void)
{
	push(1);
	push(2);
	push(3);
}

static void check_three(void)
{
	check(3);
}

SCENARIO(ring_half_new) = {
	init, { push_three, steal_half, steal_from_the_loot }, check_three,
};

/*
 * Slots that are used again, in rings of four. A thief's read of a slot must
 * come before the write that its CAS makes room for (P2). The checker never
 * lets a load see what is stored later, so each thief says by a relaxed store
 * what it has read (loom.sh puts the calls there). The owner must see that when
 * it writes the slot. The thief is the first thread: see WEFT_MODEL_TURNS in
 * main.rs.
 */
#define PLACES	4

static _Atomic uint64_t was_read[2][3][PLACES];	/* ring, thread: positions */

static _Atomic uint64_t *reads_of(const void *r, int thread)
{
	return was_read[r == &loot][thread];
}

void model_slots_read(const void *r, uint64_t word, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		store_relaxed(&reads_of(r, m_self())[wefti_ring_word_slot(word,
				i)], (word >> WEFTI_RING_LEN_BITS) + i + 1);
}

void model_slot_written(const void *r, uint64_t word, unsigned ahead)
{
	uint64_t position = (word >> WEFTI_RING_LEN_BITS) + ahead;
	unsigned slot = wefti_ring_word_slot(word, ahead);
	int seen = position < PLACES;	/* nobody had to read it before */

	for (int i = 0; i < 3; i++)
		seen |= load_relaxed(&reads_of(r, i)[slot]) + PLACES ==
			position + 1;
	m_check(seen);
}

static void init_full(void)
{
	init();
	for (int i = 0; i < 3 * PLACES; i++) {
		store_relaxed(&was_read[0][i / PLACES][i % PLACES], (uint64_t)0);
		store_relaxed(&was_read[1][i / PLACES][i % PLACES], (uint64_t)0);
	}
	for (uintptr_t i = 1; i <= PLACES; i++)
		push(i);
}

static void push_if_there_is_room(void)
{
	m_data_write(&body[5]);
	if (wefti_ring_push(&ring, item(5)) != 0)
		run(item(5));
}

static void check_five(void)
{
	check(5);
}

SCENARIO(ring_wrap) = {
	init_full, { steal_one, push_if_there_is_room, steal_one }, check_five,
};
SCENARIO(ring_wrap_half) = {
	init_full, { steal_half, push_if_there_is_room }, check_five,
};

/* The loot's slots, from which another thief steals. */
static void init_both_full(void)
{
	init_full();
	for (uintptr_t i = PLACES + 1; i <= 2 * PLACES; i++) {
		m_data_write(&body[i]);
		m_check(wefti_ring_push(&loot, item(i)) == 0);
	}
}

static void check_eight(void)
{
	check(8);
}

SCENARIO(ring_wrap_loot) = {
	init_both_full, { steal_from_the_loot, steal_half }, check_eight,
};

/*
 * A ring that grows and shrinks, while thieves take from it. The ring has two slots
 * here, and its array four.
 */
#define LARGER	4

static struct {
	struct wefti_ring_array array;
	_Atomic(struct wefti_thread *) slot[LARGER];
} more;

static void init_larger(void)
{
	init();
	more.array.mask = LARGER - 1;
	for (int i = 0; i < LARGER; i++)
		store_relaxed(&more.slot[i], NULL);
}

static void init_larger_full(void)
{
	init_larger();
	push(1);
	push(2);
}

static void push_growing(uintptr_t n)
{
	m_data_write(&body[n]);
	if (wefti_ring_push(&ring, item(n)) != 0) {
		wefti_ring_grow(&ring, &more.array);
		m_check(wefti_ring_push(&ring, item(n)) == 0);
	}
}

static void grow_and_push(void)
{
	push_growing(3);
	push_growing(4);
}

SCENARIO(ring_grow) = {
	init_larger_full, { grow_and_push, steal_one, steal_one }, check_four,
};
SCENARIO(ring_grow_half) = {
	init_larger_full, { grow_and_push, steal_half, steal_from_the_loot },
	check_four,
};

/* In the array there is one thread; its own slots hold what they held before. */
static void init_grown(void)
{
	init_larger_full();
	push_growing(3);
	run(wefti_ring_pop(&ring));
	run(wefti_ring_pop(&ring));
}

static void shrink_and_push(void)
{
	wefti_ring_shrink(&ring);
	push_growing(4);
	run(wefti_ring_pop(&ring));
}

SCENARIO(ring_shrink) = {
	init_grown, { shrink_and_push, steal_one, steal_one }, check_four,
};
SCENARIO(ring_shrink_half) = {
	init_grown, { shrink_and_push, steal_half, steal_from_the_loot },
	check_four,
};

/* To and fro: what a thief has of the array may be of the time before. */
static void shrink_and_grow(void)
{
	wefti_ring_shrink(&ring);
	push_growing(4);
	push_growing(5);
	push_growing(6);
}

static void check_six(void)
{
	check(6);
}

SCENARIO(ring_regrow) = {
	init_grown, { shrink_and_grow, steal_one, steal_one }, check_six,
};
