/* SPDX-License-Identifier: MIT */
/*
 * explore/memory.c - the hooks in an explored run: each access may be a point
 *
 * Which accesses are points
 *   sites   those of the places that a first run has found (sites.c), and atomics
 *   one in  each with the chance of one in N
 *   none
 *
 * The thread has the turn from its point until its next one, so the access that follows
 * the hook is made before any other thread's. Memory is as if each access took place at
 * once: what a processor or a compiler may do beyond that is not seen. A race that would let
 * it is told.
 *
 * A thread that reads the same location again and again waits for another thread. Behind
 * SPIN reads each one is a point, so that thread gets the turn, or the bound on steps ends
 * the run.
 */
#include "hooks.h"
#include "race.h"

#define SPIN	1000u

/* Does it wait for this location to change? */
static int spins(struct wefti_ex_thread *self, const volatile void *at,
		 enum wefti_ex_access kind)
{
	const int loads = kind == WEFTI_EX_LOADS || kind == WEFTI_EX_ATOMIC_LOADS;

	if (!loads || self->spun_at != at) {
		self->spun_at = loads ? at : NULL;
		self->spun = 0;
	}
	self->spun++;
	return self->spun > SPIN;
}

/*
 * By the thread's number and the count of its accesses, and not by the seed: a run by a list
 * of choices has no seed, and counts the same points.
 */
static int is_drawn(struct wefti_ex_thread *self)
{
	const uint64_t h = (++self->accesses ^ (uint64_t)self->number << 40) *
			   UINT64_C(0x9e3779b97f4a7c15);

	return (h >> 24) % wefti_ex.one_in == 0;
}

static int is_point(struct wefti_ex_thread *self, const volatile void *at,
		    enum wefti_ex_access kind, const void *where)
{
	if (spins(self, at, kind))
		return 1;
	if (wefti_ex.report->threads < 2)
		return 0;	/* there is nothing to choose */
	if (wefti_ex.one_in)
		return is_drawn(self);
	return wefti_ex.has_sites &&
	       (kind >= WEFTI_EX_ATOMIC_LOADS || wefti_ex_is_site(where));
}

void wefti_ex_access_memory(const volatile void *at, size_t bytes,
			    enum wefti_ex_access kind, const void *where)
{
	static const enum wefti_ex_op ops[] = {
		[WEFTI_EX_LOADS] = WEFTI_EX_LOAD, [WEFTI_EX_STORES] = WEFTI_EX_STORE,
		[WEFTI_EX_ATOMIC_LOADS] = WEFTI_EX_ATOMIC_LOAD,
		[WEFTI_EX_ATOMIC_STORES] = WEFTI_EX_ATOMIC_STORE,
	};
	struct wefti_ex_thread *self = wefti_ex_toucher();
	int was, is_one;

	if (!self)
		return;
	is_one = is_point(self, at, kind, where);
	if (is_one && wefti_ex.is_native)
		wefti_ex_native_touches(self, ops[kind], at, where);
	else if (is_one)
		wefti_ex_point(self, ops[kind], wefti_ex_location(at), where);
	if (!wefti_ex.looks_for_races && !wefti_ex.learns)
		return;
	was = wefti_ex_shut();
	wefti_ex_race(self, at, bytes, kind, where);
	wefti_ex_open(was);
}

static inline void touch(const volatile void *at, size_t bytes, enum wefti_ex_access kind,
			 const void *where)
{
	wefti_ex_access_memory(at, bytes, kind, where);
}

static inline void touch_atomic(const volatile void *at, size_t bytes,
				enum wefti_ex_access kind, const void *where)
{
	wefti_ex_access_memory(at, bytes, kind, where);
}

static inline void has_touched(const volatile void *at, int order, enum does does)
{
	struct wefti_ex_thread *self = wefti_ex_toucher();

	int was;

	if (!self)
		return;
	was = wefti_ex_shut();
	if (does & LOADS)
		wefti_ex_atomic_loads(self, at, order);
	if (does & STORES)
		wefti_ex_atomic_stores(self, at, order, does == CHANGES);
	wefti_ex_open(was);
}

static inline void fence(int order)
{
	struct wefti_ex_thread *self = wefti_ex_toucher();

	int was;

	if (!self)
		return;
	was = wefti_ex_shut();
	wefti_ex_fence(self, order);
	wefti_ex_open(was);
}

static inline void enter(const void *where, const void *frame)
{
	struct wefti_ex_thread *self = wefti_ex_toucher();

	int was;

	if (!self || !wefti_ex.looks_for_races)
		return;
	was = wefti_ex_shut();
	wefti_ex_enters(self, where, frame);
	wefti_ex_open(was);
}

static inline void leave(void)
{
	struct wefti_ex_thread *self = wefti_ex_toucher();

	if (self && wefti_ex.looks_for_races)
		wefti_ex_leaves(self);
}

static inline void load_module(const void *where)
{
	wefti_ex_module(where);
	wefti_ex.looks_for_races = !wefti_ex.leaves_races;
}

static inline void give(const void *at)
{
	struct wefti_ex_thread *self = wefti_ex_toucher();

	if (self)
		wefti_ex_give(self, at);
}

static inline void take(const void *at)
{
	struct wefti_ex_thread *self = wefti_ex_toucher();

	if (self)
		wefti_ex_take(self, at);
}
