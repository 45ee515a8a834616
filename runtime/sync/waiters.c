/* SPDX-License-Identifier: MIT */
/*
 * sync/waiters.c - the threads that wait on one side of a channel, or for a
 * descriptor, in order
 *
 * Structure
 *   A word, lone, for a ticket that is added when no thread waits, which is the usual
 *   case; it comes before all others. Behind it there is a list of segments from first
 *   to the last one. Each has 26 cells, which are filled in order, once in a segment's
 *   life. A cell holds a ticket. A ticket is dead when its wait is over or claimed.
 *   Every thread can see that in the wait word, so dead tickets need not be taken out.
 *   Segments are type-stable. A segment's tag grows when it is freed: a link of number
 *   and tag names one life of it.
 *
 * States of a cell
 *   EMPTY    the segment's tag, which is less than any ticket
 *   WAITING  a ticket whose wait is open
 *   DEAD     a ticket whose wait is claimed or over
 *
 *   EMPTY --add's CAS--> WAITING --claim, resolve--> DEAD
 *
 * States of lone: NONE (0), WAITING, DEAD as of a cell
 *
 *   NONE, DEAD --add's CAS--> WAITING --claim, resolve--> DEAD
 *   DEAD --a thread that could not claim it, or the one that waited--> NONE
 *
 * States of a segment
 *   FREE     in the stock, or in the hands of the thread that got it
 *   OPEN     in a list, with EMPTY cells, and without next
 *   FULL     no EMPTY cell; next is set before a cell of the next segment is filled
 *   LEAVING  FULL, all cells DEAD, next has MARK
 *
 *   FREE --append--> OPEN --its last cell is filled--> FULL
 *   FULL --mark--> LEAVING --unlinked by one CAS--> FREE
 *   OPEN, FULL, the last one --the queue ends (I9)--> FREE
 *
 * Writers
 *   waiters.count  uncount, wefti_waiters_add, wefti_waiters_claim_behind,
 *       wefti_waiters_end
 *   waiters.first  sweep, wefti_waiters_end, wefti_waiters_find_in,
 *       where_to_add; segment.c: wefti_seg_unlink
 *   waiters.last  next_or_append, wefti_waiters_end
 *   waiters.lone  wefti_waiters_add_lone, wefti_waiters_claim,
 *       wefti_waiters_end, wefti_waiters_take_out
 *
 * Invariants
 *   I1  A cell is filled only when all cells before it are filled, and all segments
 *       before its own are FULL. So the order of cells is the order of adds.
 *   I2  A segment leaves only if it has a next and all its cells are DEAD. Its next
 *       does not change any more once it has MARK.
 *   I3  front is the number of cells, from the first on, that are known to be DEAD. It
 *       is a hint with the tag of its life: it may be too low but never too high.
 *   I4  Each segment that has a next, except the first, has a cell that is WAITING or
 *       whose retire is not done yet. Cells die in order, except those that are
 *       retired, and retired counts these: at 26 the segment leaves. So memory is
 *       bounded by the number of waiting threads.
 *   I5  count is not less than the number of WAITING cells. It grows before a cell is
 *       filled. It falls when the ticket was claimed here, or retired in the same life
 *       of the channel. Where waits are resolved and not claimed (io/side.c), it falls
 *       only by retiring.
 *   I6  A ticket goes into lone only when lone was seen without a WAITING ticket and
 *       then count as 0. So it comes before a ticket in a cell only if the two were
 *       added at the same time. There can be many such tickets, one after the other:
 *       each that leaves NONE behind lets in another thread that has seen NONE before
 *       the ticket in the cell came.
 *   I7  lone is changed only from NONE or DEAD, which no thread relies on. So a thread
 *       that was claimed, timed out or was cancelled need not take its ticket out,
 *       though it may; a ticket that stays is replaced by the next one.
 *   I8  A ticket that is WAITING in lone is in no cell. A thread that waits here by
 *       several alternatives puts it in once for each. If it was in lone, the others
 *       are that same entry; if it was in a cell, count was not 0. So a thread that
 *       claims the ticket, wherever it is found first, ends the first of these
 *       alternatives, as the waiting thread assumes (chan/chan_wait.c).
 *   I9  A thread may still add itself after its wait is over (chan/chan_wait.c:
 *       add_all), while the queue ends. A segment with its tag in the word last must
 *       be in the list then, or later adds would be lost. So the last segment ends its
 *       life before its next is marked: a thread that appends to it does so before the
 *       mark, and what it has appended is freed as well; or its CAS fails, and it sees
 *       that the life is over.
 *
 * Linearization
 *   add: at the CAS of the cell or of lone. find: at the load of the wait word that
 *   shows it open. "None" has no single moment: lone had none WAITING when it was
 *   looked at, and the segments had none afterwards. That is at the load of the EMPTY
 *   cell, at which all before are DEAD, or of count as 0. A thread that came into lone
 *   in between looks at the other side behind its fence (P4), and finds the caller
 *   there if that waits too.
 *
 * Progress
 *   Lock-free: a failed CAS or a changed tag is another thread's success. A thread that
 *   is stopped at any step here delays no other: before its CAS it is nothing to
 *   others, after it it waits. A segment that is half taken out is taken out by the
 *   next thread that finds it.
 *
 * ABA and reclamation
 *   A value read from a segment counts only if the tag is read as expected after it. A
 *   ticket seen in this way was put into this queue, whatever has become of the segment
 *   since: tickets are not used twice. A CAS of a cell, of next or of retired expects
 *   the tag in the word. The limit is 2^31 lives of a segment between two steps of a
 *   thread.
 *
 * Pairs
 *   P1  add's CAS of a cell or lone  ->  the load by a thread that asks whether it is
 *       open: the wait has begun; the thread's alternatives. (An older wait word would
 *       look like a DEAD one's.)
 *   P2  a link is stored (first, next, last)  ->  it is loaded: the segment is
 *       ready, with its tag
 *   P3  free changes the tag  ->  it is loaded: a thread that finds another life
 *       finds the segment out of its list
 *   P4  add's fence behind the cell or lone  ->  the fence of a thread that might
 *       serve, between its own deed and find: one of the two sees the other
 *   P5  add's CAS of a cell, or the hint or link behind it  ->  a thread that adds
 *       behind it loads one of them, or the cell once more if its CAS failed: so after
 *       its own add's fence (P4) it sees that all tickets before its own are counted
 *   P6  retire's CAS of count  ->  the load by a thread that tells as many as count
 *       says: it finds no thread that is not counted any more
 *   P7  get's stores of next, which is none, and of the cells  ->  they are loaded:
 *       the tag read after them is no older, and what P3 says. For later links and
 *       for tickets this follows from P2 and P1. The other words have the tag in them.
 *   P8  the last retire's CAS; fence; load of next. append's CAS of next; fence; load
 *       of retired: one of the two takes the segment out (I4).
 *   Models: tests/model/loom/c/waiters.c, segments.c, and those of its users
 *
 * Source
 *   Cells filled in order, by CAS, with lagging indexes: P. Tsigas, Y. Zhang, "A
 *   simple, fast and scalable non-blocking concurrent FIFO queue", SPAA 2001. Segments
 *   that leave when all their cells are dead: N. Koval, D. Alistarh, R. Elizarov, "Fast
 *   and scalable channels in Kotlin coroutines", PPoPP 2023; theirs hand out cells by
 *   fetch-and-add, which can leave a hole that a counterpart has to wait for. Unlinking
 *   with a mark: M. Michael, "High performance dynamic lock-free hash tables and
 *   list-based sets", 2002.
 */
