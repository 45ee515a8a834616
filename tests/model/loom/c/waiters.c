/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - scenarios: sync/waiters.c and segment.c; threads come, and are found by
 * those that serve them
 */
#include "waiters_scene.h"
#include "sync/segment.h"

/*
 * Where a thread may be overtaken, and where the one begins that does: the checker
 * would not see that the load behind the first can come behind all of the second.
 */
void model_signpost(void)
{
	store_relaxed(&post, 1);
}

/* Two that are dead in the first segment, 1 behind them. */
static void init_behind(void)
{
	init();
	come_dead(&queue, 3);
	come_dead(&queue, 3);
	come(1);
	come(2);
}

static void find_1(void)
{
	m_check(wefti_waiters_find_in(&queue, &thread[4], 0) == ticket_of[1]);
}

/* The first segment leaves, and is the last one in its next life. No fence between. */
static void use_again(void)
{
	model_signpost();
	m_check(wefti_waiters_find_in(&queue, &thread[3], 0) == ticket_of[1]);
	come(3);
}

/*
 * There is one segment, FULL. 1 comes, while it becomes the other queue's, where 3
 * waits.
 */
static void init_full(void)
{
	init();
	come_dead(&queue, 2);
	come_dead(&queue, 2);
}

static void use_for_another(void)
{
	model_signpost();
	come(2);
	wefti_waiters_find_in(&queue, &thread[3], 0);
	come_to(&other, 3);
	come_to(&other, 3);
}

static void check_where_1_is(void)
{
	thread[1].vcpu = thread[2].vcpu = thread[3].vcpu = &vcpu[4];
	tell_all(&other, &thread[4]);
	m_check(!found[1] && !found[2] && found[3] == 1);
	tell_all(&queue, &thread[4]);
	m_check(found[1] == 1 && found[2] == 1);
}

static void check_nothing(void)
{
}

/*
 * An arrival finds the deed done, or the thread that has done it finds the
 * arrival.
 */
static void come_and_look(uint32_t who)
{
	come(who);
	saw[who] = (int)load_relaxed(&deed);
}

static void look_1(void)
{
	come_and_look(1);
}

static void look_2(void)
{
	come_and_look(2);
}

static void look_3(void)
{
	come_and_look(3);
}

static void do_and_tell(void)
{
	store_relaxed(&deed, 1);
	fence_seq_cst();
	tell_all(&queue, &thread[4]);
}

static void check_told(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++)
		m_check(found[i] + saw[i] >= 1 && found[i] <= 1);
}

static void check_1_and_2(void)
{
	check_told(1, 2);
}

/* The next to come fills the first segment. */
static void init_half(void)
{
	init_none();
	come_dead(&queue, 3);
}

/* The thread that has made the first segment has not yet filled a cell. */
static void init_made(void)
{
	init_none();
	store_relaxed(&queue.first, wefti_seg_get(&thread[3]));
}

/* The first segment is full, and nobody waits. */
static void init_dead(void)
{
	init_half();
	come_dead(&queue, 3);
}

/* It need not see the deed: one of the two finds the arrival. */
static void tell_too(void)
{
	tell_all(&queue, &thread[3]);
}

/* As io/side.c, which tells no more than are counted. */
static void do_and_tell_counted(void)
{
	model_signpost();
	store_relaxed(&deed, 1);
	fence_seq_cst();
	tell(&queue, &thread[4], wefti_waiters_behind(&queue));
}

static void check_1(void)
{
	check_told(1, 1);
}

/* 1 waits in the first segment, 2 in the second, the rest of which is retired. */
static void init_retired(void)
{
	init_none();
	come(1);
	come_dead(&queue, 3);
	come_dead(&queue, 2);
	retire(2);
	come(2);
}

static void retire_2(void)
{
	end_wait(ticket_of[2]);
	retire(2);
}

static void check_count(uint32_t n)
{
	m_check((uint32_t)load_relaxed(&queue.count) == n);
}

static void check_second_is_gone(void)
{
	m_check(wefti_seg_count(&queue.first) <= 2);
	check_count(3);
}

/* The waits of 2 and 3 are over, in the first segment; 1 waits in the next. */
static void init_both_retired(void)
{
	init_none();
	come_dead(&queue, 2);
	come_dead(&queue, 3);
	come(1);
}

static void retire_3(void)
{
	retire(3);
}

static void check_first_is_gone(void)
{
	m_check(wefti_seg_count(&queue.first) == 1);
	check_count(1);
}

static void check_told_and_gone(void)
{
	check_told(1, 1);
	check_told(3, 3);
	check_second_is_gone();
}

/* 1 comes to lone, where a thread is that may serve it. */
static void init_lone(void)
{
	init();
	store_relaxed(&queue.lone, (uint64_t)0);
}

static void serve(uint64_t ticket)
{
	uint32_t who;

	if (!ticket)
		return;
	who = wefti_ticket_thread(ticket)->slot;
	m_data_read(&before[who]);
	if (wefti_wait_resolve(&thread[who], ticket, WEFTI_CAUSE_WOKEN) !=
	    WEFTI_LOST)
		found[who]++;
}

static void do_and_find(void)
{
	store_relaxed(&deed, 1);
	fence_seq_cst();
	serve(wefti_waiters_find(&queue, &thread[4], 0));
}

static void do_and_serve_lone(void)
{
	store_relaxed(&deed, 1);
	fence_seq_cst();
	serve(wefti_waiters_lone(&queue));
}

SCENARIO(waiters_lone) = { init_lone, { look_1, do_and_serve_lone }, check_1 };
SCENARIO(waiters_lone_found) = { init_lone, { look_1, do_and_find }, check_1 };
SCENARIO(waiters_one) = { init_none, { look_1, do_and_tell }, check_1 };
SCENARIO(waiters_two) = {
	init_none, { look_1, look_2, do_and_tell }, check_1_and_2,
};
SCENARIO(waiters_half) = {
	init_half, { look_1, look_2, do_and_tell }, check_1_and_2,
};
SCENARIO(waiters_passed) = {
	init_dead, { look_1, do_and_tell, tell_too }, check_1,
};
SCENARIO(waiters_counted) = {
	init_made, { look_1, look_2, do_and_tell_counted }, check_1_and_2,
};
SCENARIO(waiters_retired) = {
	init_retired, { look_3, retire_2 }, check_second_is_gone,
};
SCENARIO(waiters_retired_told) = {
	init_retired, { look_3, retire_2, do_and_tell }, check_told_and_gone,
};
SCENARIO(waiters_retired_both) = {
	init_both_retired, { retire_2, retire_3 }, check_first_is_gone,
};
SCENARIO(waiters_found) = { init_behind, { find_1, use_again }, check_nothing };
SCENARIO(waiters_append) = {
	init_full, { come_1, use_for_another }, check_where_1_is,
};
