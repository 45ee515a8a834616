/* SPDX-License-Identifier: MIT */
/* depot.c - scenarios: a free list that two threads take from and give to */
#include "model.h"

#include "lockfree/depot.h"

#define SLOTS	3

static struct wefti_depot depot;
static _Atomic uint32_t next[SLOTS];
static _Atomic unsigned held[SLOTS];
static char body[SLOTS];

static _Atomic uint32_t *next_of(uint32_t index)
{
	return &next[index];
}

static void give(uint32_t index)
{
	m_check(fetch_sub_relaxed(&held[index], 1u) == 1);
	m_data_write(&body[index]);
	wefti_depot_push(&depot, index, next_of(index));
}

static uint32_t take(void)
{
	uint32_t index = wefti_depot_pop(&depot, next_of);

	if (index != WEFTI_DEPOT_NONE) {
		m_data_write(&body[index]);
		m_check(fetch_add_relaxed(&held[index], 1u) == 0);
	}
	return index;
}

static void init(void)
{
	store_relaxed(&depot.word, (uint64_t)0);
	for (uint32_t i = 0; i < SLOTS; i++) {
		store_relaxed(&next[i], 0u);
		store_relaxed(&held[i], 1u);
		m_data_write(&body[i]);
	}
	give(2);
	give(1);
	give(0);
}

/* The one that makes ABA: takes two, gives the first back. */
static void take_two_give_one(void)
{
	uint32_t a = take();
	uint32_t b = take();

	m_check(a != WEFTI_DEPOT_NONE && b != WEFTI_DEPOT_NONE);
	give(a);
}

static void take_one(void)
{
	m_check(take() != WEFTI_DEPOT_NONE);
}

/* One is held by each thread; one is left. */
static void check(void)
{
	m_check(take() != WEFTI_DEPOT_NONE);
	m_check(take() == WEFTI_DEPOT_NONE);
}

SCENARIO(depot) = { init, { take_two_give_one, take_one }, check };
