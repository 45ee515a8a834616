/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab_call.c - takes objects and gives them back; see slab.h
 *
 * Writers
 *   slab_group.stamp  change_stamp, free_elsewhere, hold, weft_slab_publish;
 *       slab_group.c: absorb
 *   *slab_local.stamp  change_stamp, give, take
 *   slab_slot.doing  free_elsewhere; slab_recover.c: wefti_slab_reclaim
 *   *slab_held.stamp  take_held
 */
#include <errno.h>

#include "lockfree/slab.h"

typedef unsigned __int128 uint128_t;

/*
 * The way from and to the magazine is kept short, in the number of instructions as well
 * as in their latency: where another process computes on the same core, the number
 * counts. So there is no division, and failures go to a function of its own, which
 * looks again for the reason.
 */

/* MAGAZINE -> OUT */
static ALWAYS_INLINE void *take(struct wefti_slab_local *l, uint16_t stamp)
{
	unsigned i = (unsigned)__builtin_ctzll(l->mine);

	l->mine &= l->mine - 1;
	store_relaxed(&l->stamp[i], stamp);
	return l->objects + i * (size_t)l->object_bytes;
}

/* HELD -> OUT */
static ALWAYS_INLINE void *take_held(struct wefti_slab_local *l, uint16_t stamp)
{
	const struct wefti_slab_held *h = &l->held[--l->held_count];

	store_relaxed(h->stamp, stamp);
	return h->object;
}

static COLD void *take_slowly(struct weft_slab *s, uint16_t stamp, int *error)
{
	int rc = 0;
	struct wefti_slab_local *l = wefti_slab_join(s, &rc);

	if (l && !l->mine && l->held_count)
		return take_held(l, stamp);
	if (l && !l->mine)
		rc = wefti_slab_refill(l);
	if (rc == 0)
		return take(l, stamp);
	if (error)
		*error = rc;
	return NULL;
}

/* The first magazine is empty, or the set is not the one that was used last. */
static NOINLINE void *take_second(struct weft_slab *s, uint16_t stamp, int *error)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	if (unlikely(l->slab != s || !l->held_count || l->mine))
		return take_slowly(s, stamp, error);
	return take_held(l, stamp);
}

static ALWAYS_INLINE void *take_any(struct weft_slab *s, uint16_t stamp,
				    int *error)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	if (unlikely(l->slab != s || !l->mine))
		return take_second(s, stamp, error);
	return take(l, stamp);
}

void *weft_slab_alloc(struct weft_slab *slab, int *error)
{
	return take_any(slab, WEFTI_STAMP_LIVE, error);
}

void *weft_slab_reserve(struct weft_slab *slab, int *error)
{
	return take_any(slab,
			(uint16_t)(WEFTI_STAMP_RESERVED | slab->process),
			error);
}

uint64_t wefti_slab_index(const struct weft_slab *s, const void *object)
{
	uint64_t at = (uintptr_t)object - (uintptr_t)s->base, slab, rest;

	if ((uintptr_t)object < (uintptr_t)s->base || at < s->shape.slabs_at)
		return UINT64_MAX;
	at -= s->shape.slabs_at;
	slab = at / s->shape.slab_bytes;
	if (slab >= load_acquire(&s->header->made))	/* of slab.h: P5 */
		return UINT64_MAX;
	rest = at % s->shape.slab_bytes;
	if (rest < WEFTI_SLAB_GROUPS * sizeof(struct wefti_slab_group))
		return UINT64_MAX;
	rest -= WEFTI_SLAB_GROUPS * sizeof(struct wefti_slab_group);
	if (rest % s->object_bytes ||
	    rest / s->object_bytes >= WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS)
		return UINT64_MAX;
	return slab * WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS +
	       rest / s->object_bytes;
}

void *wefti_slab_at(const struct weft_slab *s, uint64_t index)
{
	uint64_t in_slab = index % (WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS);
	uint64_t slab = index / (WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS);

	return s->base + s->shape.slabs_at + slab * s->shape.slab_bytes +
	       WEFTI_SLAB_GROUPS * sizeof(struct wefti_slab_group) +
	       in_slab * s->object_bytes;
}

/*
 * Ends the user's time with an object. Only the debug build detects two threads that
 * free it at once, as this takes an RMW.
 */
static ALWAYS_INLINE int change_stamp(_Atomic uint16_t *stamp, uint16_t from,
				      uint16_t to)
{
#ifdef WEFT_DEBUG
	return cas_seq_cst(stamp, &from, to);	/* of slab.h: P3 */
#else
	(void)from;
	store_release(stamp, to);		/* of slab.h: P3, to recovery */
	return 1;
#endif
}

/* OUT -> HELD -> IN, for an object that hold() does not take */
static int free_elsewhere(struct wefti_slab_local *l, uint64_t index)
{
	struct weft_slab *s = l->slab;
	_Atomic uint16_t *stamp = wefti_slab_stamp(s, index);
	uint16_t is = load_relaxed(stamp);
	int rc = -EALREADY;

	store_relaxed(&l->slot->doing, index + 1);	/* I4 */
	compiler_barrier();
	if (wefti_stamp_is_out(is) &&
	    change_stamp(stamp, is, (uint16_t)(WEFTI_STAMP_FREEING |
					       l->slot_number))) {
		wefti_slab_clear_bits(s, index / WEFTI_SLAB_OBJECTS,
				      UINT64_C(1) << index % WEFTI_SLAB_OBJECTS);
		rc = 0;
	}
	compiler_barrier();
	store_relaxed(&l->slot->doing, 0);
	return rc;
}

