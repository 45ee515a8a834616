/* SPDX-License-Identifier: MIT */
/*
 * explore/fork.c - where a run had a choice, and what had happened before it
 *
 * The past of a step is a hash of the steps that happened before it: of its own thread, and on
 * its object. The past of a run is the sum of these, which does not depend on the order of
 * steps that are on different objects. Two runs with the same past are at the same state, if
 * all that their threads share is an object of a step.
 *
 * A step of a thread that has waited counts again at the end of the wait: the threads that
 * wait for a lock try again in an order of their own. Descriptors are one object together, and
 * with them the channels of native.c, of which one call may take several.
 *
 * Source
 *   M. Musuvathi, S. Qadeer, "Partial-order reduction for context-bounded state exploration",
 *   MSR-TR-2007-12: orders by happens-before in the place of states.
 */
#include "explore.h"

#include "start.h"

static uint64_t run_past;
static uint64_t descriptors;

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0x632be59bd9b4e019);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct wefti_ex_thread *find(uint32_t number)
{
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->number == number)
			return t;
	return NULL;
}

static uint64_t *shared_by(enum wefti_ex_op op, struct wefti_ex_object *object)
{
	if (op == WEFTI_EX_IN || op == WEFTI_EX_OUT || op == WEFTI_EX_POLL ||
	    op == WEFTI_EX_CHILD || op == WEFTI_EX_FILE_LOCK || op == WEFTI_EX_FILE_UNLOCK ||
	    op == WEFTI_EX_CONNECT || op == WEFTI_EX_SEND || op == WEFTI_EX_RECEIVE ||
	    op == WEFTI_EX_SEMOP || op == WEFTI_EX_OPEN || op == WEFTI_EX_CHAN_SEND ||
	    op == WEFTI_EX_CHAN_RECEIVE || op == WEFTI_EX_CLOSE || op == WEFTI_EX_CLOSE_FD ||
	    op == WEFTI_EX_ALT)
		return &descriptors;
	return object ? &object->past : NULL;
}

void wefti_ex_past(struct wefti_ex_thread *self, enum wefti_ex_op op,
		   struct wefti_ex_object *object)
{
	struct wefti_ex_thread *peer;
	uint64_t *shared, past;

	if (!wefti_ex.has_forks)
		return;
	shared = shared_by(op, object);
	peer = self->peer ? find(self->peer) : NULL;
	past = mix(mix(self->past, self->number), op);
	past = mix(past, object ? object->number : 0);
	past = mix(past, shared ? *shared : 0);
	past = mix(past, peer ? peer->past : 0);
	self->past = past;
	if (shared)
		*shared = past;
	if (peer && op != WEFTI_EX_JOIN)
		peer->past = mix(peer->past, past);
	run_past += past;
}

/* Which thread a signal has woken, or (0) that a deadline has come early. */
void wefti_ex_past_choice(struct wefti_ex_thread *by, struct wefti_ex_thread *chosen)
{
	run_past += mix(by->past, chosen ? chosen->number : 0);
	if (chosen)
		chosen->past = mix(chosen->past, by->past);
}

void wefti_ex_fork_of(const struct wefti_ex_thread *by, char what,
		      struct wefti_ex_thread **ready, unsigned n, uint32_t plain)
{
	struct wefti_ex_shared *shared = wefti_ex_shared;
	const int yields = what == 'r' && by->state == WEFTI_EX_READY && wefti_ex_yields(by);
	uint32_t *word;

	if (!wefti_ex.has_forks || !shared || (yields && n == 2))
		return;
	if (shared->fork_words + WEFTI_EX_FORK + n >= WEFTI_EX_FORK_WORDS) {
		shared->fork_words = WEFTI_EX_FORK_WORDS;
		return;
	}
	word = shared->fork + shared->fork_words;
	shared->fork_words += WEFTI_EX_FORK + n;
	*word++ = by->number;
	*word++ = by->choices;
	*word++ = (uint32_t)(unsigned char)what;
	*word++ = (uint32_t)run_past;
	*word++ = (uint32_t)(run_past >> 32);
	*word++ = plain;
	*word++ = what != 'r' || (by->state == WEFTI_EX_READY && !yields);
	*word++ = n - (unsigned)yields;
	for (unsigned i = 0; i < n; i++)
		if (!yields || ready[i] != by)
			*word++ = ready[i]->number;
}
