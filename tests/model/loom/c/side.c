/* SPDX-License-Identifier: MIT */
/*
 * side.c - scenarios: an edge, beside threads that begin or end to wait for it
 *
 * The scheduler is two functions: a thread that is parked is blocked, one that
 * is made ready is not. All waiting threads have looked at edges before the
 * post, so each has to be told. One that is not told stays blocked.
 */
#include "model.h"

#include "io/side.h"
#include "sched/park.h"

#define THREADS		3
#define SEGMENTS	3

#include "waiting.h"

static struct wefti_sides sides;
static struct wefti_place place[THREADS + 1];
static uint64_t seq[THREADS + 1];

/* Only the side that nobody reads from: mode ALL is all that it has. */
static void init(void)
{
	struct wefti_side *side = &sides.side[WEFTI_WRITE_SIDE];

	init_segments();
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	store_relaxed(&side->edges, 0);
	store_relaxed(&side->all.lone, (uint64_t)0);
	store_relaxed(&side->all.first, (uint64_t)0);
	store_relaxed(&side->all.last, (uint64_t)0);
	store_relaxed(&side->all.count, (uint64_t)0);
	for (uint32_t i = 0; i <= THREADS; i++) {
		thread[i].slot = i;
		thread[i].vcpu = &vcpu[i];
		vcpu[i].index = i + 1;
		wefti_segments.local[i + 1].top = 0;
		wefti_segments.local[i + 1].count = 0;
		store_relaxed(&thread[i].wait, (uint64_t)0);
	}
}

static void join(uint32_t who)
{
	struct wefti_thread *self = &thread[who];

	seq[who] = wefti_wait_begin(self, WEFTI_WAIT_TIMED);
	m_check(wefti_side_join(&sides, WEFTI_WRITE_SIDE, &place[who], self,
				seq[who], 0, WEFTI_SIDE_ALL) == 0);
}

static void park_and_part(uint32_t who)
{
	struct wefti_thread *self = &thread[who];

	if (wefti_wait_cause(self) == WEFTI_CAUSE_NONE &&
	    wefti_wait_commit(self))
		m_block((int)who);
	m_check(wefti_wait_cause(self) == WEFTI_CAUSE_WOKEN);
	wefti_side_part(&place[who], self);
}

static void poster(void)
{
	wefti_side_post(&sides, WEFTI_WRITE_SIDE);
}

/*
 * 2 has seen that nobody waits; then 1 and 3 have joined. When 1 goes 2 comes
 * into its place, and 3, in a cell, is not told if 2 is taken for it.
 */
static void init_delayed(void)
{
	uint64_t lone;

	init();
	m_check(wefti_waiters_takes_lone(&sides.side[WEFTI_WRITE_SIDE].all,
					 &lone) && lone == 0);
	join(1);
	join(3);
}

static void lone_1(void)
{
	park_and_part(1);
}

/*
 * The rest of wefti_side_join(), unless somebody is in lone: one that goes to a
 * cell is none of these.
 */
static void delayed_2(void)
{
	struct wefti_side *side = &sides.side[WEFTI_WRITE_SIDE];
	struct wefti_thread *self = &thread[2];

	seq[2] = wefti_wait_begin(self, WEFTI_WAIT_TIMED);
	place[2] = (struct wefti_place){
		.list = &side->all, .ticket = wefti_ticket(self, seq[2]),
	};
	if (!wefti_waiters_add_lone(&side->all, 0, place[2].ticket))
		return;
	if (load_seq_cst(&side->edges) != 0)
		wefti_wait_resolve(self, seq[2], WEFTI_CAUSE_WOKEN);
	park_and_part(2);
}

static void check_told(void)
{
	m_check(wefti_wait_cause(&thread[3]) == WEFTI_CAUSE_WOKEN);
}

SCENARIO(side_lone) = {
	init_delayed, { lone_1, delayed_2, poster }, check_told,
};

static void check_nobody_waits(void)
{
	m_check(wefti_waiters_is_empty(&sides.side[WEFTI_WRITE_SIDE].all));
}

/* One that comes sees the edge, or is told. */
static void join_1(void)
{
	join(1);
	park_and_part(1);
}

SCENARIO(side_join) = { init, { join_1, poster }, check_nobody_waits };

/* The first is alone in its place, the others are in cells. */
static void init_joined(void)
{
	init();
	for (uint32_t i = 1; i <= THREADS; i++)
		join(i);
}

static void time_out_2(void)
{
	wefti_wait_resolve(&thread[2], seq[2], WEFTI_CAUSE_TIMEDOUT);
	wefti_side_part(&place[2], &thread[2]);
}

static void check_all_told(void)
{
	m_check(wefti_wait_cause(&thread[1]) == WEFTI_CAUSE_WOKEN);
	m_check(wefti_wait_cause(&thread[2]) != WEFTI_CAUSE_NONE);
	m_check(wefti_wait_cause(&thread[3]) == WEFTI_CAUSE_WOKEN);
}

/* One that is not counted any more does not use up another's turn. */
SCENARIO(side_count) = { init_joined, { time_out_2, poster }, check_all_told };
