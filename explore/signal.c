/* SPDX-License-Identifier: MIT */
/*
 * explore/signal.c - signals that threads send to threads: when they come is a choice
 *
 * The sender only notes the signal. Its thread gets it with its next turn, so the strategy
 * says when: before, between or behind any steps of others. A handler runs with the turn, and
 * what it calls are points. A wait that a signal interrupts ends, as POSIX has it.
 *
 * Signals of the process, of timers and of other processes come when they come.
 */
#include "explore.h"

#include <errno.h>

#include "real.h"

/* What the handler of a signal that comes now does to a wait. */
static int interrupts(int number)
{
	struct sigaction action;
	sigset_t mask;

	if (REAL(pthread_sigmask)(SIG_BLOCK, NULL, &mask) != 0 ||
	    sigismember(&mask, number) || sigaction(number, NULL, &action) != 0 ||
	    action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL)
		return 0;
	return action.sa_flags & SA_RESTART ? WEFTI_EX_HANDLED :
					      WEFTI_EX_HANDLED | WEFTI_EX_NO_RESTART;
}

static void get(struct wefti_ex_thread *self, int number)
{
	const struct wefti_ex_thread before = *self;
	const struct wefti_ex_object object = before.object ? *before.object :
						(struct wefti_ex_object){ 0 };
	int how;

	self->peer = self->sender;
	wefti_ex_note(self, WEFTI_EX_HANDLE, NULL, before.where);
	how = interrupts(number);
	(void)REAL(pthread_kill)(pthread_self(), number);	/* the handler runs here */
	self->op = before.op;
	self->object = before.object ? wefti_ex_object_again(&object) : NULL;
	self->where = before.where;
	self->peer = before.peer;
	self->waits_at = before.waits_at;
	self->is_timed_out = before.is_timed_out;
	self->is_signalled = before.is_signalled;
	self->is_interrupted |= how;
}

void wefti_ex_deliver(struct wefti_ex_thread *self)
{
	const int kept = errno;

	while (self->signals) {
		const int number = __builtin_ctzll(self->signals) + 1;

		self->signals &= self->signals - 1;
		get(self, number);
	}
	errno = kept;
}

EXPORT int pthread_kill(pthread_t id, int number)
{
	struct wefti_ex_thread *self = wefti_ex_controlled(), *t;

	t = self ? wefti_ex_find(id) : NULL;
	if (!t || number < 0 || number > 64)
		return REAL(pthread_kill)(id, number);
	wefti_ex_point_of(self, WEFTI_EX_KILL, t->number, CALLER);
	t = wefti_ex_find(id);
	if (!t || t->state == WEFTI_EX_ENDED || !number)
		return REAL(pthread_kill)(id, number);
	wefti_ex_begins_after(t, self);
	t->signals |= UINT64_C(1) << (number - 1);
	t->sender = self->number;
	if (t == self)
		wefti_ex_deliver(self);
	else if (t->state == WEFTI_EX_BLOCKED)
		t->state = WEFTI_EX_READY;	/* its wait looks again, or ends */
	return 0;
}
