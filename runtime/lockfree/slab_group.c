/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab_group.c - groups change their owners, and the set grows; see slab.h
 *
 * Writers
 *   *slab.hint  hint_unavailable, wefti_slab_make_available
 *   *slab.top  hint_is_full, wefti_slab_make_available
 *   slab_group.word  absorb, release_full, take, wefti_slab_clear_bits,
 *       wefti_slab_drop
 *   slab_header.changes  wefti_slab_make_available
 *   slab_header.made  grow
 */
#include <errno.h>
#include <string.h>

#include "lockfree/slab.h"
#include "os/call/shared_file.h"

#define BITS	64u

struct wefti_slab_group *wefti_slab_group_at(const struct weft_slab *s,
					     uint64_t group)
{
	char *slab = s->base + s->shape.slabs_at +
		     group / WEFTI_SLAB_GROUPS * s->shape.slab_bytes;

	return (struct wefti_slab_group *)slab + group % WEFTI_SLAB_GROUPS;
}

static char *objects_of(const struct weft_slab *s, uint64_t group)
{
	char *slab = s->base + s->shape.slabs_at +
		     group / WEFTI_SLAB_GROUPS * s->shape.slab_bytes;

	return slab + WEFTI_SLAB_GROUPS * sizeof(struct wefti_slab_group) +
	       group % WEFTI_SLAB_GROUPS * s->group_bytes;
}

static uint64_t owner_bits(uint32_t slot)
{
	return (uint64_t)(slot + 1) << WEFTI_SLAB_OBJECTS;
}

static int is_available(uint64_t word)
{
	return word < WEFTI_SLAB_TAKEN;		/* no owner, and not full */
}

void wefti_slab_own_none(struct wefti_slab_local *l)
{
	static _Atomic uint16_t all_free[WEFTI_SLAB_OBJECTS];

	l->group = NULL;
	l->objects = NULL;
	l->stamp = all_free;	/* an address in no group is then not OUT */
}

/* --- hints */

/*
 * The stores that clear a bit, on both levels, come after the change of the group's
 * word. The stores that set a bit come before the second look at what the bit says. All
 * are seq_cst. So a thread that sets a bit which was just cleared sees why it was.
 */
void wefti_slab_make_available(struct weft_slab *s, uint64_t group)
{
	uint64_t slab = group / WEFTI_SLAB_GROUPS;
	uint64_t bit = UINT64_C(1) << group % WEFTI_SLAB_GROUPS;
	uint64_t top = UINT64_C(1) << slab % BITS;

	if (load_seq_cst(&s->hint[slab]) & bit)
		fetch_and_seq_cst(&s->hint[slab], ~bit);
	if (load_seq_cst(&s->top[slab / BITS]) & top)
		fetch_and_seq_cst(&s->top[slab / BITS], ~top);
	fetch_add_seq_cst(&s->header->changes, 1);
}

static void hint_is_full(struct weft_slab *s, uint64_t slab)
{
	uint64_t top = UINT64_C(1) << slab % BITS;

	fetch_or_seq_cst(&s->top[slab / BITS], top);
	if (load_seq_cst(&s->hint[slab]) != UINT64_MAX)
		fetch_and_seq_cst(&s->top[slab / BITS], ~top);
}

static void hint_unavailable(struct weft_slab *s, uint64_t group)
{
	uint64_t slab = group / WEFTI_SLAB_GROUPS;
	uint64_t bit = UINT64_C(1) << group % WEFTI_SLAB_GROUPS;

	if ((fetch_or_seq_cst(&s->hint[slab], bit) | bit) == UINT64_MAX)
		hint_is_full(s, slab);
	if (is_available(load_seq_cst(&wefti_slab_group_at(s, group)->word)))
		wefti_slab_make_available(s, group);
}

/* --- a thread gives up a group or an object */

void wefti_slab_clear_bits(struct weft_slab *s, uint64_t group, uint64_t bits)
{
	uint64_t old = fetch_and_seq_cst(	/* of slab.h: P1, to absorb */
		&wefti_slab_group_at(s, group)->word, ~bits);

	if (old <= WEFTI_SLAB_TAKEN)
		wefti_slab_make_available(s, group);
}

/* As wefti_slab_index(), by where the stamp is: one division, no look at the header. */
static uint64_t index_of(const struct wefti_slab_local *l, const _Atomic uint16_t *stamp)
{
	uint64_t at = (uint64_t)((const char *)stamp - l->slabs);
	uint64_t slab = at / l->slab_bytes, rest = at % l->slab_bytes;
	uint64_t group = slab * WEFTI_SLAB_GROUPS + rest / sizeof(struct wefti_slab_group);

	rest = rest % sizeof(struct wefti_slab_group) -
	       offsetof(struct wefti_slab_group, stamp);
	return group * WEFTI_SLAB_OBJECTS + rest / sizeof(*stamp);
}

/*
 * Neighbours go together: the objects that one thread took and another frees are of few
 * groups.
 */
void wefti_slab_put_back(struct wefti_slab_local *l, uint32_t count)
{
	uint64_t group = 0, bits = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t index = index_of(l, l->held[i].stamp);

		if (bits && index / WEFTI_SLAB_OBJECTS != group) {
			wefti_slab_clear_bits(l->slab, group, bits);
			bits = 0;
		}
		group = index / WEFTI_SLAB_OBJECTS;
		bits |= UINT64_C(1) << index % WEFTI_SLAB_OBJECTS;
	}
	if (bits)
		wefti_slab_clear_bits(l->slab, group, bits);
	l->held_count -= count;
	memmove(l->held, l->held + count, l->held_count * sizeof(*l->held));
}

