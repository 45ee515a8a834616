/* SPDX-License-Identifier: MIT */
/*
 * sched/timer_wheel.h - the timers of one home in order, for their server alone
 *
 * Structure
 *   A pairing heap (timer_heap.h), and behind it a wheel of lists. Timers that are due
 *   later than the first in the heap lie in the wheel. There an insertion or a removal
 *   touches two other timers at most. The wheel counts time in slots of 2^20 ns, a
 *   millisecond. Level l has 64 lists, of 64^l slots each. A timer lies at the level of
 *   the highest six bits in which its slot differs from `now`, in the list of its own six
 *   bits.
 *
 *   If the heap is empty, `now` goes to the first list, however far that is ahead of the
 *   clock. Timers that are due before that have no list, so the heap takes them. When it
 *   has taken as many as the wheel holds, `now` goes back to the clock. The lists in
 *   which only the moved digits of `now` were left to differ then become one list.
 *
 *   A heap alone is slower, the more timers there are: its nodes are in the threads'
 *   bodies, so each comparison misses the cache. With 10,000 sleeping threads that was
 *   two fifths of all the CPU time.
 *
 * Invariants
 *   W1  The root of the heap has the smallest key of all. So a list is emptied into the
 *       heap as soon as it may have a smaller one.
 *   W2  No timer in the wheel has a slot below `now`. `next` is the first slot that a
 *       list in the wheel may hold, or NONE.
 *   W3  The level and the list of a timer in the wheel follow from its slot and `now`.
 *       `now` moves to the next list that is not empty, and over none. It moves back
 *       to the root's slot, or to an earlier one. By W1 that keeps W2.
 *   W4  `held` is the number of timers in the wheel. `early` is how many the heap has
 *       taken, as their slots were below `now`, since `now` last moved back while there
 *       were timers in the wheel.
 *
 * Progress
 *   The server takes a step for each timer and each level below the timer's first. A move
 *   of `now` back takes a step for each of `held` timers at most, and raises each by the
 *   levels that it then goes down again. `early` is as large, so each timer that came too
 *   early pays for one step. No memory is allocated: the wheel is a part of the VCPU.
 *
 *   Rejected: to leave `now` at the clock, and to take only the earliest timer out of the
 *   next list. A list of n timers is then searched n times.
 *
 * Source
 *   G. Varghese, T. Lauck, "Hashed and hierarchical timing wheels", SOSP 1987. Here the
 *   wheel does not turn by a clock, and the order within a slot is kept, by the heap.
 */
#ifndef WEFT_SCHED_TIMER_WHEEL_H
#define WEFT_SCHED_TIMER_WHEEL_H

#include "os/call/clock.h"
#include "sched/timer_heap.h"

#define WEFTI_WHEEL_SHIFT	20	/* of a slot, in ns */
#define WEFTI_WHEEL_BITS	6u	/* of a level */
#define WEFTI_WHEEL_NONE	UINT64_MAX

_Static_assert(WEFTI_WHEEL_LISTS == 1u << WEFTI_WHEEL_BITS, "a digit names a list");
_Static_assert(WEFTI_WHEEL_SHIFT + WEFTI_WHEEL_LEVELS * WEFTI_WHEEL_BITS >= 63,
	       "each key has a list");

static inline uint64_t wefti_wheel_slot(int64_t key)
{
	return key < 0 ? 0 : (uint64_t)key >> WEFTI_WHEEL_SHIFT;
}

static inline uint64_t wefti_wheel_root_slot(const struct wefti_timers *h)
{
	return wefti_wheel_slot(load_relaxed(&h->root->key));
}

static inline unsigned wefti_wheel_bits_of(uint64_t slot, unsigned level)
{
	return (unsigned)(slot >> level * WEFTI_WHEEL_BITS) % WEFTI_WHEEL_LISTS;
}

/* W3 */
static inline unsigned wefti_wheel_level(const struct wefti_timer_wheel *w,
					 uint64_t slot)
{
	const uint64_t differs = slot ^ w->now;

	return differs < WEFTI_WHEEL_LISTS ? 0 :
	       (63 - (unsigned)__builtin_clzll(differs)) / WEFTI_WHEEL_BITS;
}

/* The lower levels come first: they have the upper bits of `now`. */
static void wefti_wheel_find_next(struct wefti_timer_wheel *w)
{
	w->next = WEFTI_WHEEL_NONE;
	for (unsigned l = 0; l < WEFTI_WHEEL_LEVELS; l++) {
		const unsigned shift = l * WEFTI_WHEEL_BITS;
		const uint64_t at = w->now >> shift;
		const uint64_t bits = w->used[l] & ~UINT64_C(0) << at % WEFTI_WHEEL_LISTS;

		if (bits) {
			w->next = (at - at % WEFTI_WHEEL_LISTS +
				   (unsigned)__builtin_ctzll(bits)) << shift;
			return;
		}
	}
}

/* A timer in the wheel is its own child, which no timer in the heap is. */
static inline int wefti_wheel_has(const struct wefti_timer *tm)
{
	return tm->child == tm;
}

static void wefti_wheel_add(struct wefti_timer_wheel *w, struct wefti_timer *tm)
{
	const uint64_t slot = wefti_wheel_slot(load_relaxed(&tm->key));
	const unsigned level = wefti_wheel_level(w, slot);
	const unsigned list = wefti_wheel_bits_of(slot, level);
	const unsigned shift = level * WEFTI_WHEEL_BITS;
	struct wefti_timer **first = &w->first[level][list];

	tm->child = tm;
	tm->prev = NULL;
	tm->sibling = *first;
	if (*first)
		(*first)->prev = tm;
	*first = tm;
	w->used[level] |= UINT64_C(1) << list;
	w->held++;
	if (slot >> shift << shift < w->next)
		w->next = slot >> shift << shift;
}

