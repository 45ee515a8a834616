/* SPDX-License-Identifier: MIT */
/* lockfree/slab_call.c - objects are taken and given back; see slab.h */
#include <errno.h>

#include "lockfree/slab.h"

_Thread_local struct wefti_slab_local *wefti_slab_locals;

/* NULL: the thread has no record, or another set's in front. */
static ALWAYS_INLINE struct wefti_slab_local *in_front(struct weft_slab *s)
{
	struct wefti_slab_local *l = wefti_slab_locals;

	return likely(l && l->slab == s) ? l : NULL;
}

static COLD struct wefti_slab_local *with_objects(struct weft_slab *s,
						  int *error)
{
	int rc = 0;
	struct wefti_slab_local *l = wefti_slab_join(s, &rc);

	if (l && !l->mine)
		rc = wefti_slab_refill(l);
	if (rc == 0)
		return l;
	if (error)
		*error = rc;
	return NULL;
}

/* MAGAZINE -> OUT */
static ALWAYS_INLINE void *take(struct weft_slab *s, uint16_t stamp, int *error)
{
	struct wefti_slab_local *l = in_front(s);
	unsigned bit;

	if (unlikely(!l || !l->mine)) {
		l = with_objects(s, error);
		if (!l)
			return NULL;
	}
	bit = (unsigned)__builtin_ctzll(l->mine);
	l->mine &= l->mine - 1;
	store_relaxed(&l->slot->doing, 0);	/* no free of the last time */
	compiler_barrier();
	store_relaxed(&l->group->stamp[bit], stamp);
	return l->objects + bit * s->object_bytes;
}

void *weft_slab_alloc(struct weft_slab *slab, int *error)
{
	return take(slab, WEFTI_STAMP_LIVE, error);
}

void *weft_slab_reserve(struct weft_slab *slab, int *error)
{
	return take(slab, (uint16_t)(WEFTI_STAMP_RESERVED | slab->process),
		    error);
}

/* bytes / object_bytes, exact for what is below a group's size. */
static ALWAYS_INLINE uint64_t divided(const struct weft_slab *s, uint64_t bytes)
{
	return (uint64_t)((unsigned __int128)bytes * s->inverse >> 64);
}

static void begin(struct wefti_slab_local *l, uint64_t index,
		  enum wefti_slab_phase phase)
{
	store_relaxed(&l->slot->doing, (index + 1) << 2 | phase);
	compiler_barrier();
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

/* OUT -> RETURNING -> IN */
int wefti_slab_free_elsewhere(struct wefti_slab_local *l, uint64_t index)
{
	struct weft_slab *s = l->slab;
	_Atomic uint16_t *stamp = wefti_slab_stamp(s, index);

	if (!wefti_stamp_is_out(load_relaxed(stamp)))
		return -EALREADY;
	begin(l, index, WEFTI_SLAB_BEGUN);
	store_release(stamp,	/* of slab.h: P3, to recovery */
		      (uint16_t)(WEFTI_STAMP_FREEING | l->slot_number));
	compiler_barrier();
	begin(l, index, WEFTI_SLAB_STAMPED);
	wefti_slab_clear_bit(s, index / WEFTI_SLAB_OBJECTS,
			     index % WEFTI_SLAB_OBJECTS);
	compiler_barrier();
	store_relaxed(&l->slot->doing, 0);
	return 0;
}

static COLD int free_slowly(struct weft_slab *s, void *object)
{
	uint64_t index = wefti_slab_index(s, object);
	struct wefti_slab_local *l;
	int rc;

	if (index == UINT64_MAX)
		return -EINVAL;
	l = in_front(s);
	if (!l) {
		l = wefti_slab_join(s, &rc);
		if (!l)
			return rc;
		return weft_slab_free(s, object);	/* now in front */
	}
	return wefti_slab_free_elsewhere(l, index);
}

int weft_slab_free(struct weft_slab *slab, void *object)
{
	struct wefti_slab_local *l = in_front(slab);
	uint64_t at, bit;

	if (unlikely(!l))
		return free_slowly(slab, object);
	at = (uintptr_t)object - (uintptr_t)l->objects;
	if (at >= slab->group_bytes || !l->group)
		return free_slowly(slab, object);
	bit = divided(slab, at);
	if (unlikely(bit * slab->object_bytes != at))
		return -EINVAL;
	if (unlikely(!wefti_stamp_is_out(load_relaxed(&l->group->stamp[bit]))))
		return -EALREADY;

	begin(l, l->first + bit, WEFTI_SLAB_OWN);	/* OUT -> MAGAZINE */
	store_relaxed(&l->group->stamp[bit], WEFTI_STAMP_FREE);
	l->mine |= UINT64_C(1) << bit;
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