void wefti_slab_drop(struct weft_slab *s, uint64_t group, uint64_t in)
{
	struct wefti_slab_group *g = wefti_slab_group_at(s, group);
	uint64_t w = load_relaxed(&g->word), free;

	do {	/* other threads clear bits meanwhile */
		free = w & WEFTI_SLAB_TAKEN & ~in;
	} while (!cas_weak_seq_cst(&g->word, &w,	/* of slab.h: P2 */
				   free));
	if (is_available(free))
		wefti_slab_make_available(s, group);
}

/* --- a thread takes a group */

/* Objects that came back to the thread's own group: IN -> MAGAZINE. */
static uint64_t absorb(struct wefti_slab_local *l)
{
	struct wefti_slab_group *g = l->group;
	uint64_t w = load_acquire(&g->word);	/* of slab.h: P1 */
	uint64_t in = ~w & WEFTI_SLAB_TAKEN;

	if (in == 0)
		return 0;
	for (uint64_t rest = in; rest; rest &= rest - 1)	/* I2 */
		store_relaxed(&g->stamp[__builtin_ctzll(rest)],
			      WEFTI_STAMP_FREE);
	fetch_or_acq_rel(&g->word, in);		/* of slab.h: P4 */
	l->mine = in;
	return in;
}

/* A full group has no owner until an object comes back. Returns 0 if one has. */
static int release_full(struct wefti_slab_local *l)
{
	uint64_t w = owner_bits(l->slot_number) | WEFTI_SLAB_TAKEN;

	if (!cas_seq_cst(&l->group->word, &w, WEFTI_SLAB_TAKEN))
		return 0;
	wefti_slab_own_none(l);
	return 1;
}

/* Returns 1 if the group is the caller's now, 0 if it has an owner or is full. */
static int take(struct wefti_slab_local *l, uint64_t group)
{
	struct weft_slab *s = l->slab;
	struct wefti_slab_group *g = wefti_slab_group_at(s, group);
	uint64_t w = load_relaxed(&g->word);

	while (is_available(w)) {
		if (!cas_weak_acquire(&g->word, &w,	/* of slab.h: P2 */
				      w | owner_bits(l->slot_number)))
			continue;
		l->group = g;
		l->stamp = g->stamp;
		l->objects = objects_of(s, group);
		l->number = group;
		l->start = (uint32_t)(group / WEFTI_SLAB_GROUPS);
		hint_unavailable(s, group);
		return 1;
	}
	hint_unavailable(s, group);
	return 0;
}

/* Threads begin at different groups of a slab. */
static int search_slab(struct wefti_slab_local *l, uint64_t slab)
{
	unsigned turn = l->slot_number * 5 % WEFTI_SLAB_GROUPS;
	uint64_t clear = ~load_seq_cst(&l->slab->hint[slab]);

	clear = clear >> turn | (turn ? clear << (BITS - turn) : 0);
	for (; clear; clear &= clear - 1) {
		unsigned i = (unsigned)__builtin_ctzll(clear) + turn;

		if (take(l, slab * WEFTI_SLAB_GROUPS + i % WEFTI_SLAB_GROUPS))
			return 1;
	}
	return 0;
}

static int search(struct wefti_slab_local *l, uint64_t made)
{
	uint64_t slab = l->start < made ? l->start : 0;

	for (uint64_t seen = 0; seen < made;) {
		uint64_t top = load_seq_cst(&l->slab->top[slab / BITS]);
		uint64_t rest = BITS - slab % BITS;

		if (top >> slab % BITS & 1) {
			/* All from here to the end of the word may be full. */
			if (top >> slab % BITS != UINT64_MAX >> slab % BITS)
				rest = 1;
			seen += rest;
			slab += rest;
		} else {
			if (search_slab(l, slab))
				return 1;
			seen++;
			slab++;
		}
		if (slab >= made)
			slab = 0;
	}
	return 0;
}

/*
 * The same, whatever the top level says. A thread that is stopped in hint_is_full() may
 * have hidden a slab, if the slab's groups came back meanwhile. A word of the first
 * level hides at most one group for each stopped thread.
 */
static COLD int search_each_slab(struct wefti_slab_local *l, uint64_t made)
{
	for (uint64_t slab = 0; slab < made; slab++)
		if (search_slab(l, slab))
			return 1;
	return 0;
}

/* Makes one more slab. Returns 0 also if another thread has made it. */
static int grow(struct weft_slab *s, uint64_t made)
{
	int rc;

	if (made == s->shape.slabs)
		return -ENOSPC;
	if (s->fd >= 0) {
		rc = wefti_os_file_reserve(s->fd, s->shape.slabs_at +
					   made * s->shape.slab_bytes,
					   s->shape.slab_bytes);
		if (rc != 0)
			return rc;
	}
	cas_seq_cst(&s->header->made, &made, made + 1);	/* of slab.h: P5 */
	return 0;
}

int wefti_slab_refill(struct wefti_slab_local *l)
{
	struct weft_slab *s = l->slab;

	if (l->group && (absorb(l) || (!release_full(l) && absorb(l))))
		return 0;
	for (;;) {
		uint64_t changes = load_seq_cst(&s->header->changes);
		uint64_t made = load_seq_cst(&s->header->made);
		int found = search(l, made), rc = 0;

		if (!found && load_seq_cst(&s->header->changes) == changes)
			rc = grow(s, made);
		if (rc != 0)
			found = search_each_slab(l, made);
		if (found) {
			absorb(l);	/* not 0: the group was available */
			return 0;
		}
		if (rc != 0 && load_seq_cst(&s->header->changes) == changes &&
		    load_seq_cst(&s->header->made) == made)
			return rc;
	}
}
