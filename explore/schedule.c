/* SPDX-License-Identifier: MIT */
/*
 * explore/schedule.c - one thread has the turn; at each step a strategy says which
 *
 * Structure
 *   The threads are libc's. Each one has a semaphore of its own, `turn`, and waits for it
 *   until the strategy chooses the thread. So at each instant at most one thread of the
 *   program is ready, and the kernel's order of ready threads decides nothing.
 *
 * States of a thread
 *   READY    has the turn, or would run if it got the turn
 *   BLOCKED  waits at an address, or for a deadline
 *   ENDED    is joined, or will be
 *
 *   READY --block--> BLOCKED --wake_all, wake_one, a deadline--> READY --leave--> ENDED
 *
 * Invariants
 *   I1  All data of this library is the holder's, but for what "Writers" lists. A thread gets
 *       the turn by the post of its semaphore, which orders what the last holder wrote.
 *   I2  Behind its post the last holder touches nothing but its own semaphore.
 *   I3  The hash depends on numbers of threads and objects alone, on no address and no
 *       time of the machine's.
 *   I4  A choice is not interrupted by another one. A handler may run in the middle of it, in
 *       the holder: while is_choosing is set, its calls are the next library's alone.
 *
 * Writers
 *   holder       give(), by the last holder, before its post; wefti_ex_leave() of the last
 *                thread; the start; the child of a fork, which has one thread.
 *   leaving      wefti_ex_leave(), before the post; await_exit(), by the next holder.
 *   is_choosing  choose_alone(), by the holder.
 *   turn         give() posts it; its own thread alone waits for it. So a post is never lost,
 *                and none is taken by another thread: one semaphore for all threads would
 *                let the kernel choose the next one.
 *   Threads without the turn read holder and is_choosing in wefti_ex_controlled(). Each
 *   compares the holder with itself. A thread is made the holder by another thread only while it
 *   waits for its turn, and it stops being the holder by its own give(). So it may read an
 *   old holder, but never wrongly that it has the turn. A thread that was
 *   created without the turn has no struct, and compares nothing.
 *
 * Linearization
 *   A turn passes at the post of `turn`. A step is the call that its thread makes next.
 *
 * Progress
 *   Blocking, as it is meant to be: the holder alone runs. A holder that never comes to a
 *   point keeps the turn, and weft ends the run when it is late.
 *
 * Source: CHESS (Musuvathi and others, OSDI 2008). Rejected designs: doc/explore.md.
 */
#include "explore.h"

#include <errno.h>
#include <sys/syscall.h>

#include "real.h"

#define EXIT_YIELDS	10000u	/* an exit needs one or two */

struct wefti_ex_state_of_run wefti_ex;
__thread struct wefti_ex_thread *wefti_ex_self;

static void hash(uint64_t value)
{
	uint64_t h = (wefti_ex.report->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);

	wefti_ex.report->hash = h ^ h >> 29;
}

void wefti_ex_add(struct wefti_ex_thread *t)
{
	t->number = (uint32_t)++wefti_ex.report->threads;
	t->next = NULL;
	if (wefti_ex.last)
		wefti_ex.last->next = t;
	else
		wefti_ex.all = t;
	wefti_ex.last = t;
	if (t->number == 2)
		wefti_ex_strategy_begin(wefti_ex.strategy, wefti_ex.seed);
	if (t->number > 1)
		wefti_ex_strategy_thread(t);
}

void wefti_ex_remove(struct wefti_ex_thread *t)
{
	struct wefti_ex_thread **link = &wefti_ex.all, *before = NULL;

	while (*link && *link != t) {
		before = *link;
		link = &before->next;
	}
	if (!*link)
		return;
	*link = t->next;
	if (wefti_ex.last == t)
		wefti_ex.last = before;
}

