/* SPDX-License-Identifier: MIT */
/*
 * waiters_scene.h - for scenarios of sync/waiters.c and segment.c alone
 *
 * A segment has two cells here. One thread waits in lone throughout, so that all
 * others come to cells. Each thread writes, before it comes, what a thread that finds
 * its ticket must see.
 */
#ifndef WEFT_MODEL_WAITERS_SCENE_H
#define WEFT_MODEL_WAITERS_SCENE_H

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

static void come_1(void)
{
	come(1);
}

static void retire(uint32_t who)
{
	wefti_waiters_retire(&queue, &thread[who], place[who]);
}
/* Two segments have been used, and are in the depot. */
static void init_none(void)
{
	init();
	come_dead(&other, 3);
	come_dead(&other, 3);
	come_dead(&other, 3);
	wefti_waiters_end(&other, NULL);
}

#endif