#include "sync/waiters.h"

#include <errno.h>

#include "sync/segment.h"
#include "thread/wait.h"

/* Takes out the segments in which all cells were retired. */
static COLD void sweep(struct wefti_waiters *q, struct wefti_thread *self)
{
	_Atomic uint64_t *from = &q->first;
	uint64_t link = load_acquire(from), next;	/* P2 */

	while (!wefti_link_is_none(link)) {
		struct wefti_seg *seg = wefti_seg_of(link);
		int leaves = wefti_seg_is_retired(seg, link);

		next = load_acquire(&seg->next);	/* P2 */
		if (!wefti_seg_is_current(seg, link)) {
			from = &q->first;
			link = load_acquire(from);	/* P2 */
		} else if (wefti_link_is_none(next)) {
			return;
		} else if ((leaves || (next & WEFTI_LINK_MARK)) &&
			   wefti_seg_unlink(from, link, self)) {
			link = next & ~WEFTI_LINK_MARK;
		} else if (leaves || (next & WEFTI_LINK_MARK)) {
			from = &q->first;
			link = load_acquire(from);	/* P2 */
		} else {
			from = &seg->next;
			link = next;
		}
	}
}

/* The segment in which an add begins; makes the first one. */
static uint64_t where_to_add(struct wefti_waiters *q, struct wefti_thread *self)
{
	uint64_t link = load_acquire(&q->last);	/* P2 */
	uint64_t none = 0, made;

	if (!wefti_link_is_none(link) &&
	    wefti_seg_is_current(wefti_seg_of(link), link))
		return link;
	link = load_acquire(&q->first);		/* P2 */
	if (!wefti_link_is_none(link))
		return link;
	made = wefti_seg_get(self);
	if (!made || cas_acq_rel(&q->first, &none, made))	/* P2 */
		return made;
	wefti_seg_free(self, made);
	return load_acquire(&q->first);		/* P2: the failed CAS has no acquire */
}

