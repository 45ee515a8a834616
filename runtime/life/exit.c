/* SPDX-License-Identifier: MIT */
/*
 * life/exit.c - ends a thread
 *
 * Structure
 *   join        the join word of the thread: life/join.c has its states
 *   stat_ended  for each VCPU: how many threads have ended there
 *   main_waits  the ticket of main while it waits for the last thread, else 0
 *
 * Writers
 *   vcpu.stat_ended  count_end
 *
 * Invariants (those of the join word are in life/join.c)
 *   I1  A thread is DONE, and its end is counted, only after it has left its stack.
 *   I2  Ends are counted before threads made. So threads_running() may be too large, but
 *       0 only if there was a moment without a thread.
 *   I3  If main has stored its ticket and no thread is left, main or the last end sees
 *       that (P2). Several ends may wake main; the wait word takes the first one.
 *   I4  A body is given back from another stack, by the thread that runs next. If its
 *       thread is to keep it, that is at the release. So no thread runs on a body in the
 *       pool. A body is taken apart only once its timer is free (sched/timer.c).
 *
 * Linearization
 *   The end of a thread: at the CAS to DONE, or, if it is detached, where its generation
 *   becomes even. weft_wait_all(): at the moment of I2.
 *
 * Progress
 *   Lock-free: the CAS fails when a joiner has come or gone, or the thread was detached.
 *
 * ABA and reclamation
 *   After DONE the struct is the joiner's: it is not touched any more. A joiner's ticket
 *   names one wait, so a late wake-up ends no other wait.
 *
 * Pairs
 *   P1  exit stores DONE in the join word  ->  join loads it (life/join.c): the
 *       result, and that the thread has left its stack
 *   P2  an end is counted; light fence; load main_waits. main: its ticket is stored;
 *       heavy fence; it counts. If two ends find the ticket, each has a fence between its
 *       own count and its count of all. So one sees that all have ended
 *   P3  an end is counted  ->  threads_running loads it: the count of the threads that
 *       the ended thread has spawned
 *   P4  a release is counted  ->  wefti_threads_alive loads it: the same
 */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "life/life.h"
#include "life/pool.h"
#include "os/tls/tls.h"
#include "sched/idle.h"
#include "sched/park.h"
#include "sched/ready.h"
#include "sched/switch.h"
#include "thread/bare.h"
#include "thread/peek.h"
#include "weft/runtime.h"
#include "weft/thread.h"

static uint64_t threads_made(void)
{
	uint64_t made = load_seq_cst(&wefti_rt.foreign_made);

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		made += load_seq_cst(&wefti_vcpu_at(i)->stat_made);
	return made;
}

/*
 * What has gone is counted first: a thread that is spawned meanwhile, by one that ends
 * meanwhile, is then counted.
 */
uint64_t wefti_threads_alive(void)
{
	uint64_t released = load_seq_cst(&wefti_rt.foreign_released);	/* P4 */

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		released += load_seq_cst(&wefti_vcpu_at(i)->stat_released);	/* P4 */
	return threads_made() - released;
}

/* Those that have not ended, without main; as exact as wefti_threads_alive(). */
static uint64_t threads_running(void)
{
	uint64_t ended = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		ended += load_seq_cst(&wefti_vcpu_at(i)->stat_ended);	/* P3 */
	return threads_made() - ended;
}

/* A thread has ended while main waits for the last one: was this the last? */
static COLD void wake_main(void)
{
	uint64_t ticket = load_seq_cst(&wefti_rt.main_waits);

	fence_seq_cst();	/* P2 */
	if (ticket && threads_running() == 0)
		wefti_unpark(wefti_ticket_thread(ticket), ticket,
			     WEFTI_CAUSE_WOKEN);
}

static void count_end(struct wefti_vcpu *v)
{
	store_release(&v->stat_ended, load_relaxed(&v->stat_ended) + 1);	/* P3 */
	wefti_membarrier_light();	/* P2 */
	if (unlikely(load_relaxed(&wefti_rt.main_waits)))
		wake_main();
}

/*
 * NONE or a ticket -> DONE; after that the struct belongs to the joining thread.
 * Returns 0 if it is DETACHED and so stays ours: no thread may see it DONE then.
 */
static int make_done(struct wefti_thread *t, uint64_t *before)
{
	uint64_t done = wefti_join_word(load_relaxed(&t->gen),
					WEFTI_JOIN_DONE);
	uint64_t w = load_relaxed(&t->join);

	do {
		if (!wefti_join_is_ticket(w) &&
		    wefti_join_state(w) == WEFTI_JOIN_DETACHED)
			return 0;
	} while (!cas_weak_acq_rel(&t->join, &w, done)); /* P1; of join.c: P2 */
	*before = w;
	return 1;
}

/* Runs off t's stack, which t has left for good. */
static void post_exit(struct wefti_thread *t)
{
	struct wefti_vcpu *v = t->vcpu;	/* that of the thread that runs next */
	uint64_t ticket;

	wefti_sanitizer_drop(t->cold);
	if (likely(!t->keep))
		wefti_put_body(v, t);

	if (!make_done(t, &ticket)) {
		wefti_record(v, WEFTI_EVENT_RELEASED, 0, t, 0);
		wefti_thread_turn(t);
		wefti_release(v, t);
	} else if (wefti_join_is_ticket(ticket)) {
		wefti_unpark(wefti_ticket_thread(ticket), ticket,
			     WEFTI_CAUSE_WOKEN);
	}
	count_end(v);
}

