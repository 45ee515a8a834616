/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab_recover.c - gives back what dead processes had; see slab.h, "Death"
 *
 * Writers
 *   slab.is_recovering  weft_slab_recover
 */
#include <errno.h>
#include <string.h>

#include "lockfree/slab.h"
#include "os/call/shared_file.h"

#define BITS	64u

static int is_in(const uint64_t *set, uint64_t number)
{
	return set[number / BITS] >> number % BITS & 1;
}

static void put_in(uint64_t *set, uint64_t number)
{
	set[number / BITS] |= UINT64_C(1) << number % BITS;
}

static int is_taken(struct weft_slab *s, uint64_t index)
{
	uint64_t w = load_acquire(	/* of slab.h: P4, from absorb */
		&wefti_slab_group_at(s, index / WEFTI_SLAB_OBJECTS)->word);

	return w >> index % WEFTI_SLAB_OBJECTS & 1;
}

/* Finishes the free that a dead thread had begun. Returns how many objects it freed. */
static int finish(struct weft_slab *s, uint64_t slot)
{
	uint64_t doing = load_relaxed(&s->slot[slot].doing);
	uint64_t index = doing - 1;

	if (doing == 0 || !is_taken(s, index) ||
	    load_acquire(wefti_slab_stamp(s, index)) !=	/* of slab.h: P3 */
	    (WEFTI_STAMP_FREEING | slot))
		return 0;
	wefti_slab_clear_bits(s, index / WEFTI_SLAB_OBJECTS,
			      UINT64_C(1) << index % WEFTI_SLAB_OBJECTS);
	return 1;
}

/* Is the process that reserved the object dead, or the slot that held it? */
static int is_of_dead(uint16_t stamp, const uint64_t *dead, const uint64_t *dead_slots)
{
	const uint16_t kind = stamp & WEFTI_STAMP_KIND;
	const uint16_t number = stamp & WEFTI_STAMP_NUMBER;

	return kind == WEFTI_STAMP_RESERVED ? is_in(dead, number) :
	       kind == WEFTI_STAMP_FREEING && is_in(dead_slots, number);
}

/* The lost objects of a group: of its dead owner, or as is_of_dead() says. */
static uint64_t lost(struct weft_slab *s, uint64_t group, uint64_t taken,
		     int owner_is_dead, const uint64_t *dead,
		     const uint64_t *dead_slots)
{
	struct wefti_slab_group *g = wefti_slab_group_at(s, group);
	uint64_t in = 0;

	for (uint64_t rest = taken; rest; rest &= rest - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rest);
		uint16_t stamp = load_acquire(	/* of slab.h: P3, from free */
			&g->stamp[i]);

		if (stamp == WEFTI_STAMP_LIVE)
			continue;
		if (stamp == WEFTI_STAMP_FREE ? owner_is_dead :
		    is_of_dead(stamp, dead, dead_slots))
			in |= UINT64_C(1) << i;
	}
	return in;
}

static int reclaim_group(struct weft_slab *s, uint64_t group,
			 const uint64_t *dead, const uint64_t *dead_slots)
{
	struct wefti_slab_group *g = wefti_slab_group_at(s, group);
	uint64_t w = load_acquire(&g->word);	/* of slab.h: P4 */
	uint64_t owner = w >> WEFTI_SLAB_OBJECTS;
	int owner_is_dead = owner && is_in(dead_slots, owner - 1);
	uint64_t in = lost(s, group, w & WEFTI_SLAB_TAKEN, owner_is_dead, dead,
			   dead_slots);

	if (owner_is_dead) {
		wefti_slab_drop(s, group, in);
	} else {
		if (in)
			wefti_slab_clear_bits(s, group, in);
		if (w < WEFTI_SLAB_TAKEN)	/* its freeing thread may be dead */
			wefti_slab_make_available(s, group);
	}
	return __builtin_popcountll(in);
}

