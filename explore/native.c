/* SPDX-License-Identifier: MIT */
/*
 * explore/native.c - weft's own threads: the runtime asks here which of them runs next
 *
 * With WEFT_SCHED=explore the runtime has one VCPU, and asks at each switch (sched/explore.c).
 * So the waits of the runtime are explored, which the program will run on. What the runtime
 * lacks are points, as a lock that is free is taken without a look at other threads. So
 * each public call yields before it begins (native_calls.c), and the choice may be to go on.
 * Strategies, lists of choices and searches are those of schedule.c.
 *
 * States of a thread
 *   READY    yields at a point, or is in the runtime's queue of ready threads
 *   BLOCKED  any other that has not ended: it is parked. (The one that runs, too, until it
 *            is asked about.)
 *   ENDED    is to be joined
 *
 * Invariants
 *   I1  The data of this library are the running thread's. There is one VCPU, and a thread gives
 *       it away in the runtime alone. A kernel thread that is not the VCPU's has no struct
 *       here, and changes nothing.
 *   I2  The holder is the thread that was chosen last. A child that the runtime has
 *       begun in the place of its parent makes itself the holder at its first point.
 *   I3  Nothing depends on an id, which has the number of a slot in it.
 *
 * Which waiting thread a wake-up is for is the runtime's to say: in most cases the first.
 *
 * Rejected: tries and waits of this library's own, as for pthreads. Then the waits of the
 * runtime would not be explored. Rejected: a draw at each point whether to yield. Then a
 * list of choices says nothing of the draw.
 */
#include "native.h"

#include <errno.h>
#include <string.h>

#include "export.h"
#include "race.h"
#include "start.h"
#include "weft.h"

#define IDS	4096u	/* a table of the threads that were found last */

static struct wefti_ex_thread *first;	/* the one that starts the runtime */
static struct wefti_ex_thread *by_id[IDS];
static struct wefti_ex_thread *unused;	/* structs, for other threads */

static int is_at_point;		/* the holder yields, and may be chosen */
static int goes_on;		/* it was: the runtime asks twice */

/* What the runtime calls, if it finds it. */
unsigned weft_explore_pick(const uint64_t *ready, unsigned n, int64_t earliest);
int weft_explore_any(void);
void weft_explore_deadlock(int is_told);

void wefti_ex_native_begin(void)
{
	first = wefti_ex.all;
	wefti_ex_self = NULL;	/* calls of libc's functions are no points */
	wefti_ex.holder = NULL;
}

static struct wefti_ex_thread *find(uint64_t id)
{
	struct wefti_ex_thread **place = &by_id[(id ^ id >> 32) % IDS], *t;

	if (*place && (*place)->id == id)
		return *place;
	for (t = wefti_ex.all; t && t->id != id; t = t->next)
		;
	if (t)
		*place = t;
	return t;
}

/* I1 */
struct wefti_ex_thread *wefti_ex_native_current(void)
{
	struct wefti_ex_thread *self;

	if (!wefti_ex.holder || NEXT(weft_vcpus)() == 0)
		return NULL;
	self = find(NEXT(weft_self)());
	if (self)
		wefti_ex.holder = self;		/* I2 */
	return self;
}

void wefti_ex_native_started(void)
{
	if (!first)
		return;
	first->id = NEXT(weft_self)();
	first->state = WEFTI_EX_READY;
	wefti_ex.holder = first;
}

static struct wefti_ex_thread *make(const struct wefti_ex_call *call)
{
	struct wefti_ex_thread *t = unused, before;

	if (!t || t == wefti_ex.holder)
		return wefti_ex_thread_make(call);
	unused = t->next;
	before = *t;
	memset(t, 0, sizeof(*t));
	t->clock = before.clock;	/* their memory */
	t->seen = before.seen;
	t->fenced = before.fenced;
	t->frames = before.frames;
	t->frame_room = before.frame_room;
	wefti_ex_clocks_begin(t);
	t->call = *call;
	t->deadline = WEFTI_EX_NEVER;
	return t;
}

/* A thread that no function of native_calls.c has made. */
static struct wefti_ex_thread *known(uint64_t id)
{
	static const struct wefti_ex_call none;
	struct wefti_ex_thread *t = find(id);

	if (t)
		return t;
	t = make(&none);
	t->id = id;
	wefti_ex_add(t);
	return t;
}

/* All that are ready, in the order of creation. */
static unsigned collect(const uint64_t *ids, unsigned n, struct wefti_ex_thread **ready)
{
	unsigned count = 0;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_READY && !(is_at_point && t == wefti_ex.holder))
			t->state = WEFTI_EX_BLOCKED;
	for (unsigned i = 0; i < n; i++)
		known(ids[i])->state = WEFTI_EX_READY;
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_READY && count < WEFTI_EX_THREADS)
			ready[count++] = t;
	return count;
}

static unsigned place_of(const uint64_t *ids, unsigned n, uint64_t id)
{
	unsigned i = 0;

	while (i < n && ids[i] != id)
		i++;
	return i;
}

/* earliest: deadline of all waits, or INT64_MAX */
EXPORT unsigned weft_explore_pick(const uint64_t *ids, unsigned n, int64_t earliest)
{
	static struct wefti_ex_thread *ready[WEFTI_EX_THREADS];
	struct wefti_ex_thread *self = wefti_ex.holder, *next;
	unsigned count;

	if (goes_on || !self)
		return goes_on ? n : 0;
	wefti_ex_native_is_on_vcpu();
	count = collect(ids, n, ready);
	if (count == 0)
		return n;
	wefti_ex_begin_choice(self);
	wefti_ex_pass_time(self, wefti_ex_native_ns(earliest));
	next = wefti_ex_choose(self, ready, count);
	goes_on = is_at_point && next == self;
	is_at_point = 0;
	wefti_ex.holder = next;
	return goes_on ? n : place_of(ids, n, next->id);
}

