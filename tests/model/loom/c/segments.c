/* SPDX-License-Identifier: MIT */
/*
 * segments.c - scenarios: the segments of a list of waiters are made, found, swept and
 * given back
 */
#include "waiters_scene.h"

/*
 * All segments have been used to the end, in one list: what is left in each must not be
 * taken for what its next user puts there.
 */
static void init_used(void)
{
	init();
	for (unsigned i = 0; i < SEGMENTS * WEFTI_SEG_CELLS; i++)
		come_dead(&other, 3);
	wefti_waiters_end(&other, NULL);
}

/* One makes the first segment, or appends one, and the other comes behind it. */
static void init_full_used(void)
{
	init_used();
	come_dead(&queue, 3);
	come_dead(&queue, 3);
}

static void come_2(void)
{
	come(2);
}

/* It is stopped when it has appended a segment, before it tells where to add. */
static void append(void)
{
	uint64_t first = load_relaxed(&queue.first);
	uint64_t none = wefti_link_tag(first), made = wefti_seg_get(&thread[3]);

	if (!cas_acq_rel(&wefti_seg_of(first)->next, &none, made))
		wefti_seg_free(&thread[3], made);
}

static void tell_alone(void)
{
	for (uint32_t i = 1; i < THREADS; i++)
		thread[i].vcpu = &vcpu[4];
	tell_all(&queue, &thread[4]);
}

static void check_both_are_in(void)
{
	tell_alone();
	m_check(found[1] == 1 && found[2] == 1);
}

/* It does nothing with what it finds. */
static void find_once(void)
{
	wefti_waiters_find_in(&queue, &thread[2], 0);
}

/*
 * The first segment is retired, while another thread appends one, and takes out what is
 * dead.
 */
static void init_sweep(void)
{
	init_used();
	come_dead(&queue, 3);
	retire(3);
	come_dead(&queue, 2);
}

static void retire_2(void)
{
	retire(2);
}

static void come_and_find(void)
{
	come(1);
	m_check(wefti_waiters_find_in(&queue, &thread[1], 0) == ticket_of[1]);
}

/* The first segment is used again at once, as the last one of the list. */
static void come_and_find_again(void)
{
	come_and_find();
	come_dead(&queue, 1);
	end_wait(ticket_of[1]);
	come_and_find();
}

static void check_1_is_in(void)
{
	tell_alone();
	m_check(found[1] == 1);
}

SCENARIO(segments_first) = { init_used, { come_1, come_2 }, check_both_are_in };
SCENARIO(segments_last) = { init_full_used, { come_1, come_2 }, check_both_are_in };
SCENARIO(segments_appended) = {
	init_full_used, { append, come_1, come_2 }, check_both_are_in,
};
SCENARIO(segments_found_again) = {
	init_full_used, { find_once, come_and_find_again }, check_1_is_in,
};
SCENARIO(segments_swept) = {
	init_sweep, { come_and_find_again, retire_2 }, check_1_is_in,
};

/*
 * The queue ends while 1 still comes to it; the wait of 1 is over. In the queue's next
 * life a thread that comes is found, and no segment was lost.
 */
static void init_ending(void)
{
	init_full_used();
	begin(1);
	end_wait(ticket_of[1]);
}

static void come_late(void)
{
	m_check(wefti_waiters_add(&queue, ticket_of[1], &thread[1],
				  place[1]) == 0);
}

/* And takes out what is dead, as a retire may. */
static void come_late_and_find(void)
{
	come_late();
	m_check(wefti_waiters_find_in(&queue, &thread[1], 0) == 0);
}

static void end_queue(void)
{
	wefti_waiters_end(&queue, &thread[2]);
}

/* All that end free are in the list of a VCPU or in the depot. */
static void check_segments(void)
{
	unsigned n = 0;

	thread[1].vcpu = thread[2].vcpu = thread[3].vcpu = &vcpu[4];
	wefti_waiters_end(&queue, &thread[4]);
	wefti_waiters_end(&other, &thread[4]);
	for (uint32_t i = 0; i <= THREADS; i++)
		n += wefti_segments.local[i + 1].count;
	for (uint32_t i = (uint32_t)(load_relaxed(&wefti_segments.depot.word)
				     >> 32); i;
	     i = load_relaxed(&segment[i - 1].stock_next))
		n++;
	m_check(n == SEGMENTS);
}

static void check_next_life(void)
{
	store_relaxed(&queue.lone, ticket_of[4]);
	come(3);
	tell_all(&queue, &thread[4]);
	m_check(found[3] == 1);
	check_segments();
}

SCENARIO(segments_ended) = { init_ending, { come_late, end_queue }, check_next_life };
SCENARIO(segments_ended_twice) = {
	init_ending, { come_late_and_find, end_queue }, check_next_life,
};
