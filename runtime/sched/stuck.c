/* SPDX-License-Identifier: MIT */
/*
 * sched/stuck.c - deadlines at a home whose server was stopped
 *
 * Structure
 *   The heap of a home has one server at a time (sched/timer.c). One that was
 *   stopped in the middle of a link can have no other in its place, and need not:
 *   a deadline is passed by a resolve, for which a thread's wait word and its
 *   deadline are enough. So while a server stays in one session for STUCK_NS, the
 *   monitor marks the home and goes, at each look, through the slots of all
 *   threads, and ends the waits that are late. What the server has in its hands,
 *   heap or queue, is met there too. When it goes on, what it finds was resolved.
 *
 *   Those who idle leave a home out that is marked: what is due there would keep
 *   them from sleep, and they could not serve it. So the monitor does not sleep
 *   while one is marked.
 *
 * States of a home
 *   CLEAR --the same session at looks STUCK_NS apart--> MARKED
 *   MARKED --no session, or another--> CLEAR
 *
 * Invariants
 *   I1  The monitor alone sets and clears marks, and it alone walks. So a server
 *       that leaves while it is being marked has nothing to undo: the next look
 *       clears the mark, and tells the keeper of the time (timer.c: P5).
 *   I2  A mark may be wrong. That costs a walk, and deadlines of that home a look.
 *   I3  A server is in a VCPU that does not idle, or is the monitor, which makes
 *       no look meanwhile. So the monitor, which does not sleep unless all idle,
 *       does not sleep before the mark either.
 *   I4  The wait word is the same before and after the body was found: the
 *       thread was parked all the while, and this is its body, no foreign
 *       thread's, whose memory may go. After that the body may have another
 *       thread, or be given back, and what is read as its deadline be anything;
 *       then the wait is over and the resolve is LOST.
 *
 * Linearization
 *   An expiry at the resolve, as the server's.
 *
 * Progress
 *   A walk has as many steps as there are slots. After one, the monitor does not
 *   walk for REST times as long as that took: beside a million threads it would do
 *   nothing else. A deadline is late by that, STUCK_NS and two looks at most.
 *   What is not done in its place: the monitor's own work, when that is stopped.
 *
 * ABA and reclamation
 *   Slots are type-stable, bodies stay mapped (thread/peek.h); I4.
 *
 * Pairs
 *   P1  kind and cold are loaded; fence; the wait word is loaded again. Whose slot
 *       and body these are next stores them after the word has changed.
 *   P1 of thread/wait.h  commit -> the first load of the word: kind, cold, deadline
 *
 * Source
 *   Ours. Rejected: to go through the heap without its server (its links may be
 *   half made); a mark that the server clears (two who write it, and a server
 *   that is stopped between BUSY and mark); to end the waits in the order of their
 *   deadlines (one walk for each, or memory for all of them).
 *   Model: tests/model (stuck).
 */
#include "sched/stuck.h"

#include "os/call/clock.h"
#include "sched/ready.h"
#include "sched/timer.h"
#include "thread/peek.h"
#include "thread/wait.h"

#define STUCK_NS	10000000	/* others are served by then */
#define REST		4

/* PARKED -> IDLE, if the thread in the slot is late. */
static void look_at(struct wefti_thread *t, int64_t now)
{
	uint64_t w = load_acquire(&t->wait);	/* of thread/wait.h: P1 */
	struct wefti_cold *body;

	if ((w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_PARKED ||
	    !(w & WEFTI_WAIT_TIMED) || (w & WEFTI_WAIT_CLAIMED) ||
	    wefti_peek_kind(t) == WEFTI_KIND_FOREIGN)
		return;
	body = wefti_peek_cold(t);
	fence_seq_cst();	/* P1 */
	if (load_seq_cst(&t->wait) != w ||	/* P1, I4 */
	    wefti_peek_deadline(body) > now)
		return;
	if (wefti_wait_resolve(t, w >> WEFTI_WAIT_SEQ_SHIFT,
			       WEFTI_CAUSE_TIMEDOUT) == WEFTI_WAS_PARKED)
		wefti_ready_in_order(t);
}

/* Returns until when to rest. */
static int64_t walk(int64_t now)
{
	uint32_t limit = wefti_slot_limit();
	int64_t end;

	for (uint32_t i = 1; i < limit; i++)
		look_at(wefti_slot_get(i), now);
	end = wefti_os_now_ns();
	return end + (end - now) * REST;
}

/* Returns 1 when it is marked. */
static int look_at_home(struct wefti_vcpu *v, int64_t now)
{
	uint64_t session = wefti_timers_session(v);
	int is_stuck;

	if (session != v->seen_session)
		v->seen_session_since = now;
	v->seen_session = session;
	is_stuck = session && now - v->seen_session_since >= STUCK_NS;
	wefti_timers_mark(v, is_stuck);
	return is_stuck;
}

unsigned wefti_stuck_look(int64_t now)
{
	static int64_t rest_until;
	unsigned stuck = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		stuck += (unsigned)look_at_home(wefti_vcpu_at(i), now);
	if (stuck && now >= rest_until)
		rest_until = walk(now);
	return stuck;
}
