/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab_call.c - takes objects and gives them back; see slab.h
 *
 * Writers
 *   slab_group.stamp  change_stamp, free_elsewhere, weft_slab_publish;
 *       slab_group.c: absorb
 *   *slab_local.stamp  change_stamp, give, take
 *   slab_slot.doing  free_elsewhere; slab_recover.c: wefti_slab_reclaim
 */
#include <errno.h>

#include "lockfree/slab.h"

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

static COLD void *take_slowly(struct weft_slab *s, uint16_t stamp, int *error)
{
	int rc = 0;
	struct wefti_slab_local *l = wefti_slab_join(s, &rc);

	if (l && !l->mine)
		rc = wefti_slab_refill(l);
	if (rc == 0)
		return take(l, stamp);
	if (error)
		*error = rc;
	return NULL;
}

static ALWAYS_INLINE void *take_any(struct weft_slab *s, uint16_t stamp,
				    int *error)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	if (unlikely(l->slab != s || !l->mine))
		return take_slowly(s, stamp, error);
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

/* OUT -> RETURNING -> IN */
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
		wefti_slab_clear_bit(s, index / WEFTI_SLAB_OBJECTS,
				     index % WEFTI_SLAB_OBJECTS);
		rc = 0;
	}
	compiler_barrier();
	store_relaxed(&l->slot->doing, 0);
	return rc;
}

/*
 * The distance from the group's first object, times the inverse of the size's odd part,
 * rotated by the remaining power of two, is the object's number. Both steps are one to
 * one. So no other address gives a number below the number of objects.
 */
static ALWAYS_INLINE uint64_t number_in_group(const struct wefti_slab_local *l,
					      const void *object)
{
	uint64_t at = (uintptr_t)object - (uintptr_t)l->objects;

	at *= l->inverse;
	return at >> l->shift | at << (64 - l->shift);	/* at least 3 */
}

/* OUT -> MAGAZINE. Returns 0 if this way is not possible for the object. */
static ALWAYS_INLINE int give(struct wefti_slab_local *l, void *object)
{
	uint64_t i = number_in_group(l, object);

	if (unlikely(i >= WEFTI_SLAB_OBJECTS) ||
	    unlikely(load_relaxed(&l->stamp[i]) != WEFTI_STAMP_LIVE) ||
	    unlikely(!change_stamp(&l->stamp[i], WEFTI_STAMP_LIVE,
				   WEFTI_STAMP_FREE)))
		return 0;
	l->mine |= UINT64_C(1) << i;
	return 1;
}

/* Also for an object of the own group that was only reserved. */
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
	return give(l, object) ? 0 : free_elsewhere(l, index);
}

int weft_slab_free(struct weft_slab *slab, void *object)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	if (unlikely(l->slab != slab) || unlikely(!give(l, object)))
		return free_slowly(slab, object);
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
