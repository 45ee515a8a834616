/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - scenarios: sync/waiters.c and segment.c alone
 *
 * A segment has two cells here. One thread waits in lone throughout, so that all
 * others come to cells. Each thread writes, before it comes, what the one who finds
 * its ticket must see.
 */
#include "sync/waiters.h"

#define THREADS		4
#define SEGMENTS	4

#include "waiting.h"

static struct wefti_waiters queue, other;
static uint64_t ticket_of[THREADS + 1];
static char before[THREADS + 1];
static int found[THREADS + 1];
static int saw[THREADS + 1];
static _Atomic uint32_t post, deed;
static uint64_t place[THREADS + 1][2];

/*
 * Where a thread may be overtaken, and where the one begins that does: the checker
 * would not see that the load behind the first can come behind all of the second.
 */
void model_signpost(void)
{
	store_relaxed(&post, 1);
}

static uint64_t begin(uint32_t who)
{
	struct wefti_thread *t = &thread[who];

	m_data_write(&before[who]);
	return ticket_of[who] = wefti_ticket(t, wefti_wait_begin(t,
							WEFTI_WAIT_TIMED));
}

static void come_to(struct wefti_waiters *q, uint32_t who)
{
	m_check(wefti_waiters_add(q, begin(who), &thread[who],
				  place[who]) == 0);
}

static void come(uint32_t who)
{
	come_to(&queue, who);
}

static void end_wait(uint64_t ticket)
{
	wefti_wait_resolve(wefti_ticket_thread(ticket), ticket,
			   WEFTI_CAUSE_WOKEN);
}

/* Comes, and its wait is over. */
static void come_dead(struct wefti_waiters *q, uint32_t who)
{
	come_to(q, who);
	end_wait(ticket_of[who]);
}

/* Those that wait in cells, `most` of them. */
static void tell(struct wefti_waiters *q, struct wefti_thread *self,
		 uint32_t most)
{
	uint64_t ticket;

	while (most-- && (ticket = wefti_waiters_find_in(q, self, 0))) {
		uint32_t who = wefti_ticket_thread(ticket)->slot;

		m_data_read(&before[who]);
		if (wefti_wait_resolve(&thread[who], ticket,
				       WEFTI_CAUSE_WOKEN) != WEFTI_LOST)
			found[who]++;
	}
}

static void tell_all(struct wefti_waiters *q, struct wefti_thread *self)
{
	tell(q, self, UINT32_MAX);
}

static void init_queue(struct wefti_waiters *q)
{
	store_relaxed(&q->lone, (uint64_t)0);
	store_relaxed(&q->first, (uint64_t)0);
	store_relaxed(&q->last, (uint64_t)0);
	store_relaxed(&q->count, (uint64_t)0);
}

static void init(void)
{
	init_segments();
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	store_relaxed(&post, 0);
	store_relaxed(&deed, 0);
	for (uint32_t i = 0; i <= THREADS; i++) {
		thread[i].slot = i;
		thread[i].vcpu = &vcpu[i];
		vcpu[i].index = i + 1;
		wefti_segments.local[i + 1].top = 0;
		wefti_segments.local[i + 1].count = 0;
		store_relaxed(&thread[i].wait, (uint64_t)0);
		found[i] = saw[i] = 0;
	}
	init_queue(&queue);
	init_queue(&other);
	come(4);
	store_relaxed(&other.lone, ticket_of[4]);
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

static void come_1(void)
{
	come(1);
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

/* One that comes finds the deed done, or is found by who has done it. */
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

/* The segments have been used, and are in the depot. */
static void init_none(void)
{
	init();
	come_dead(&other, 3);
	come_dead(&other, 3);
	come_dead(&other, 3);
	wefti_waiters_end(&other, NULL);
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

/* Who has made the first segment has not come to fill a cell. */
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

/* It needs not see the deed: who comes is found by one of the two. */
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
	wefti_waiters_retire(&queue, &thread[2], place[2]);
	come(2);
}

static void retire_2(void)
{
	end_wait(ticket_of[2]);
	wefti_waiters_retire(&queue, &thread[2], place[2]);
}

static void check_count(uint32_t n)
{
	m_check((uint32_t)load_relaxed(&queue.count) == n);
}

static void check_second_is_gone(void)
{
	m_check(wefti_waiters_segments(&queue) <= 2);
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
	wefti_waiters_retire(&queue, &thread[3], place[3]);
}

static void check_first_is_gone(void)
{
	m_check(wefti_waiters_segments(&queue) == 1);
	check_count(1);
}

static void check_told_and_gone(void)
{
	check_told(1, 1);
	check_told(3, 3);
	check_second_is_gone();
}

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
	retire_3();
	come_dead(&queue, 2);
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

SCENARIO(waiters_first) = { init_used, { come_1, come_2 }, check_both_are_in };
SCENARIO(waiters_last) = { init_full_used, { come_1, come_2 }, check_both_are_in };
SCENARIO(waiters_appended) = {
	init_full_used, { append, come_1, come_2 }, check_both_are_in,
};
SCENARIO(waiters_found_again) = {
	init_full_used, { find_once, come_and_find_again }, check_1_is_in,
};
SCENARIO(waiters_swept) = {
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

SCENARIO(waiters_ended) = { init_ending, { come_late, end_queue }, check_next_life };
SCENARIO(waiters_ended_twice) = {
	init_ending, { come_late_and_find, end_queue }, check_next_life,
};
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
