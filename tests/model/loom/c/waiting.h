/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - threads that wait in lists of waiters, and what makes them ready
 *
 * The file that includes it says how many there are: THREADS, SEGMENTS.
 */
#ifndef WEFT_MODEL_WAITING_H
#define WEFT_MODEL_WAITING_H

#include <errno.h>
#include <stdalign.h>

#include "model.h"
#include "parks.h"
#include "sched/summons.h"
#include "sync/segment.h"

struct wefti_runtime wefti_rt;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_dense wefti_slots;

/* Slot 0 is nobody's. */
static alignas(128) struct wefti_thread thread[THREADS + 1];
static struct wefti_vcpu vcpu[THREADS + 1];
static struct wefti_seg segment[SEGMENTS];

struct wefti_thread *model_self(void)
{
	return &thread[m_self() + 1];
}

/*
 * The thread that marks it answers it. The rest of a summons is in summons.c.
 */
void wefti_summon(uint64_t ticket)
{
	struct wefti_thread *t = wefti_ticket_thread(ticket);

	if (!wefti_wait_resolve_armed(t, ticket, WEFTI_CAUSE_WOKEN) &&
	    wefti_wait_summon(t, ticket))
		wefti_unpark(t, ticket, WEFTI_CAUSE_WOKEN);
}

/* No more than the segments that init has made. */
int wefti_dense_grow(struct wefti_dense *d, size_t bytes, uint32_t count,
		     uint32_t *first)
{
	(void)d, (void)bytes, (void)count, (void)first;
	m_fail("there are not enough segments");
	return -ENOMEM;
}

static void init_segments(void)
{
	store_relaxed(&wefti_segments.table.chunk[0], (char *)segment);
	store_relaxed(&wefti_segments.depot.word, (uint64_t)1 << 32);
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		struct wefti_seg *s = &segment[i];

		store_relaxed(&s->stock_next, i + 1 < SEGMENTS ? i + 2 : 0);
		store_relaxed(&s->tag, 0);
		store_relaxed(&s->next, (uint64_t)0);
		store_relaxed(&s->retired, (uint64_t)0);
		store_relaxed(&s->front, (uint64_t)0);
		store_relaxed(&s->fill, (uint64_t)0);
		for (unsigned n = 0; n < WEFTI_SEG_CELLS; n++)
			store_relaxed(&s->cell[n], (uint64_t)0);
	}
}

#endif
