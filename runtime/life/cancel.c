/* SPDX-License-Identifier: MIT */
/*
 * life/cancel.c - asks a thread to end
 *
 * The request is a mark that stays. It is made from the thread's generation, and the
 * generation is looked at again after the wait word. So a request for a thread that
 * ends meanwhile does not hit the next thread in its slot, unless the canceller stops
 * between two instructions while a multiple of 255 threads use the slot.
 *
 * Structure
 *   cancel       the mark: 0, or 8 bits made from the generation that is meant
 *   cancel_hold  the thread's own count of weft_cancel_hold()
 *
 * States
 *   LIVE   the mark is 0, or of another generation
 *   ASKED  the mark is of this generation; it stays
 *
 *   LIVE --mark--> ASKED --spawn, for the next thread of the slot--> LIVE
 *
 * Writers
 *   thread.cancel  mark; bare.c: wefti_thread_bare; spawn.c: unite
 *
 * Invariants
 *   I1  A mark is stored only after the generation was found in the same attempt, and a
 *       thread takes only its own generation's for a request.
 *   I2  A thread that is ASKED and parks in a cancellable wait does not stay parked: it
 *       sees the mark itself, or a canceller sees its wait (P1).
 *   I3  A wait is ended only if the generation is still the one that is meant, after the
 *       word was read.
 *
 * Linearization
 *   weft_cancel(): at the CAS of the mark, or at the load of a mark that is there. -ESRCH:
 *   at the load of another generation.
 *
 * Progress
 *   Lock-free: a CAS of the mark fails if another canceller has set it, or a spawn has
 *   cleared it. The heavy fence is a system call, and waits for no thread of weft's.
 *
 * ABA and reclamation
 *   Structs are type-stable. The mark has 8 bits of the generation, so I1 holds unless
 *   a canceller stops as said above.
 *
 * Pairs
 *   P1  here: the mark; heavy fence; load of the wait word. wefti_park(): the
 *       wait has begun; light fence; load of the mark. One of the two sees the
 *       other. (Cancellations are rare, and may cost a system call.)
 *
 * Source
 *   Ours. The fences are those of an asymmetric Dekker protocol, by membarrier(2).
 */
#include <errno.h>

#include "sched/park.h"
#include "thread/bare.h"
#include "weft/thread.h"

/* Returns 0, or -ESRCH if the thread of that generation has ended. */
static int mark(struct wefti_thread *t, uint32_t gen)
{
	uint8_t m = wefti_cancel_mark(gen), old = load_relaxed(&t->cancel);

	do {
		if (load_seq_cst(&t->gen) != gen)
			return -ESRCH;
	} while (old != m && !cas_weak_seq_cst(&t->cancel, &old, m));
	return 0;
}

static int cancel(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint32_t gen = (uint32_t)(id >> 32);
	uint64_t w;

	if (!t || mark(t, gen) != 0)
		return -ESRCH;
	wefti_membarrier_heavy();	/* P1; of park.c: P1; of park.c: P2 */
	w = load_seq_cst(&t->wait);
	if (w & WEFTI_WAIT_CANCELLABLE && load_seq_cst(&t->gen) == gen)
		wefti_park_cancel(t, w >> WEFTI_WAIT_SEQ_SHIFT);
	return 0;
}

int weft_cancel(uint64_t id)
{
	struct wefti_thread *self = wefti_enter();
	int error = cancel(id);

	wefti_leave(self);
	return error;
}

int weft_is_cancelled(void)
{
	return wefti_cancel_is_asked(wefti_known_self());
}

void weft_cancel_hold(void)
{
	wefti_known_self()->cold->cancel_hold++;
}

void weft_cancel_release(void)
{
	struct wefti_cold *body = wefti_known_self()->cold;

	if (body->cancel_hold)
		body->cancel_hold--;
}
