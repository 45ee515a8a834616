/* SPDX-License-Identifier: MIT */
/*
 * chan_scene.h - what the scenarios of chan.c play with: threads, channels, and
 * calls on them
 *
 * The scheduler is two functions: a thread that is parked is blocked, one
 * that is made ready is not. A message is a plain word; it is read and written
 * where the runtime copies it.
 */
#ifndef WEFT_MODEL_CHAN_SCENE_H
#define WEFT_MODEL_CHAN_SCENE_H

#include "model.h"

#include "chan/chan.h"
#include "os/call/clock.h"
#include "sched/ready.h"

#define THREADS		3
#define SEGMENTS	6
#define CELLS		3	/* of each thread */

#include "waiting.h"

static alignas(64) struct weft_chan chan[2];
static long message[THREADS + 1], got[THREADS + 1];
static int result[THREADS + 1];

/* The thread with a deadline for its wait. */
#define TIMER	7		/* the timer's semaphore */
static struct {
	struct wefti_thread *thread;
	uint64_t seq;
} timed;

static void arm_timer(struct wefti_thread *self)
{
	timed.thread = self;
	timed.seq = load_relaxed(&self->wait) >> WEFTI_WAIT_SEQ_SHIFT;
	m_unblock(TIMER);
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	enum wefti_cause cause = wefti_wait_cause(self);

	if (cause != WEFTI_CAUSE_NONE)
		return cause;
	if (deadline != WEFT_FOREVER)
		arm_timer(self);
	if (wefti_wait_commit(self))
		m_block((int)self->slot);
	cause = wefti_wait_cause(self);
	m_check(cause != WEFTI_CAUSE_NONE);
	return cause;
}

/* Its post-switch action, and then it is off its stack. */
enum wefti_cause wefti_park_by(struct wefti_thread *self, enum wefti_why why,
			       const void *object,
			       void (*post)(struct wefti_thread *self))
{
	enum wefti_cause cause;

	(void)why, (void)object;
	post(self);
	m_block((int)self->slot);
	cause = wefti_wait_cause(self);
	m_check(cause != WEFTI_CAUSE_NONE);
	return cause;
}

/* The stock's link, and behind it the message. */
static struct {
	alignas(64) _Atomic uint32_t link;
	long message;
} cell[THREADS * CELLS];
static struct wefti_pair slot[1];	/* of a buffer that has its own memory */
static long place[1];

static void init_cells(void)
{
	struct wefti_stock *cells = &wefti_cells[WEFTI_CELL_64];

	store_relaxed(&cells->table.chunk[0], (char *)cell);
	store_relaxed(&cells->depot.word, (uint64_t)0);
	for (uint32_t i = 0; i < THREADS * CELLS; i++) {
		/* The next one's number; the last of each thread has none. */
		store_relaxed(&cell[i].link, i % CELLS < CELLS - 1 ? i + 2 : 0);
		m_data_write(&cell[i].message);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		cells->local[i + 2].top = i * CELLS + 1;
		cells->local[i + 2].count = CELLS;
	}
}

static void init_waiters(struct wefti_waiters *q)
{
	store_relaxed(&q->lone, (uint64_t)0);
	store_relaxed(&q->first, (uint64_t)0);
	store_relaxed(&q->last, (uint64_t)0);
	store_relaxed(&q->count, (uint64_t)0);
}

static void init(void)
{
	init_segments();
	timed.thread = NULL;
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	for (int i = 0; i < 2; i++) {
		chan[i].kind = WEFTI_CHAN_RENDEZVOUS;
		chan[i].elem_bytes = sizeof(long);
		store_relaxed(&chan[i].closed, 0);
		init_waiters(&chan[i].senders);
		init_waiters(&chan[i].receivers);
	}
	for (uint32_t i = 0; i <= THREADS; i++) {
		static struct wefti_cold cold;

		thread[i].slot = i;
		thread[i].cold = &cold;
		thread[i].vcpu = &vcpu[i];
		vcpu[i].index = vcpu[i].random = i + 1;
		wefti_segments.local[i + 1].top = 0;
		wefti_segments.local[i + 1].count = 0;
		store_relaxed(&thread[i].wait, (uint64_t)0);
		store_relaxed(&thread[i].waits_for, NULL);
		store_relaxed(&thread[i].cancel, 0);
		store_relaxed(&thread[i].in_runtime, 0u);
		store_relaxed(&thread[i].attention, 0u);
		message[i] = 100 + i;
		got[i] = 0;
		result[i] = 0;
		m_data_write(&message[i]);
		m_data_write(&got[i]);
	}
}

