/* SPDX-License-Identifier: MIT */
/*
 * sched/summons.c - a wait is ended by a summons, which any number of threads may send
 *
 * An unpark resolves the wait and then makes the thread ready. A kernel thread that is
 * stopped between the two holds the thread, and no other can help: if two made the
 * thread ready, it would run twice. So threads that wake threads other than their
 * partners (a close; a waiter that sends another back) do it in the other order. A
 * ticket goes into the injection queue, any number of times. The VCPU that takes it out
 * resolves the wait, and runs the thread if the wait was still open.
 *
 * Structure
 *   A summons is a thread struct without a body, used for its node and for the ticket
 *   that it carries. In the injection queue its address has bit 0 set.
 *
 * States of a summons
 *   FREE     among the free thread structs
 *   QUEUED   in the injection queue
 *
 *   FREE --push by wefti_summon--> QUEUED --pop by a pick--> FREE
 *
 * States of an episode (thread/wait.h): OPEN, SUMMONED, CLAIMED, over
 *
 *   OPEN --push, then CAS--> SUMMONED --answer's resolve--> over
 *   OPEN --answer's resolve--> over: the summoner is between its push and its CAS
 *   OPEN, FOREIGN --CAS--> SUMMONED, and still open --futex--> --resolve--> over
 *
 * Invariants
 *   I1  An episode that is SUMMONED and not FOREIGN has a summons in the queue, or the
 *       VCPU that has popped it resolves the episode. So others need not summon it any
 *       more, and the loops that look for open tickets end.
 *   I2  Each episode is resolved once (of wait.h: I3). A summons that comes later finds
 *       that its ticket is over, and has no effect.
 *   I3  A FOREIGN thread that is SUMMONED resolves its own wait when it looks. If
 *       another thread resolves the wait here, it has woken the thread before, which
 *       sleeps no more.
 *   I4  An episode has at most as many summonses as there were callers between a look
 *       that showed it open and their CAS.
 *
 * Linearization
 *   At the resolve, on whichever thread.
 *
 * Progress
 *   Lock-free, as the queue and the free list are. A caller that is stopped at any
 *   step delays no other thread. Before its CAS the ticket is open, and the next
 *   caller does the same; after it nothing is left to do. The VCPU that pops is
 *   about to run the thread, as with any ready thread.
 *   Without memory for a summons it is an unpark.
 *
 * ABA and reclamation
 *   Tickets name an episode for ever (thread/wait.h), structs are type-stable.
 *
 * Pairs
 *   None of its own. What the summoner did before is seen through the queue's push and
 *   pop (fifo.c: P1); by a FOREIGN thread, through wait.h's P2.
 *
 * Source
 *   Ours. That an action done twice should be harmless is helping as in M. Herlihy,
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

/* FREE -> QUEUED. Returns 0 if there is no memory. */
static int push(uint64_t ticket)
{
	struct wefti_thread *s = wefti_thread_bare(WEFTI_KIND_FREE, NULL);

	if (unlikely(!s))
		return 0;
	s->summoned = ticket;
	s->node.seq = wefti_records_any() ? wefti_recorder_self() : 0;
	wefti_fifo_push(&wefti_rt.inject, s->fifo_node, (char *)s + 1);
	return 1;
}

/* Done by each caller, until one of them has succeeded. */
static void summon_foreign(struct wefti_thread *t, uint64_t ticket)
{
	wefti_wait_summon(t, ticket);	/* I3 */
	wefti_wake_foreign(t);
	wefti_wait_resolve(t, ticket, WEFTI_CAUSE_WOKEN);	/* I3 */
}

/* For a later episode the answer does not matter. */
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
	wefti_idle_announce();
	wefti_monitor_wake_if_asleep();	/* of idle.c: I4 */
}

struct wefti_thread *wefti_summons_answer(void *item, uint32_t node)
{
	uint64_t by = summons_of(item)->node.seq;
	uint64_t ticket = open_it(item, node);
	struct wefti_thread *t = wefti_ticket_thread(ticket);
	struct wefti_vcpu *v = wefti_self()->vcpu;

	if (wefti_wait_resolve(t, ticket, WEFTI_CAUSE_WOKEN) != WEFTI_WAS_PARKED)
		return NULL;
	WEFTI_PROBE_THREAD(WEFTI_EVENT_READY, t, v);
	if (wefti_records_any())
		wefti_recorded_injected(v, t, by);
	return t;
}

void wefti_summons_drop(void *item, uint32_t node)
{
	(void)open_it(item, node);
}