/* The segment behind a FULL one; makes it if needed. 0: look again; ~0: no memory. */
static uint64_t next_or_append(struct wefti_waiters *q, uint64_t link,
			       struct wefti_thread *self)
{
	struct wefti_seg *seg = wefti_seg_of(link);
	uint64_t next = load_acquire(&seg->next), made;	/* P2, P7 */

	if (!wefti_seg_is_current(seg, link))
		return 0;
	if (wefti_link_is_none(next)) {
		made = wefti_seg_get(self);
		if (!made)
			return ~UINT64_C(0);
		if (!cas_acq_rel(&seg->next, &next, made)) {	/* P2 */
			wefti_seg_free(self, made);
			return 0;
		}
		next = made;
		fence_seq_cst_after_rmw();		/* P8 */
		if (wefti_seg_is_retired(seg, link))
			sweep(q, self);
	}
	next &= ~WEFTI_LINK_MARK;
	store_release(&q->last, next);		/* P2 */
	return next;
}

/* EMPTY -> WAITING in this segment. Returns 0 if all its cells are filled. */
static int fill_cell(struct wefti_seg *seg, uint64_t link, uint64_t ticket)
{
	uint32_t i = wefti_seg_hint(&seg->fill, link);

	while (i < WEFTI_SEG_CELLS) {
		uint64_t empty = wefti_link_tag(link);

		if (load_acquire(&seg->cell[i]) != empty) {	/* P5 */
			i++;
		} else if (cas_release(&seg->cell[i], &empty,	/* P1, P5 */
				       ticket)) {
			wefti_seg_set_hint(&seg->fill, link, i + 1);
			return 1;
		}
	}
	return 0;
}

/* Called for one that was counted in this life of the queue. */
static void uncount(struct wefti_waiters *q, uint64_t life)
{
	uint64_t n = load_relaxed(&q->count);

	while (n >> 32 == life &&
	       !cas_weak_release(&q->count, &n, n - 1))	/* I5, P6 */
		;
}

int wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
		      struct wefti_thread *self, uint64_t place[2])
{
	uint64_t link, lone;

	place[0] = 0;
	if (likely(wefti_waiters_takes_lone(q, &lone)) &&
	    likely(wefti_waiters_add_lone(q, lone, ticket)))
		return 0;
	if (unlikely(lone == ticket))	/* I8; behind the fence of that add */
		return 0;
	place[1] = fetch_add_relaxed(&q->count, 1) >> 32;	/* I5 */
	link = where_to_add(q, self);
	for (;;) {
		if (unlikely(wefti_link_is_none(link)))
			break;
		if (likely(fill_cell(wefti_seg_of(link), link, ticket))) {
			fence_seq_cst_after_rmw();	/* P4 */
			place[0] = link;
			return 0;
		}
		link = next_or_append(q, link, self);
		if (link == ~UINT64_C(0))
			break;
		if (wefti_link_is_none(link))
			link = where_to_add(q, self);
	}
	uncount(q, place[1]);
	return -ENOMEM;
}

enum found { FOUND, NOTHING, PASSED, STALE };

