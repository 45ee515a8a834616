/* SPDX-License-Identifier: MIT */
/*
 * sched/stuck.c - deadlines in a heap whose server was stopped
 *
 * Structure
 *   The heap of a home has one server at a time (sched/timer.c). If the server is
 *   stopped in the middle of a link, no other can serve the heap in its place. None
 *   needs to: a deadline passes by a resolve, which needs only the thread's wait word
 *   and its deadline. So when a server stays in one session for STUCK_NS, the home is
 *   stuck. At each look the monitor then goes through the slots of all threads and ends
 *   the waits that are late. This covers the timers that the server has in its hands, in
 *   the heap or the queue. When the server goes on, it finds those waits resolved.
 *
 * States of a home
 *   SERVED --the same session at looks STUCK_NS apart--> STUCK
 *   STUCK --no session, or another--> SERVED
 *
 * Invariants
 *   I1  Only the monitor knows which home is stuck, and only the monitor walks. So a
 *       server that leaves meanwhile has nothing to undo.
 *   I2  The guess may be wrong. This costs a walk.
 *   I3  A server is either in a VCPU that does not idle, or is the monitor itself,
 *       which makes no look meanwhile. The monitor sleeps only if all VCPUs idle and no
 *       home is stuck. So it does not sleep before a stuck server was found either.
 *   I4  The wait word is the same before and after the body was found. So the thread
 *       was parked all the while, and this is its body, not that of a foreign thread,
 *       whose memory may be freed. After that, the body may get another thread or be
 *       given back, and its deadline may read as anything; but then the wait is over
 *       and the resolve is LOST.
 *
 * Linearization
 *   An expiry: at the resolve, as with the server.
 *
 * Progress
 *   A walk has as many steps as there are slots. After a walk the monitor does not walk
 *   for REST times as long as the walk took: with a million threads it would do nothing
 *   else. A deadline is late by at most that time, STUCK_NS and two looks. The
 *   monitor's own work is not done in its place when the monitor is stopped.
 *
 * ABA and reclamation
 *   Slots are type-stable, bodies stay mapped (thread/peek.h); I4.
 *
 * Pairs
 *   P1  kind and cold are loaded; fence; the wait word is loaded again. The next thread
 *       with this slot or body stores them after the word has changed.
 *   P1 of thread/wait.h  commit -> the first load of the word: kind, cold, deadline
 *
 * Source
 *   Ours. Rejected: to go through the heap without its server: its links may be half
 *   made. A mark by which idle VCPUs leave a stuck home out, and no other: until there
 *   was one they waited awake for the server, and so could keep the CPU from it. To end
 *   the waits in the order of their deadlines: that takes one walk for each, or memory
 *   for all of them.
 *   Model: tests/model (stuck).
 */
#include "sched/stuck.h"

#include "os/call/clock.h"
#include "sched/ready.h"
#include "sched/timer.h"
#include "thread/peek.h"
#include "thread/wait.h"

#define STUCK_NS	10000000	/* other servers are done long before */
#define REST		4

/* PARKED -> IDLE, if the thread in the slot is late. */
static void time_out_if_late(struct wefti_thread *t, int64_t now)
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

/* Returns the time until which the monitor rests. */
static int64_t walk(int64_t now)
{
	uint32_t limit = wefti_slot_limit();
	int64_t end;

	for (uint32_t i = 1; i < limit; i++)
		time_out_if_late(wefti_not_null(wefti_slot_get(i)), now);
	end = wefti_os_now_ns();
	return end + (end - now) * REST;
}

static int is_stuck(struct wefti_vcpu *v, int64_t now)
{
	uint64_t session = wefti_timers_session(v);

	if (session != v->seen_session)
		v->seen_session_since = now;
	v->seen_session = session;
	return session && now - v->seen_session_since >= STUCK_NS;
}

unsigned wefti_stuck_find(int64_t now)
{
	static int64_t rest_until;
	unsigned stuck = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		stuck += (unsigned)is_stuck(wefti_vcpu_at(i), now);
	if (stuck && now >= rest_until)
		rest_until = walk(now);
	return stuck;
}