/*
 * The distance from the first object, times the inverse of the size's odd part, rotated
 * by the remaining power of two, is the object's number. Both steps are one to one. So no
 * other distance gives a number below the number of objects.
 */
static ALWAYS_INLINE uint64_t number_at(const struct wefti_slab_local *l, uint64_t at)
{
	at *= l->inverse;
	return at >> l->shift | at << (64 - l->shift);	/* at least 3 */
}

/* OUT -> MAGAZINE. Returns 0 if this way is not possible for the object. */
static ALWAYS_INLINE int give(struct wefti_slab_local *l, void *object)
{
	uint64_t i = number_at(l, (uintptr_t)object - (uintptr_t)l->objects);

	if (unlikely(i >= WEFTI_SLAB_OBJECTS) ||
	    unlikely(load_relaxed(&l->stamp[i]) != WEFTI_STAMP_LIVE) ||
	    unlikely(!change_stamp(&l->stamp[i], WEFTI_STAMP_LIVE,
				   WEFTI_STAMP_FREE)))
		return 0;
	l->mine |= UINT64_C(1) << i;
	return 1;
}

/*
 * The stamp of any object in the slabs that are known, or NULL. In very large sets the
 * product may be a slab too high. The distance is negative then, and gives no number.
 */
static ALWAYS_INLINE _Atomic uint16_t *stamp_of(const struct wefti_slab_local *l,
						const void *object)
{
	uint64_t at = (uintptr_t)object - (uintptr_t)l->slabs, slab, n;
	struct wefti_slab_group *group;

	if (unlikely(at >= l->known_bytes))
		return NULL;
	slab = (uint64_t)((uint128_t)at * l->slab_inverse >> 64) * l->slab_bytes;
	n = number_at(l, at - slab - WEFTI_SLAB_GROUPS * sizeof(*group));
	if (unlikely(n >= WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS))
		return NULL;
	group = (struct wefti_slab_group *)(l->slabs + slab);
	return &group[n / WEFTI_SLAB_OBJECTS].stamp[n % WEFTI_SLAB_OBJECTS];
}

/* OUT -> HELD. Returns 0 if this way is not possible for the object. */
static ALWAYS_INLINE int hold(struct wefti_slab_local *l, void *object)
{
	_Atomic uint16_t *stamp = stamp_of(l, object);

	if (unlikely(!stamp) || unlikely(l->held_count == WEFTI_SLAB_HELD) ||
	    unlikely(load_relaxed(stamp) != WEFTI_STAMP_LIVE) ||
	    unlikely(!change_stamp(stamp, WEFTI_STAMP_LIVE,
				   (uint16_t)(WEFTI_STAMP_FREEING | l->slot_number))))
		return 0;
	l->held[l->held_count++] = (struct wefti_slab_held){ object, stamp };
	return 1;
}

/*
 * The thread gets to know the slabs that are there now, and has room in `held`. Where
 * nothing may be HELD it knows of none.
 */
static void prepare(struct wefti_slab_local *l)
{
	if (l->slab->shape.version == WEFTI_SLAB_NOT_HELD)
		return;
	l->known_bytes = l->slab_bytes *
			 load_acquire(&l->slab->header->made);	/* of slab.h: P5 */
	if (l->held_count == WEFTI_SLAB_HELD)
		wefti_slab_put_back(l, WEFTI_SLAB_HELD / 2);
}

/* Also for an object that was only reserved. */
static COLD int free_slowly(struct weft_slab *s, void *object)
{
	uint64_t index = wefti_slab_index(s, object);
	struct wefti_slab_local *l;
	int rc = 0;

	if (index == UINT64_MAX)
		return -EINVAL;
	l = wefti_slab_join(s, &rc);
	if (!l)
		return rc;
	if (give(l, object))
		return 0;
	prepare(l);
	return hold(l, object) ? 0 : free_elsewhere(l, index);
}

/* The object is not of the thread's group, or the set not the one that was used last. */
static NOINLINE int free_second(struct weft_slab *s, void *object)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	if (unlikely(l->slab != s) || unlikely(!hold(l, object)))
		return free_slowly(s, object);
	return 0;
}

int weft_slab_free(struct weft_slab *slab, void *object)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	if (unlikely(l->slab != slab) || unlikely(!give(l, object)))
		return free_second(slab, object);
	return 0;
}

int weft_slab_publish(struct weft_slab *slab, void *object)
{
	uint64_t index = wefti_slab_index(slab, object);
	_Atomic uint16_t *stamp;

	if (index == UINT64_MAX)
		return -EINVAL;
	stamp = wefti_slab_stamp(slab, index);
	if ((load_relaxed(stamp) & WEFTI_STAMP_KIND) != WEFTI_STAMP_RESERVED)
		return -EALREADY;
	store_relaxed(stamp, WEFTI_STAMP_LIVE);
	return 0;
}

uint64_t weft_slab_ref(const struct weft_slab *slab, const void *object)
{
	if (wefti_slab_index(slab, object) == UINT64_MAX)
		return 0;
	return (uintptr_t)object - (uintptr_t)slab->base;
}

void *weft_slab_object(const struct weft_slab *slab, uint64_t ref)
{
	if (ref >= slab->shape.total_bytes ||
	    wefti_slab_index(slab, slab->base + ref) == UINT64_MAX)
		return NULL;
	return slab->base + ref;
}

uint64_t *weft_slab_root(struct weft_slab *slab, unsigned number)
{
	return number < WEFT_SLAB_ROOTS ? &slab->header->root[number] : NULL;
}