/*
 * Looks through one segment. all_dead: on entry, whether all cells before it are DEAD;
 * on return, the same for the cells behind. PASSED: go on with the next segment.
 */
static inline enum found search_segment(struct wefti_seg *seg, uint64_t link,
		uint32_t slot, int *all_dead, uint64_t *ticket)
{
	uint32_t known = wefti_seg_hint(&seg->front, link), i;
	enum found found = PASSED;

	for (i = known; i < WEFTI_SEG_CELLS && found == PASSED; i++) {
		uint64_t c = load_acquire(&seg->cell[i]);	/* P1, P7 */

		if (c <= WEFTI_LINK_TAG) {
			found = c == wefti_link_tag(link) ? NOTHING : STALE;
			break;
		}
		if (!wefti_seg_is_current(seg, link))
			return STALE;
		if (!wefti_wait_is_open(wefti_ticket_thread(c), c))
			continue;
		if (*all_dead && i != known)
			wefti_seg_set_hint(&seg->front, link, i);	/* I3 */
		*all_dead = 0;
		if (c >> WEFTI_TICKET_SEQ_BITS == slot)
			continue;
		*ticket = c;
		return FOUND;
	}
	if (*all_dead && i != known)
		wefti_seg_set_hint(&seg->front, link, i);	/* I3 */
	return found;
}

uint64_t wefti_waiters_find_in(struct wefti_waiters *q,
			       struct wefti_thread *self, uint32_t slot)
{
	uint64_t link = load_acquire(&q->first);	/* P2 */
	uint64_t ticket, next;
	int all_dead = 1;

	while (!wefti_link_is_none(link)) {
		struct wefti_seg *seg = wefti_seg_of(link);

		switch (search_segment(seg, link, slot, &all_dead, &ticket)) {
		case FOUND:
			return ticket;
		case NOTHING:
			return 0;
		case STALE:
			break;
		case PASSED:
			next = load_acquire(&seg->next);	/* P2, P7 */
			if (!wefti_seg_is_current(seg, link))
				break;
			if (wefti_link_is_none(next))
				return 0;
			if (!all_dead ||
			    wefti_seg_unlink(&q->first, link, self)) {
				link = next & ~WEFTI_LINK_MARK;
				continue;
			}
			break;
		}
		link = load_acquire(&q->first);	/* P2 */
		all_dead = 1;
	}
	return 0;
}

NOINLINE struct wefti_thread *wefti_waiters_claim_behind(
		struct wefti_waiters *q, struct wefti_thread *self)
{
	uint64_t ticket;

	while ((ticket = wefti_waiters_find_in(q, self, self->slot))) {
		struct wefti_thread *t = wefti_ticket_thread(ticket);

		if (likely(wefti_wait_claim(t, ticket))) {
			fetch_sub_relaxed(&q->count, 1);
			return t;
		}
	}
	return NULL;
}

void wefti_waiters_retire(struct wefti_waiters *q, struct wefti_thread *self,
			  const uint64_t place[2])
{
	struct wefti_seg *seg = wefti_seg_of(place[0]);
	uint64_t w;

	uncount(q, place[1]);
	w = load_relaxed(&seg->retired);
	do {
		if (w >> 32 != wefti_link_tag(place[0]))
			return;		/* the segment has left */
	} while (!cas_weak_relaxed(&seg->retired, &w, w + 1));
	if ((uint32_t)w + 1 == WEFTI_SEG_CELLS) {
		fence_seq_cst_after_rmw();	/* P8 */
		sweep(q, self);
	}
}

void wefti_waiters_end(struct wefti_waiters *q, struct wefti_thread *self)
{
	uint64_t link;

	while (!wefti_link_is_none(link = load_acquire(&q->first))) {	/* P2 */
		struct wefti_seg *seg = wefti_seg_of(link);

		if (!wefti_link_is_none(load_acquire(&seg->next)))  /* P2 */
			wefti_seg_unlink(&q->first, link, self);
		else if (cas_acq_rel(&q->first, &link, 0))	/* P2 */
			wefti_seg_free_rest(self, link);	/* I9 */
	}
	store_relaxed(&q->lone, (uint64_t)0);
	store_relaxed(&q->last, 0);
	store_relaxed(&q->count, ((load_relaxed(&q->count) >> 32) + 1) << 32);
}