int wefti_ex_no_cancel(void)
{
	int state;

	REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void wefti_ex_cancel_again(int state)
{
	REAL(pthread_setcancelstate)(state, NULL);
}

/*
 * A holder that has ended frees memory behind its post. So the next one waits until the
 * kernel thread is gone: malloc() is to return the same addresses in each run. The main
 * thread stays a zombie, so it is not awaited. A destructor behind the library's own may
 * wait for a lock that a thread without the turn holds, so it is not awaited for ever.
 */
static void await_exit(void)
{
	const pid_t pid = getpid();

	for (unsigned i = 0; i < EXIT_YIELDS && wefti_ex.leaving != pid &&
	     REAL(syscall)(SYS_tgkill, pid, wefti_ex.leaving, 0) == 0; i++)
		(void)REAL(sched_yield)();
	wefti_ex.leaving = 0;
}

void wefti_ex_wait_turn(struct wefti_ex_thread *self)
{
	const int kept = errno, state = wefti_ex_no_cancel();

	while (self->suspends ? wefti_ex_wait_suspended(self) : REAL(sem_wait)(&self->turn))
		;	/* a handler has run */
	if (wefti_ex.leaving)
		await_exit();
	wefti_ex_cancel_again(state);
	errno = kept;
}

static unsigned collect(struct wefti_ex_thread **ready)
{
	unsigned n = 0;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_READY && n < WEFTI_EX_THREADS)
			ready[n++] = t;
	return n;
}

static int all_have_ended(void)
{
	for (const struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state != WEFTI_EX_ENDED)
			return 0;
	return 1;
}

/*
 * BLOCKED -> READY, for each thread whose semaphore was posted without a turn: by a handler,
 * or by another process. A post with the turn has woken the thread before.
 */
static void wake_posted(void)
{
	int value;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->op == WEFTI_EX_TAKE &&
		    sem_getvalue((sem_t *)(uintptr_t)t->waits_at, &value) == 0 && value > 0)
			t->state = WEFTI_EX_READY;
}

struct wefti_ex_thread *wefti_ex_choose(struct wefti_ex_thread *self,
					struct wefti_ex_thread **ready, unsigned n)
{
	struct wefti_ex_thread *plain, *next;

	plain = wefti_ex_plain(ready, n, self);
	if (n > 1)
		wefti_ex_fork_of(self, 'r', ready, n, plain->number);
	next = n == 1 ? ready[0] : wefti_ex_pick(ready, n, self);
	if (next != plain)
		wefti_ex_chosen(self, 'r', next->number);
	hash(next->number);
	if (next == self) {
		self->in_row += n > 1;
		return next;
	}
	next->in_row = next->fruitless = 0;
	wefti_ex.report->switches++;
	return next;
}

void wefti_ex_begin_choice(struct wefti_ex_thread *self)
{
	wefti_ex.report->steps++;
	if (wefti_ex_count_step(self) > wefti_ex.steps_most)
		wefti_ex_stuck(WEFTI_EX_HANG);
	self->choices++;
}

/* NULL: all threads have ended. */
static struct wefti_ex_thread *choose(struct wefti_ex_thread *self)
{
	static struct wefti_ex_thread *ready[WEFTI_EX_THREADS];
	unsigned n;

	wefti_ex_begin_choice(self);
	wefti_ex_pass_time(self, wefti_ex_earliest());
	wefti_ex_expire();
	wefti_ex_wake_without_reason(self);
	wake_posted();
	if (wefti_ex.watches)
		(void)wefti_ex_descriptors(0);
	n = collect(ready);
	if (n == 0) {
		const int64_t first = wefti_ex_earliest();

		if (first == WEFTI_EX_NEVER) {
			if (all_have_ended())
				return NULL;
			if (!wefti_ex_descriptors(1))
				wefti_ex_stuck(WEFTI_EX_DEADLOCK);
		} else if (!wefti_ex_child_ends_in(first - wefti_ex.now)) {
			wefti_ex.now = first;
			wefti_ex_expire();
		}
		n = collect(ready);
	}
	return wefti_ex_choose(self, ready, n);
}

static void give(struct wefti_ex_thread *next)
{
	wefti_ex.holder = next;
	(void)REAL(sem_post)(&next->turn);	/* I2 */
}

/* I4 */
static struct wefti_ex_thread *choose_alone(struct wefti_ex_thread *self)
{
	struct wefti_ex_thread *next;

	wefti_ex.is_choosing = 1;
	next = choose(self);
	wefti_ex.is_choosing = 0;
	return next;
}

static void choose_and_wait(struct wefti_ex_thread *self)
{
	struct wefti_ex_thread *next;

	self->asked = 0;
	next = choose_alone(self);
	if (next != self) {
		give(next);
		wefti_ex_wait_turn(self);
	}
	if (self->signals)
		wefti_ex_deliver(self);
}

