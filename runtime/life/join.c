/* SPDX-License-Identifier: MIT */
/*
 * life/join.c - wait for a thread to end, or let it end alone
 *
 * The join word of a thread is NONE, the ticket of the one that joins,
 * DETACHED or DONE. Who wins the CAS of the generation from odd to even
 * releases the thread.
 *
 * Pairs
 *   P1  exit stores DONE  ->  join loads it (life/exit.c)
 *   P2  the joiner's ticket is stored  ->  exit's exchange: its wait has begun
 */
#include <errno.h>

#include "life/life.h"
#include "sched/park.h"
#include "thread/bare.h"
#include "weft/thread.h"

/* DONE was seen. Returns 0, or -ESRCH if another was first. */
static int claim(struct wefti_thread *self, struct wefti_thread *t,
		 uint64_t id, void **result)
{
	uint32_t gen = (uint32_t)(id >> 32);
	void *value = t->result;

	/* acquire comes from DONE; release: the next user of the slot */
	if (!cas_acq_rel(&t->gen, &gen, gen + 1))	/* P1 */
		return -ESRCH;
	if (result)
		*result = value;
	wefti_release(self->vcpu, t);
	return 0;
}

/* Waits until t is DONE. Returns 0 or an error of weft_join_until(). */
static int wait_done(struct wefti_thread *self, struct wefti_thread *t,
		     int64_t deadline)
{
	uint64_t none = WEFTI_JOIN_NONE;
	uint64_t flags = wefti_cancel_flag(self), seq, ticket;
	enum wefti_cause cause;

	if (wefti_is_cancelled(self))
		return -ECANCELED;
	if (deadline == WEFT_NO_WAIT)
		return -EAGAIN;
	if (deadline != WEFT_FOREVER)
		flags |= WEFTI_WAIT_TIMED;
	seq = wefti_park_begin(self, flags, WEFTI_WHY_JOIN, t);
	ticket = wefti_ticket(self, seq);
	if (!cas_acq_rel(&t->join, &none, ticket)) {	/* P2; of exit.c: P1 */
		wefti_park_end(self);
		/* P1 */
		return load_acquire(&t->join) == WEFTI_JOIN_DONE ? 0 : -EINVAL;
	}
	cause = wefti_park(self, deadline);
	if (cause == WEFTI_CAUSE_WOKEN)
		return 0;
	if (cas_acq_rel(&t->join, &ticket, WEFTI_JOIN_NONE))	/* P2 */
		return cause == WEFTI_CAUSE_TIMEDOUT ? -ETIMEDOUT : -ECANCELED;
	return 0;	/* it ended after all: P1 by the failed CAS's reload */
}

static int join(struct wefti_thread *self, uint64_t id, void **result,
		int64_t deadline)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint64_t word;
	int error;

	if (!t)
		return -ESRCH;
	if (t == self)
		return -EDEADLK;
	word = load_acquire(&t->join);	/* P1 */
	if (word == WEFTI_JOIN_NONE) {
		error = wait_done(self, t, deadline);
		if (error)
			return error;
		(void)load_acquire(&t->join);	/* P1 */
	} else if (word != WEFTI_JOIN_DONE) {
		return -EINVAL;
	}
	return claim(self, t, id, result);
}

int weft_join_until(uint64_t id, void **result, int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	int error = join(self, id, result, deadline);

	wefti_leave(self);
	return error;
}

int weft_join(uint64_t id, void **result)
{
	return weft_join_until(id, result, WEFT_FOREVER);
}

static int detach(struct wefti_thread *self, uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint64_t none = WEFTI_JOIN_NONE;

	if (!t)
		return -ESRCH;
	if (cas_acq_rel(&t->join, &none, WEFTI_JOIN_DETACHED))	/* P2 */
		return 0;
	if (load_acquire(&t->join) == WEFTI_JOIN_DONE)	/* P1 */
		return claim(self, t, id, NULL);
	return -EINVAL;
}

int weft_detach(uint64_t id)
{
	struct wefti_thread *self = wefti_enter();
	int error = detach(self, id);

	wefti_leave(self);
	return error;
}