/*
 * Chooses the thread that runs next. It is the parent, if that is still where the spawn
 * put it; or the joining thread, if that is parked (DONE is set before it goes on); or
 * the next ready thread. A thread that spawns and joins for ever comes by no queue here,
 * so the monitor asks for a FIFO turn if threads wait in the ring or are injected.
 */
static struct wefti_thread *choose_next(struct wefti_thread *self,
					struct wefti_vcpu *v)
{
	struct wefti_thread *parent = self->cold->parent, *next;
	uint64_t ticket = load_relaxed(&self->join);

	if (likely(load_relaxed(&v->resched) != WEFTI_FIFO_TURN)) {
		if (wefti_take_back(v, parent))
			return parent;
		if (wefti_join_is_ticket(ticket)) {
			struct wefti_thread *t = wefti_ticket_thread(ticket);

			/* It may have gone; its slot is another's then. */
			if (wefti_peek_kind(t) != WEFTI_KIND_FOREIGN &&
			    wefti_wait_resolve_parked(t, ticket,
						      WEFTI_CAUSE_WOKEN)) {
				wefti_record_ready(v, t);
				return t;
			}
		}
	}
	next = wefti_pick(v);
	return next ? next : v->kthread->sched;
}

/* Parks main until the last other thread may have ended. The last end finds the ticket. */
static enum wefti_cause park_main(struct wefti_thread *self, uint64_t flags,
				  int64_t deadline)
{
	uint64_t seq = wefti_park_begin(self, flags, WEFTI_WHY_JOIN, NULL);

	store_seq_cst(&wefti_rt.main_waits, wefti_ticket(self, seq));
	wefti_membarrier_heavy();	/* P2 */
	if (threads_running() == 0)
		wefti_unpark(self, seq, WEFTI_CAUSE_WOKEN);
	return wefti_park(self, deadline);
}

/* Joins are not waited for: when the last thread has ended, no other is left to join it. */
void wefti_exit_awaits_all(void)
{
	struct wefti_thread *self = wefti_enter();

	while (threads_running() > 0)
		park_main(self, 0, WEFT_FOREVER);
	store_seq_cst(&wefti_rt.main_waits, 0);
	wefti_leave(self);
}

static int wait_all(struct wefti_thread *self, int64_t deadline)
{
	const uint64_t timed = deadline == WEFT_FOREVER ? 0 : WEFTI_WAIT_TIMED;
	int error = 0;

	while (threads_running() > 0 && !error) {
		enum wefti_cause cause;

		if (deadline == WEFT_NO_WAIT)
			return -EAGAIN;
		if (wefti_is_cancelled(self))
			return -ECANCELED;
		cause = park_main(self, wefti_cancel_flag(self) | timed, deadline);
		error = cause == WEFTI_CAUSE_TIMEDOUT ? -ETIMEDOUT :
			cause == WEFTI_CAUSE_CANCELLED ? -ECANCELED : 0;
	}
	store_seq_cst(&wefti_rt.main_waits, 0);
	return threads_running() > 0 ? error : 0;
}

int weft_wait_all(int64_t deadline)
{
	struct wefti_thread *self;
	int error = -EPERM;

	if (load_seq_cst(&wefti_rt.state) != WEFTI_RT_ON)
		return -ESRCH;
	self = wefti_enter();
	if (self == wefti_rt.main)
		error = wait_all(self, deadline);
	wefti_leave(self);
	return error;
}

struct wefti_arch_next wefti_exit_from_main(void *result)
{
	struct wefti_thread *self = wefti_self(), *next;

	while (unlikely(self->cold->block_depth))
		weft_block_end();	/* ended inside a region, by a handler */
	if (!self->light && !self->keep)
		wefti_tls_thread_exit();
	if (unlikely(self->cold->keys))
		wefti_keys_destroy(self);
	wefti_enter_as(self);
	self->result = result;
	self->post = post_exit;
	next = choose_next(self, self->vcpu);
	wefti_sanitizer_leave(self);
	wefti_record_run(self->vcpu, next, WEFTI_LEFT_ENDED);
	wefti_take_seat(self->vcpu, self, next);
	if (wefti_is_sanitized)	/* a sanitizer counts returns, on the wrong stack here */
		wefti_arch_jump(&next->ctx, self);
	return (struct wefti_arch_next){ &next->ctx, self };
}

void weft_exit(void *result)
{
	struct wefti_thread *self = wefti_self();
	struct wefti_arch_next next;

	if (self && self->kind == WEFTI_KIND_MAIN) {
		wefti_exit_awaits_all();
		exit(0);
	}
	WEFT_CHECK(self && self->kind == WEFTI_KIND_GREEN,
		   "weft_exit() is for threads of weft; end this kernel thread "
		   "as it began: by a return or pthread_exit()");
	next = wefti_exit_from_main(result);
	wefti_arch_jump(next.to, next.value);
}