/* The first channel, with room for one message. */
static void init_buffer(struct wefti_pair *its_slot)
{
	struct wefti_buffer *b = &chan[0].buffer;

	init();
	chan[0].kind = WEFTI_CHAN_BUFFERED;
	chan[0].cell_class = WEFTI_CELL_NONE;
	chan[0].way = WEFTI_CHAN_BY_WORD;
	b->slot = its_slot;
	b->capacity = 1;
	b->end = WEFTI_POSITION_SLOT;
	pair_init(its_slot, 0, 0);
	store_relaxed(&b->tail, WEFTI_POSITION_TAIL);
	store_relaxed(&b->head, WEFTI_POSITION_HEAD);
}

/* Its slot is in the struct: a thread that waits alone leaves its stack first. */
static void init_buffered(void)
{
	init_buffer(chan[0].buffer.few);
}

/* The slot is not, as if there were more. */
static void init_large(void)
{
	init_buffer(slot);
}

static void init_full(void)
{
	init_buffered();
	pair_init(chan[0].buffer.slot, 99, WEFTI_SLOT_FULL);
}

static void init_large_full(void)
{
	init_large();
	pair_init(chan[0].buffer.slot, 99, WEFTI_SLOT_FULL);
}

/* With room, as if messages were too long for a slot. */
static void init_cells_in_buffer(void)
{
	init_buffered();
	init_cells();
	chan[0].cell_class = WEFTI_CELL_64;
	chan[0].way = WEFTI_CHAN_INSIDE;
}

static void init_one(void)
{
	struct wefti_one *o = &chan[0].one;

	init();
	chan[0].kind = WEFTI_CHAN_ONE;
	o->message = (char *)place;
	o->capacity = 1;
	o->seen_head = o->seen_tail = 0;
	o->tail_place = o->head_place = 0;
	m_data_write(&place[0]);
	store_relaxed(&o->tail, (uint64_t)0);
	store_relaxed(&o->head, (uint64_t)0);
	store_relaxed(&o->sender_waits, (uint64_t)0);
	store_relaxed(&o->receiver_waits, (uint64_t)0);
}

static void init_one_full(void)
{
	init_one();
	store_relaxed(&chan[0].one.tail, (uint64_t)1);
}

/* What weft_alt() does inside the runtime, to wait. */
static int alt_until(uint32_t who, struct weft_alt *a, size_t count,
		     int64_t deadline)
{
	struct wefti_alts alts = {
		.alt = a, .count = count, .self = &thread[who], .chosen = count,
	};
	int late;

	for (size_t i = 0; i < count; i++) {
		int error = a[i].op == WEFT_ALT_SEND ?
			    wefti_chan_send(a[i].chan, a[i].elem, alts.self) :
			    wefti_chan_recv(a[i].chan, a[i].elem, alts.self);

		if (error != -EAGAIN) {
			a[i].error = error;
			return (int)i;
		}
	}
	late = wefti_alts_wait(&alts, deadline, WEFTI_WHY_ALT, NULL);
	if (late)
		return late;
	a[alts.chosen].error = alts.error;
	return (int)alts.chosen;
}

static int alt(uint32_t who, struct weft_alt *a, size_t count)
{
	int at = alt_until(who, a, count, WEFT_FOREVER);

	m_check(at >= 0);
	return at;
}

/* As call.c, which words go through: at a rendezvous it waits off its stack. */
static int single(uint32_t who, int c, unsigned op, void *elem)
{
	struct weft_alt a = { .op = op, .chan = &chan[c], .elem = elem };
	int error = -EAGAIN;

	if (chan[c].kind == WEFTI_CHAN_BUFFERED &&
	    chan[c].cell_class == WEFTI_CELL_NONE)
		return op == WEFT_ALT_SEND ?
		       weft_chan_send(&chan[c], elem, WEFT_FOREVER) :
		       weft_chan_recv(&chan[c], elem, WEFT_FOREVER);
	if (chan[c].kind == WEFTI_CHAN_RENDEZVOUS) {
		error = op == WEFT_ALT_SEND ?
			wefti_rendezvous_send(&chan[c], elem, &thread[who]) :
			wefti_rendezvous_recv(&chan[c], elem, &thread[who]);
		if (error == -EAGAIN)
			error = wefti_rendezvous_wait(&chan[c], op, elem,
						      &thread[who]);
	}
	if (error != -EAGAIN)
		return error;
	alt(who, &a, 1);
	return a.error;
}

static int send(uint32_t who, int c)
{
	int error;

	m_data_write(&message[who]);
	error = single(who, c, WEFT_ALT_SEND, &message[who]);
	m_data_write(&message[who]);	/* it was read before the return */
	return error;
}

static int recv(uint32_t who, int c)
{
	int error;

	m_data_write(&got[who]);
	error = single(who, c, WEFT_ALT_RECV, &got[who]);
	m_data_write(&got[who]);	/* it was written before the return */
	return error;
}

#endif
