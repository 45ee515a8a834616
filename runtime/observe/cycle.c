/* SPDX-License-Identifier: MIT */
/*
 * observe/cycle.c - threads that wait for each other, found while others run
 *
 * Nothing is stopped, so what is read may be of different moments. A cycle is told only if
 * it existed at one moment. Its edges are read once, all of them, and then once more. Both
 * times each thread is parked in the same episode, for the same object, and the next one
 * is the object's owner. The argument:
 *
 *   A thread that is parked in the same episode at both times was parked in between. So
 *   there is a moment, between the two rounds, at which all of them were.
 *   An owner's field is set by the thread that has got the lock, and cleared by it before
 *   it gives the lock up. The second round reads the field after the first one has seen
 *   the owner parked, by an acquire; so it reads no value from before that. In the
 *   second round the owner's field names the thread: it had the lock when it parked, and
 *   keeps it as long as it is parked.
 *   One case is different. An unlock hands the lock to a parked thread: it sets the field,
 *   and then wakes the thread. That thread waits for the lock that it owns by then. Such an
 *   edge, to the thread itself, is none. A thread waits for one lock in an episode, so it
 *   is not given another one. The locks of a layer above are not handed over so, and a
 *   thread may lock there what it has (wefti_view_owner).
 *   A thread that is joined is not released before its end, so the edge of a join needs
 *   no more than the episode.
 *
 * A thread that ended with a lock may be named as its owner, or the next thread in its
 * slot. The waiting threads of such a lock wait for ever, too.
 */
#include "observe/cycle.h"

#include "os/call/copy.h"
#include "thread/bare.h"
#include "thread/peek.h"
#include "thread/wait.h"

#define ENDS	(WEFTI_WAIT_CLAIMED | WEFTI_WAIT_SUMMONED)	/* soon, and not by itself */

int wefti_edge_of(const struct wefti_view *view, struct wefti_edge *e)
{
	const struct wefti_thread *to = wefti_view_holder(view);

	if (!to || (view->wait & ENDS))
		return 0;
	if (to == view->at && wefti_view_is_given(view))
		return 0;
	*e = (struct wefti_edge){
		.from = view->at, .id = view->id, .wait = view->wait, .why = view->why,
		.object = view->object, .to = (struct wefti_thread *)(uintptr_t)to,
	};
	return 1;
}

/* Reads the edge once more. The wait word comes last, after the owner. */
static int holds(const struct wefti_edge *e)
{
	struct wefti_view view;
	struct wefti_edge now;

	wefti_view_thread(e->from, &view);
	return wefti_edge_of(&view, &now) && now.id == e->id && now.wait == e->wait &&
	       now.why == e->why && now.object == e->object && now.to == e->to &&
	       load_seq_cst(&e->from->wait) == e->wait;
}

/* The first round. Returns how many edges lead back to t; 0: none do. */
static unsigned read_all(const struct wefti_thread *t, struct wefti_edge e[WEFTI_CYCLE_MOST])
{
	const struct wefti_thread *at = t;
	struct wefti_view view;

	for (unsigned n = 0; n < WEFTI_CYCLE_MOST; n++) {
		wefti_view_thread(at, &view);
		if (!wefti_edge_of(&view, &e[n]) ||
		    load_seq_cst(&e[n].from->wait) != e[n].wait)
			return 0;
		at = e[n].to;
		if (at == t)
			return n + 1;
	}
	return 0;
}

unsigned wefti_cycle_of(const struct wefti_thread *t, struct wefti_edge e[WEFTI_CYCLE_MOST])
{
	const unsigned n = read_all(t, e);

	for (unsigned i = 0; i < n; i++)
		if (!holds(&e[i]))
			return 0;
	return n;
}

/* NULL: t waits for no thread, as far as a few loads can tell. */
static struct wefti_thread *glance(struct wefti_thread *t)
{
	struct wefti_view view = { .at = t, .state = WEFTI_VIEW_PARKED };
	const struct wefti_thread *to;
	uint32_t slot;

	if ((load_seq_cst(&t->wait) & WEFTI_WAIT_PHASE) != WEFTI_WAIT_PARKED)
		return NULL;
	view.why = (enum wefti_why)wefti_peek_why(t);
	view.object = load_relaxed(&t->waits_for);
	if (!wefti_why_has_owner(view.why))
		return NULL;
	to = wefti_view_holder(&view);
	/* The object may be no lock any more: is that a thread at all? */
	if (!to || wefti_os_copy(&slot, &to->slot, sizeof(slot)) < sizeof(slot) ||
	    slot >= wefti_slot_limit() || wefti_slot_get(slot) != to)
		return NULL;
	return wefti_slot_get(slot);
}

unsigned wefti_cycle_from(struct wefti_thread *t, struct wefti_edge e[WEFTI_CYCLE_MOST],
			  unsigned *steps)
{
	const uint32_t slot = (uint32_t)wefti_peek_id(t);
	struct wefti_thread *at = t;

	for (unsigned i = 0; i < WEFTI_CYCLE_MOST; i++) {
		++*steps;
		at = glance(at);
		if (!at || (uint32_t)wefti_peek_id(at) < slot)
			return 0;
		if (at == t)
			return wefti_cycle_of(t, e);
	}
	return 0;
}

int wefti_cycle_is_timed(const struct wefti_edge *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (e[i].wait & WEFTI_WAIT_TIMED)
			return 1;
	return 0;
}
