/* SPDX-License-Identifier: MIT */
/*
 * io/side.c - the threads that wait for a descriptor, in either direction
 *
 * Structure
 *   edges  of each side: how often the kernel said that it became ready; it wraps
 *   all    of each side: the waiters of mode ALL (sync/waiters.c)
 *   one    the waiters of mode ONE, which all want to read
 *
 *   A thread reads edges, tries its call, gets EAGAIN, adds its ticket, and looks at
 *   edges again. If they have changed it tries again. So an edge is seen by threads
 *   that wait, and by threads that were about to.
 *
 *   An edge wakes all waiters of mode ALL and one of mode ONE, so that a connection
 *   does not wake every accepting thread. A thread that was woken in mode ONE has a
 *   duty: when its call is done, whatever the result, it wakes the next one. When its
 *   call returns EAGAIN the duty is done too, as the next one would get the same
 *   answer. This holds for threads that read or accept. It does not hold for threads
 *   that wait for urgent data, or for room for a record in a pipe: these use mode ALL.
 *
 * Writers
 *   side.edges  wefti_side_post
 *
 * Invariants
 *   I1  A thread tries, and then parks here. An edge since its try finds the thread's
 *       ticket, or the thread finds the edge.
 *   I2  While a thread of mode ONE is in the list and the descriptor is ready for it, a
 *       wake is under way: an event that is not handled yet, or a thread that was woken
 *       and is not done.
 *   I3  Ending a wait takes no ticket out. The waiting thread does that when it runs,
 *       once for each of its places. It can wait at several sides, and several times at
 *       one, with one ticket: one resolve has an effect.
 *   I4  A post looks at lone once, and then tells at most as many threads from the
 *       cells as it counted there behind its edge. All threads that came before the
 *       edge and still wait are among these. If one of them went into lone, it is there
 *       as long as it waits (waiters.c: I7). Those in cells are before all that come
 *       later (I1 there). A thread that is found before them was counted (P5 there),
 *       and still is (P6 there), and none is found twice. A thread that comes later
 *       knows of the edge. So threads that come into lone behind the look, of which
 *       there may be any number (I6 there), are not looked for. And threads that look,
 *       find nothing and come again do not keep a post going round.
 *
 * Linearization
 *   post: at its add to edges for a thread that is not in a list; at the CAS of the
 *   wait word for a thread that is. join: at the add of the ticket.
 *
 * Progress
 *   join, part and wake_next are lock-free; see waiters.c. A wait word that could not
 *   be resolved is another thread's success. post is lock-free too, and ends (I4).
 *   A kernel thread that is stopped in join or part delays no other. One that is
 *   stopped in post delays the threads that it has not told of this edge, as anywhere
 *   on the way from the kernel (sched/poller.c). Other edges, calls and closes do not
 *   wait for it. A thread that was woken in mode ONE and is stopped delays the next of
 *   that mode.
 *
 * ABA and reclamation
 *   Sides are in the table of descriptors and live for ever. In each list in which two
 *   threads have waited at once, the last segment stays, even across a stop. No ticket
 *   is in a list for longer than its wait and the part behind it. An edge is missed if
 *   edges wraps exactly once while a thread tries.
 *
 * Pairs
 *   P1  post: edges + 1; fence; look for tickets.
 *       join: add a ticket; its fence; load edges. One of the two sees the
 *       other (waiters.c: P4).
 *
 * Source
 *   The counter is D. Reed's and R. Kanodia's eventcount (CACM 1979); the two
 *   modes are those of Linux's wait queues. Rejected: a "ready" bit that the
 *   next thread takes, as in Go's netpoll. Each call that parks after an edge for
 *   which no thread waited would try twice, and the bit is of no use to two threads
 *   that wait for different things on one side. Rejected: a list with a server
 *   (sync/waitlist.c). A server that is stopped delays all later wakes.
 */
#include "io/side.h"

#include "base/check.h"
#include "sched/park.h"

static int tell(uint64_t ticket)
{
	return wefti_unpark(wefti_ticket_thread(ticket), ticket,
			    WEFTI_CAUSE_WOKEN);
}

void wefti_side_wake_next(struct wefti_sides *s)
{
	uint64_t ticket;

	do {
		ticket = wefti_waiters_find(&s->one, NULL, 0);
	} while (ticket && !tell(ticket));
}

static void tell_all(struct wefti_waiters *q)
{
	uint64_t ticket = wefti_waiters_lone(q);
	uint32_t left = wefti_waiters_behind(q);	/* I4 */

	if (ticket)
		(void)tell(ticket);
	while (left-- && (ticket = wefti_waiters_find_in(q, NULL, 0)))
		(void)tell(ticket);
}

void wefti_side_post(struct wefti_sides *s, int side)
{
	fetch_add_seq_cst(&s->side[side].edges, 1);
	fence_seq_cst_after_rmw();	/* P1 */
	tell_all(&s->side[side].all);
	if (side == WEFTI_READ_SIDE)
		wefti_side_wake_next(s);
}

int wefti_side_join(struct wefti_sides *s, int side, struct wefti_place *place,
		    struct wefti_thread *self, uint64_t seq, uint32_t edges,
		    enum wefti_side_mode mode)
{
	int is_one = mode == WEFTI_SIDE_ONE;
	struct wefti_waiters *q = is_one ? &s->one : &s->side[side].all;
	uint64_t ticket = wefti_ticket(self, seq);
	int error;

	WEFT_ASSERT(!is_one || side == WEFTI_READ_SIDE);
	place->list = NULL;
	error = wefti_waiters_add(q, ticket, self, place->cell);
	if (unlikely(error))
		return error;
	place->list = q;
	place->ticket = ticket;
	/* P1: behind the fence of add */
	if (load_seq_cst(&s->side[side].edges) != edges)
		wefti_wait_resolve(self, seq, WEFTI_CAUSE_WOKEN);
	return 0;
}

void wefti_side_part(struct wefti_place *place, struct wefti_thread *self)
{
	if (!place->list)
		return;
	wefti_waiters_take_out(place->list, place->ticket, self, place->cell);
	place->list = NULL;	/* I3 */
}

void wefti_side_forget(struct wefti_sides *s)
{
	wefti_waiters_end(&s->one, NULL);
	for (int side = 0; side < WEFTI_SIDES; side++)
		wefti_waiters_end(&s->side[side].all, NULL);
}