static void wefti_wheel_remove(struct wefti_timer_wheel *w, struct wefti_timer *tm)
{
	const uint64_t slot = wefti_wheel_slot(load_relaxed(&tm->key));
	const unsigned level = wefti_wheel_level(w, slot);
	const unsigned list = wefti_wheel_bits_of(slot, level);

	w->held--;
	if (tm->sibling)
		tm->sibling->prev = tm->prev;
	if (tm->prev) {
		tm->prev->sibling = tm->sibling;
		return;
	}
	w->first[level][list] = tm->sibling;
	if (!tm->sibling) {
		w->used[level] &= ~(UINT64_C(1) << list);
		wefti_wheel_find_next(w);
	}
}

static struct wefti_timer *wefti_wheel_take(struct wefti_timer_wheel *w, unsigned level,
					    unsigned list)
{
	struct wefti_timer *all = w->first[level][list];

	w->first[level][list] = NULL;
	w->used[level] &= ~(UINT64_C(1) << list);
	return all;
}

/* The list's timers go where W3 has them, as `now` has moved. */
static void wefti_wheel_move(struct wefti_timer_wheel *w, unsigned level, unsigned list)
{
	struct wefti_timer *tm = wefti_wheel_take(w, level, list);

	while (tm) {
		struct wefti_timer *next = tm->sibling;

		w->held--;
		wefti_wheel_add(w, tm);
		tm = next;
	}
}

/* The lists that begin at `now` have their timers at lower levels. */
static void wefti_wheel_spread(struct wefti_timer_wheel *w)
{
	for (unsigned l = 1; l < WEFTI_WHEEL_LEVELS &&
	     wefti_wheel_bits_of(w->now, l - 1) == 0; l++)
		wefti_wheel_move(w, l, wefti_wheel_bits_of(w->now, l));
}

/*
 * `now` moves back to `to`, so one digit is smaller. A slot that differed from `now` in
 * lower digits alone differs in that digit, too. All other timers keep their lists.
 */
static void wefti_wheel_move_back(struct wefti_timer_wheel *w, uint64_t to)
{
	const unsigned level = wefti_wheel_level(w, to);

	w->now = to;
	w->early = 0;
	for (unsigned l = 0; l < level; l++)
		while (w->used[l])
			wefti_wheel_move(w, l, (unsigned)__builtin_ctzll(w->used[l]));
	wefti_wheel_find_next(w);
}

static void wefti_wheel_to_heap(struct wefti_timers *h, struct wefti_timer *tm)
{
	tm->child = tm->sibling = tm->prev = NULL;
	h->root = wefti_timer_meld(h->root, tm);
}

/* The list at `next` goes to the heap, or to lower levels; `now` moves there. */
static void wefti_wheel_step(struct wefti_timers *h)
{
	struct wefti_timer_wheel *w = &h->wheel;

	if (wefti_wheel_level(w, w->next) == 0) {
		struct wefti_timer *tm =
			wefti_wheel_take(w, 0, wefti_wheel_bits_of(w->next, 0));

		while (tm) {
			struct wefti_timer *next = tm->sibling;

			w->held--;
			wefti_wheel_to_heap(h, tm);
			tm = next;
		}
		w->now = w->next + 1;
	} else {
		w->now = w->next;
	}
	wefti_wheel_spread(w);
	wefti_wheel_find_next(w);
}

/* W1 */
static inline void wefti_wheel_settle(struct wefti_timers *h)
{
	while (h->wheel.next != WEFTI_WHEEL_NONE &&
	       (!h->root || h->wheel.next <= wefti_wheel_root_slot(h)))
		wefti_wheel_step(h);
}

/* W4. Is there a list in the wheel for a slot behind the root's? */
static int wefti_wheel_takes(struct wefti_timers *h, uint64_t slot)
{
	struct wefti_timer_wheel *w = &h->wheel;
	uint64_t clock;

	if (likely(w->next != WEFTI_WHEEL_NONE && slot >= w->now))
		return 1;
	if (w->next != WEFTI_WHEEL_NONE && ++w->early < w->held)
		return 0;
	clock = wefti_wheel_slot(wefti_os_now_ns());
	if (w->next == WEFTI_WHEEL_NONE)
		w->now = clock;
	else
		wefti_wheel_move_back(w, clock < wefti_wheel_root_slot(h) ? clock :
				      wefti_wheel_root_slot(h));
	return slot >= w->now;
}

/* tm's key is set. A timer of the root's slot, or an earlier one, goes to the heap. */
static void wefti_timers_add(struct wefti_timers *h, struct wefti_timer *tm)
{
	const uint64_t slot = wefti_wheel_slot(load_relaxed(&tm->key));

	if (!h->root || slot <= wefti_wheel_root_slot(h) || !wefti_wheel_takes(h, slot))
		wefti_wheel_to_heap(h, tm);
	else
		wefti_wheel_add(&h->wheel, tm);
}

static void wefti_timers_remove(struct wefti_timers *h, struct wefti_timer *tm)
{
	if (wefti_wheel_has(tm))
		wefti_wheel_remove(&h->wheel, tm);
	else
		h->root = wefti_timer_without(h->root, tm);
	wefti_wheel_settle(h);
}

#endif
