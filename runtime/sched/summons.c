/* SPDX-License-Identifier: MIT */
/*
 * sched/summons.c - a wait is ended by whoever comes, however many do
 *
 * Who unparks resolves the wait and then makes the thread ready. A kernel thread
 * that is stopped between the two has the thread in its hands, and nobody can
 * help: made ready by two it would run twice. For those who wake threads that are
 * not their partners (a close; one that sends another back) it is turned round: a
 * ticket goes into the injection queue, as often as anybody likes, and who takes
 * it out resolves the wait and runs the thread, if the wait is still there.
 *
 * Structure
 *   A summons is a thread struct without a body, for its node and the ticket that
 *   it carries. In the injection queue its address has bit 0.
 *
 * States of a summons
 *   FREE     with the free thread structs
 *   QUEUED   in the injection queue
 *
 *   FREE --summon's push--> QUEUED --pick's pop--> FREE
 *
 * States of an episode (thread/wait.h): OPEN, SUMMONED, CLAIMED, over
 *
 *   OPEN --push, then CAS--> SUMMONED --answer's resolve--> over
 *   OPEN --answer's resolve--> over: its summoner is between push and CAS
 *   OPEN, FOREIGN --CAS--> SUMMONED, and open still --futex--> --resolve--> over
 *
 * Invariants
 *   I1  An episode that is SUMMONED and not FOREIGN has a summons in the queue, or
 *       who has popped it resolves it. So others need not come for it any more,
 *       and the loops that look for open tickets come to an end.
 *   I2  Each episode is resolved once (of wait.h: I3); a summons that comes later
 *       finds that its ticket is no more, and is nothing.
 *   I3  A FOREIGN thread that is SUMMONED resolves its own wait when it looks. It
 *       has been woken when anybody else does so here, and it sleeps no more.
 *   I4  There are no more summonses of an episode than callers that were between
 *       a look that showed it open and the CAS.
 *
 * Linearization
 *   At the resolve, wherever it is.
 *
 * Progress
 *   Lock-free, as the queue and the free list are. A caller that is stopped at any
 *   step delays nobody: before the CAS the ticket is open, and who finds it does
 *   the same; behind it nothing is left to do. Who pops is about to run the
 *   thread, as with any that is ready.
 *   Without memory for a summons it is an unpark.
 *
 * ABA and reclamation
 *   Tickets name an episode for ever (thread/wait.h), structs are type-stable.
 *
 * Pairs
 *   None of its own: what the summoner did before is seen by the queue's push and pop
 *   (fifo.c: P1), of a FOREIGN thread by wait.h's P2.
 *
 * Source
 *   Ours. That what is done twice should be harmless is helping as in M. Herlihy,
 *   "A methodology for implementing highly concurrent data objects", TOPLAS 1993.
 *   Model: tests/model/loom/c/wait.c.
 */
#include "sched/summons.h"

#include "sched/monitor.h"
#include "sched/park.h"
#include "thread/bare.h"

static struct wefti_thread *summons_of(void *item)
{
	return (struct wefti_thread *)((char *)item - 1);
}

/* QUEUED -> FREE. Returns its ticket. */
static uint64_t open_it(void *item, uint32_t node)
{
	struct wefti_thread *s = summons_of(item);
	uint64_t ticket = s->summoned;

	s->fifo_node = node;
	wefti_thread_bare_free(s);
	return ticket;
}

/* FREE -> QUEUED. Returns 0 when there is no memory. */
static int push(uint64_t ticket)
{
	struct wefti_thread *s = wefti_thread_bare(WEFTI_KIND_FREE, NULL);

	if (unlikely(!s))
		return 0;
	s->summoned = ticket;
	wefti_fifo_push(&wefti_rt.inject, s->fifo_node, (char *)s + 1);
	return 1;
}

/* By each who comes, until it has been done by one. */
static void summon_foreign(struct wefti_thread *t, uint64_t ticket)
{
	wefti_wait_summon(t, ticket);	/* I3 */
	wefti_wake_foreign(t);
	wefti_wait_resolve(t, ticket, WEFTI_CAUSE_WOKEN);	/* I3 */
}

/* Of a later episode it does not matter. */
static int is_foreign(const struct wefti_thread *t)
{
	uint64_t w = load_relaxed(&t->wait);

	return (w & WEFTI_WAIT_FOREIGN) &&
	       (w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE;
}

void wefti_summon(uint64_t ticket)
{
	struct wefti_thread *t = wefti_ticket_thread(ticket);
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (wefti_wait_resolve_armed(t, ticket, WEFTI_CAUSE_WOKEN))
		return;
	if (is_foreign(t)) {
		summon_foreign(t, ticket);
		return;
	}
	if (unlikely(!push(ticket))) {
		wefti_unpark(t, ticket, WEFTI_CAUSE_WOKEN);
		return;
	}
	wefti_wait_summon(t, ticket);	/* I1 */
	if (v && !load_relaxed(&v->resched))
		store_relaxed(&v->resched, WEFTI_LOOK_AGAIN);
	wefti_idle_notify();
	wefti_monitor_stir();	/* of idle.c: I4 */
}

struct wefti_thread *wefti_summons_answer(void *item, uint32_t node)
{
	uint64_t ticket = open_it(item, node);
	struct wefti_thread *t = wefti_ticket_thread(ticket);

	return wefti_wait_resolve(t, ticket, WEFTI_CAUSE_WOKEN) ==
		       WEFTI_WAS_PARKED ? t : NULL;
}

void wefti_summons_drop(void *item, uint32_t node)
{
	(void)open_it(item, node);
}