/* Whether an unlock hands a mutex over, in the place of its waiter's age. */
EXPORT int weft_explore_any(void)
{
	struct wefti_ex_thread *self = wefti_ex_native_current();
	int is;

	if (!self)
		return 0;
	wefti_ex_fork_of(self, 'h', NULL, 0, 0);
	is = wefti_ex_has_list() ? wefti_ex_listed(self, 'h') != 0 :
				   wefti_ex.early && wefti_ex_random() % wefti_ex.early == 0;
	if (is) {
		wefti_ex_chosen(self, 'h', 0);
		wefti_ex_past_choice(self, NULL);
	}
	return is;
}

/* is_told: the runtime has written its dump, which weft explore has no use for. */
EXPORT void weft_explore_deadlock(int is_told)
{
	if (wefti_ex.holder && (is_told || wefti_ex.is_watched))
		wefti_ex_stuck(WEFTI_EX_DEADLOCK);
}

static void step(struct wefti_ex_thread *self, enum wefti_ex_op op, const void *where)
{
	if (self->native.stays)
		return;
	self->op = op;
	self->where = where;
	self->state = WEFTI_EX_READY;
	is_at_point = 1;
	self->asked = 0;
	NEXT(weft_yield)();
	is_at_point = goes_on = 0;
	wefti_ex_note(self, op, self->object, where);
	self->choices_at_step = self->choices;
}

struct wefti_ex_thread *wefti_ex_native_point(enum wefti_ex_op op, const void *at,
					      enum wefti_ex_kind kind, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_native_current();
	const int kept = errno;

	if (!self)
		return NULL;
	self->peer = 0;
	self->object = at ? wefti_ex_object(at, kind, where) : NULL;
	step(self, op, where);
	errno = kept;
	return self;
}

void wefti_ex_native_touches(struct wefti_ex_thread *self, enum wefti_ex_op op,
			     const volatile void *at, const void *where)
{
	const int kept = errno;

	if (self->native.stays)
		return;
	self->peer = 0;
	self->object = wefti_ex_location(at);
	step(self, op, where);
	errno = kept;
}

struct wefti_ex_thread *wefti_ex_native_point_of(enum wefti_ex_op op, uint64_t id,
						 const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_native_current(), *peer;
	const int kept = errno;

	if (!self)
		return NULL;
	peer = find(id);
	self->peer = peer ? peer->number : 0;
	self->object = NULL;
	step(self, op, where);
	errno = kept;
	return self;
}

int wefti_ex_native_did(struct wefti_ex_thread *self, int result)
{
	if (!self)
		return result;
	wefti_ex.holder = self;
	if (self->choices != self->choices_at_step)	/* it has waited */
		wefti_ex_past(self, self->op, self->object);
	self->fruitless += result == -EBUSY || result == -EAGAIN || result == -ETIMEDOUT;
	return result;
}

struct wefti_ex_thread *wefti_ex_native_make(const struct wefti_ex_call *call,
					     int is_detached)
{
	struct wefti_ex_thread *t;

	if (!wefti_ex_native_current())
		return NULL;
	t = make(call);
	t->op = WEFTI_EX_BEGIN;
	t->is_detached = is_detached;
	wefti_ex_add(t);
	wefti_ex_begins_after(t, wefti_ex.holder);
	return t;
}

void wefti_ex_native_enters(struct wefti_ex_thread *t)
{
	t->id = NEXT(weft_self)();
	wefti_ex.holder = t;
	wefti_ex_native_stack_begins(t);
	/* As the other places: an address behind an instruction. */
	step(t, WEFTI_EX_BEGIN, (const char *)t->call.entry + 1);
}

void wefti_ex_native_forget(struct wefti_ex_thread *t)
{
	wefti_ex_remove(t);
	t->id = 0;
	t->next = unused;
	unused = t;
}

void wefti_ex_native_ends(void)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_END, NULL,
							     WEFTI_EX_NOTHING, NULL);

	if (!self)
		return;
	if (self->call.group)	/* the search: a wait for the group sees it */
		wefti_ex_past(self, WEFTI_EX_END,
			      wefti_ex_object(self->call.group, WEFTI_EX_GROUP, NULL));
	wefti_ex_give(self, self);
	wefti_ex_native_gives_end(self);
	wefti_ex_native_stack_ends(self);
	self->state = WEFTI_EX_ENDED;
	if (self->is_detached)
		wefti_ex_native_forget(self);
}

void wefti_ex_native_joined(uint64_t id)
{
	struct wefti_ex_thread *t = wefti_ex_native_current() ? find(id) : NULL;

	if (!t)
		return;
	wefti_ex_take(wefti_ex.holder, t);
	wefti_ex_native_forget(t);
}

void wefti_ex_native_cancels(struct wefti_ex_thread *self, uint64_t id)
{
	struct wefti_ex_thread *t = self ? find(id) : NULL;

	if (t)
		wefti_ex_begins_after(t, self);
}

void wefti_ex_native_detached(uint64_t id)
{
	struct wefti_ex_thread *t = wefti_ex_native_current() ? find(id) : NULL;

	if (t && t->state == WEFTI_EX_ENDED)
		wefti_ex_native_forget(t);
	else if (t)
		t->is_detached = 1;
}