void wefti_ex_note(struct wefti_ex_thread *self, enum wefti_ex_op op,
		   struct wefti_ex_object *object, const void *where)
{
	self->op = op;
	self->object = object;
	self->where = where;
	hash((uint64_t)self->number << 40 | (uint64_t)op << 32 |
	     (object ? object->number : 0));
	wefti_ex.report->where = (uintptr_t)where;
	wefti_ex.report->last_op = op;
	wefti_ex.report->last_thread = self->number;
	if (wefti_ex.traces)
		wefti_ex_trace(self);
	wefti_ex_past(self, op, object);
	wefti_ex_stepped(self);
}

void wefti_ex_point_of(struct wefti_ex_thread *self, enum wefti_ex_op op, uint32_t peer,
		       const void *where)
{
	self->peer = peer;
	self->op = op;
	self->object = NULL;
	self->where = where;
	choose_and_wait(self);
	wefti_ex_note(self, op, NULL, where);
}

void wefti_ex_point(struct wefti_ex_thread *self, enum wefti_ex_op op,
		    struct wefti_ex_object *object, const void *where)
{
	self->peer = 0;
	self->op = op;
	self->object = object;
	self->where = where;
	choose_and_wait(self);
	wefti_ex_note(self, op, self->object, where);	/* which may have moved */
}

int wefti_ex_block(struct wefti_ex_thread *self, const void *at, int64_t deadline)
{
	self->waits_at = at;
	self->deadline = deadline;
	self->is_timed_out = self->is_signalled = 0;
	self->is_due = wefti_ex_is_due(deadline);
	self->state = WEFTI_EX_BLOCKED;
	choose_and_wait(self);
	self->is_due = 0;
	self->waited_at = self->waits_at;
	self->waits_at = NULL;
	wefti_ex_past(self, self->op, self->object);
	return self->is_timed_out;
}

static void wake(struct wefti_ex_thread *t)
{
	t->state = WEFTI_EX_READY;
	t->is_signalled = 1;
}

void wefti_ex_wake_all(const void *at)
{
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->waits_at == at)
			wake(t);
}

/* Each of n has the chance 1/n; with one waiter no number is drawn. */
static int is_chosen(const struct wefti_ex_thread *t, uint64_t n)
{
	if (n == 1)
		return 1;
	return wefti_ex_has_list() ? wefti_ex_listed(wefti_ex_self, 'w') == t->number :
				     wefti_ex_random() % n == 0;
}

void wefti_ex_wake_one(const void *at)
{
	static struct wefti_ex_thread *waiting[WEFTI_EX_THREADS];
	struct wefti_ex_thread *chosen = NULL;
	unsigned n = 0;

	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next) {
		if (t->state != WEFTI_EX_BLOCKED || t->waits_at != at ||
		    n == WEFTI_EX_THREADS)
			continue;
		waiting[n++] = t;
		if (is_chosen(t, n))
			chosen = t;
	}
	if (n > 1)
		wefti_ex_fork_of(wefti_ex_self, 'w', waiting, n, waiting[0]->number);
	if (!chosen)
		return;
	if (chosen != waiting[0])
		wefti_ex_chosen(wefti_ex_self, 'w', chosen->number);
	hash(chosen->number);
	wefti_ex_past_choice(wefti_ex_self, chosen);
	wake(chosen);
}

/* A robust mutex of a thread that ends can be had: its waiting threads try again. */
static void wake_heirs(const struct wefti_ex_thread *self)
{
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->state == WEFTI_EX_BLOCKED && t->object &&
		    t->object->kind == WEFTI_EX_MUTEX && t->object->holder == self->number &&
		    t->waits_at == t->object->at)
			wake(t);
}

void wefti_ex_leave(struct wefti_ex_thread *self)
{
	struct wefti_ex_thread *next;

	self->state = WEFTI_EX_ENDED;
	if (self->is_detached)
		wefti_ex_remove(self);
	wefti_ex_wake_all(self);
	wake_heirs(self);
	wefti_ex_leaves_objects(self);
	next = choose_alone(self);
	wefti_ex.leaving = next ? (int)REAL(syscall)(SYS_gettid) : 0;
	if (next)
		give(next);
	else
		wefti_ex.holder = NULL;
}
