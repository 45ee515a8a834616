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
#define SEGMENTS	3

#include "waiting.h"

static struct wefti_waiters queue, other;
static uint64_t ticket_of[THREADS + 1];
static char before[THREADS + 1];
static int found[THREADS + 1];
static _Atomic uint32_t post;

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
	uint64_t place[2];

	m_check(wefti_waiters_add(q, begin(who), &thread[who], place) == 0);
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

/* All that wait in cells. */
static void tell_all(struct wefti_waiters *q, struct wefti_thread *self)
{
	uint64_t ticket;

	while ((ticket = wefti_waiters_find_in(q, self, 0))) {
		uint32_t who = wefti_ticket_thread(ticket)->slot;

		m_data_read(&before[who]);
		if (wefti_wait_resolve(&thread[who], ticket,
				       WEFTI_CAUSE_WOKEN) != WEFTI_LOST)
			found[who]++;
	}
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
	for (uint32_t i = 0; i <= THREADS; i++) {
		thread[i].slot = i;
		thread[i].vcpu = &vcpu[i];
		vcpu[i].index = i + 1;
		wefti_segments.local[i + 1].top = 0;
		wefti_segments.local[i + 1].count = 0;
		store_relaxed(&thread[i].wait, (uint64_t)0);
		found[i] = 0;
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

SCENARIO(waiters_found) = { init_behind, { find_1, use_again }, check_nothing };
SCENARIO(waiters_append) = {
	init_full, { come_1, use_for_another }, check_where_1_is,
};