int64_t wefti_slab_reclaim(struct weft_slab *s, const uint64_t *dead)
{
	uint64_t dead_slots[WEFTI_SLAB_SLOTS / BITS + 1];
	uint64_t groups = load_seq_cst(&s->header->made) * WEFTI_SLAB_GROUPS;
	int64_t freed = 0;

	memset(dead_slots, 0, sizeof(dead_slots));
	for (uint32_t i = 0; i < s->shape.slots; i++) {
		uint64_t process = load_seq_cst(&s->slot[i].process);

		if (process && is_in(dead, process - 1)) {
			put_in(dead_slots, i);
			freed += finish(s, i);
		}
	}
	for (uint64_t i = 0; i < groups; i++)
		freed += reclaim_group(s, i, dead, dead_slots);
	for (uint32_t i = 0; i < s->shape.slots; i++) {
		if (!is_in(dead_slots, i))
			continue;
		store_relaxed(&s->slot[i].doing, 0);
		store_seq_cst(&s->slot[i].process, 0);
	}
	return freed;
}

int64_t weft_slab_recover(struct weft_slab *slab)
{
	uint64_t dead[WEFTI_SLAB_PROCESSES / BITS + 1];
	_Atomic uint32_t *process = slab->header->process;
	uint32_t not_yet = 0;
	int64_t freed;
	int some = 0;

	if (slab->fd < 0)
		return 0;
	/* A file lock does not exclude another thread of the same process. */
	if (!cas_seq_cst(&slab->is_recovering, &not_yet, 1))
		return -EBUSY;
	memset(dead, 0, sizeof(dead));
	for (uint32_t i = 0; i < WEFTI_SLAB_PROCESSES; i++) {
		if (i == slab->process || !load_seq_cst(&process[i]) ||
		    wefti_os_file_try_lock(slab->fd, i) != 0)
			continue;
		if (load_seq_cst(&process[i])) {
			put_in(dead, i);
			some = 1;
		} else {	/* another process has recovered it meanwhile */
			wefti_os_file_unlock(slab->fd, i);
		}
	}
	freed = some ? wefti_slab_reclaim(slab, dead) : 0;
	for (uint32_t i = 0; i < WEFTI_SLAB_PROCESSES; i++) {
		if (!is_in(dead, i))
			continue;
		store_seq_cst(&process[i], 0);
		wefti_os_file_unlock(slab->fd, i);
	}
	store_seq_cst(&slab->is_recovering, 0);
	return freed;
}

int weft_slab_each(struct weft_slab *slab,
		   int (*visit)(void *object, void *arg), void *arg)
{
	uint64_t groups = load_seq_cst(&slab->header->made) * WEFTI_SLAB_GROUPS;

	for (uint64_t group = 0; group < groups; group++) {
		struct wefti_slab_group *g = wefti_slab_group_at(slab, group);
		uint64_t rest = load_seq_cst(&g->word) & WEFTI_SLAB_TAKEN;

		for (; rest; rest &= rest - 1) {
			unsigned i = (unsigned)__builtin_ctzll(rest);
			int rc = 0;

			if (load_relaxed(&g->stamp[i]) == WEFTI_STAMP_LIVE)
				rc = visit(wefti_slab_at(slab, group *
						WEFTI_SLAB_OBJECTS + i), arg);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}

void weft_slab_info(struct weft_slab *slab, struct weft_slab_info *info)
{
	uint64_t made = load_seq_cst(&slab->header->made);

	*info = (struct weft_slab_info){
		.limit = slab->shape.limit,
		.bytes = slab->shape.total_bytes,
		.reserved_bytes = slab->shape.slabs_at +
				  made * slab->shape.slab_bytes,
		.object_bytes = slab->shape.object_bytes,
	};
	for (uint32_t i = 0; i < slab->shape.slots; i++)
		info->threads += load_relaxed(&slab->slot[i].process) != 0;
	for (uint32_t i = 0; i < WEFTI_SLAB_PROCESSES; i++)
		info->processes += load_relaxed(&slab->header->process[i]) != 0;
	for (uint64_t group = 0; group < made * WEFTI_SLAB_GROUPS; group++) {
		struct wefti_slab_group *g = wefti_slab_group_at(slab, group);
		uint64_t rest = load_relaxed(&g->word) & WEFTI_SLAB_TAKEN;

		for (; rest; rest &= rest - 1)
			info->live += (uint64_t)wefti_stamp_is_out(load_relaxed(
				&g->stamp[__builtin_ctzll(rest)]));
	}
}
