/* SPDX-License-Identifier: MIT */
/*
 * slab.c - scenarios: threads give to and take from the groups of a slab
 *
 * loom.sh makes a slab two groups of two objects. At first all are handed out, or
 * of the first group some are not. At the end everything that is not handed out
 * must be free for all, and the hints must say so.
 */
#include <string.h>

#include "model.h"

#include "lockfree/slab.h"
#include "os/call/shared_file.h"

#define DEAD	2u		/* slot and process */
#define ALL	WEFTI_SLAB_TAKEN
#define OBJECTS	(WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS)

static struct {
	struct wefti_slab_group group[WEFTI_SLAB_GROUPS];
	uint64_t object[OBJECTS];
} slab;
static struct wefti_slab_header header;
static struct wefti_slab_slot slot[3];
static struct wefti_slab_local local[2];
static _Atomic uint64_t hint, top;
static struct weft_slab set;
static _Atomic unsigned held[OBJECTS];
static char body[OBJECTS];

/* A thread's record is found by its number, and never in front. */
_Thread_local struct wefti_slab_local *wefti_slab_locals;
struct wefti_slab_local wefti_slab_last;

struct wefti_slab_local *wefti_slab_join(struct weft_slab *s, int *error)
{
	(void)s;
	(void)error;
	return &local[m_self()];
}

int wefti_os_file_reserve(int fd, uint64_t start, uint64_t bytes)
{
	(void)fd;
	(void)start;
	(void)bytes;
	return -1;
}

/* Objects are LIVE, groups full and nobody's. */
static void init_all_out(void)
{
	wefti_slab_locals = &wefti_slab_last;
	set = (struct weft_slab){
		.base = (char *)&slab, .header = &header, .slot = slot,
		.hint = &hint, .top = &top, .object_bytes = sizeof(uint64_t),
		.group_bytes = WEFTI_SLAB_OBJECTS * sizeof(uint64_t),
		.shape = { .slots = 3, .slabs = 1, .slab_bytes = sizeof(slab) },
		.fd = -1,
	};
	store_relaxed(&header.made, (uint64_t)1);
	store_relaxed(&header.changes, (uint64_t)0);
	store_relaxed(&hint, UINT64_MAX);
	store_relaxed(&top, UINT64_MAX);
	for (unsigned i = 0; i < 3; i++) {
		store_relaxed(&slot[i].process, (uint64_t)i + 1);
		store_relaxed(&slot[i].doing, (uint64_t)0);
	}
	for (unsigned i = 0; i < WEFTI_SLAB_GROUPS; i++) {
		store_relaxed(&slab.group[i].word, ALL);
		for (unsigned k = 0; k < WEFTI_SLAB_OBJECTS; k++)
			store_relaxed(&slab.group[i].stamp[k],
				      (uint16_t)WEFTI_STAMP_LIVE);
	}
	for (unsigned i = 0; i < OBJECTS; i++) {
		store_relaxed(&held[i], 1u);
		m_data_write(&body[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		local[i] = (struct wefti_slab_local){
			.slab = &set, .slot = &slot[i], .slot_number = i,
			.inverse = 1, .shift = 3,
			.object_bytes = sizeof(uint64_t),
		};
		wefti_slab_own_none(&local[i]);
	}
}

/* The first group is a slot's; of its objects, `mine` are in the magazine. */
static void own(uint64_t number, unsigned mine)
{
	struct wefti_slab_local *l = &local[number];

	store_relaxed(&slab.group[0].word,
		      ALL | (number + 1) << WEFTI_SLAB_OBJECTS);
	for (unsigned i = 0; i < WEFTI_SLAB_OBJECTS; i++) {
		if (!(mine >> i & 1))
			continue;
		store_relaxed(&slab.group[0].stamp[i],
			      (uint16_t)WEFTI_STAMP_FREE);
		store_relaxed(&held[i], 0u);
	}
	if (number == DEAD)
		return;
	l->group = &slab.group[0];
	l->stamp = slab.group[0].stamp;
	l->objects = (char *)slab.object;
	l->mine = mine;
}

static void give(unsigned i)
{
	m_data_write(&body[i]);
	m_check(fetch_sub_relaxed(&held[i], 1u) == 1);
	m_check(weft_slab_free(&set, &slab.object[i]) == 0);
}

static void take(void)
{
	uint64_t *object = weft_slab_alloc(&set, NULL);
	unsigned i;

	if (!object)
		return;
	i = (unsigned)(object - slab.object);
	m_check(i < OBJECTS);
	m_data_write(&body[i]);
	m_check(fetch_add_relaxed(&held[i], 1u) == 0);
}

static void leave(void)
{
	struct wefti_slab_local *l = &local[m_self()];

	wefti_slab_put_back(l, l->held_count);
	if (l->group)
		wefti_slab_drop(&set, l->number, l->mine);
	wefti_slab_own_none(l);
	l->mine = 0;
}

static void reclaim(void)
{
	const uint64_t dead[WEFTI_SLAB_PROCESSES / 64 + 1] = { 1u << DEAD };

	(void)wefti_slab_reclaim(&set, dead);
}

static int without_hints;

static void check_group(unsigned group)
{
	uint64_t out = 0;

	for (unsigned i = 0; i < WEFTI_SLAB_OBJECTS; i++)
		out |= (uint64_t)load_relaxed(
			&held[group * WEFTI_SLAB_OBJECTS + i]) << i;
	m_check(load_relaxed(&slab.group[group].word) == out);
	if (without_hints)
		return;
	m_check(out == ALL || !(load_relaxed(&hint) >> group & 1));	/* I5 */
	m_check(out == ALL || !(load_relaxed(&top) & 1));
}

/* Runs in thread 0; the other's magazine is given back for it. */
static void check(void)
{
	leave();
	wefti_slab_put_back(&local[1], local[1].held_count);
	if (local[1].group)
		wefti_slab_drop(&set, local[1].number, local[1].mine);
	for (unsigned i = 0; i < WEFTI_SLAB_GROUPS; i++)
		check_group(i);
}

/* Both find the group that the other puts back, or do not. */

static void give_take_0(void)
{
	give(0);
	take();
}

static void give_take_1(void)
{
	give(1);
	take();
}

SCENARIO(slab_hints) = { init_all_out, { give_take_0, give_take_1 }, check };

/* The owner's magazine is empty while an object of its group comes back. */

static void init_owned(void)
{
	init_all_out();
	own(0, 1);
}

static void take_two(void)
{
	take();
	take();
}

SCENARIO(slab_owner) = { init_owned, { take_two, give_take_1 }, check };

/* A magazine is left, and another thread takes what was in it. */

static void take_give_leave(void)
{
	take();
	give(0);
	leave();
}

/* The hint may be clear wrongly. */
static void init_owned_unhinted(void)
{
	init_owned();
	store_relaxed(&hint, ~UINT64_C(1));
	store_relaxed(&top, ~UINT64_C(1));
	without_hints = 1;	/* no fences there, see loom.sh */
}

SCENARIO(slab_leave) = {
	init_owned_unhinted, { take_give_leave, take_two }, check,
};

/* An owner finds the group full and says so, while an object comes back. */

static void init_all_out_unhinted(void)
{
	init_all_out();
	store_relaxed(&hint, ~UINT64_C(1));
	store_relaxed(&top, ~UINT64_C(1));
}

static void give_1(void)
{
	give(1);
}

SCENARIO(slab_late) = { init_all_out_unhinted, { take, give_1 }, check };

/* The same, and it comes back to the other group. */
static void give_2(void)
{
	give(2);
}

SCENARIO(slab_late_top) = { init_all_out_unhinted, { take, give_2 }, check };

/* What was being freed is in already, and taken again, when it is recovered. */

static void init_dead_freer(void)
{
	init_all_out();
	own(0, 0);
	store_relaxed(&held[1], 0u);
	store_relaxed(&slot[DEAD].doing, (uint64_t)2);
	store_relaxed(&slab.group[0].stamp[1],
		      (uint16_t)(WEFTI_STAMP_FREEING | DEAD));
	store_relaxed(&slab.group[0].word,
		      UINT64_C(1) | UINT64_C(1) << WEFTI_SLAB_OBJECTS);
}

SCENARIO(slab_dead_freer) = { init_dead_freer, { take, reclaim }, check };

/* The dead one's group is given back while an object of it is. */

static void init_dead_owner(void)
{
	init_all_out();
	own(DEAD, 2);
}

SCENARIO(slab_dead_owner) = { init_dead_owner, { give_take_0, reclaim }, check };

/* --- second magazines */

static void init_holders(void)
{
	init_all_out();
	for (unsigned i = 0; i < 2; i++) {
		local[i].slabs = (char *)&slab;
		local[i].slab_bytes = sizeof(slab);
		local[i].slab_inverse = UINT64_MAX / sizeof(slab) + 1;
	}
}

/* What one thread has freed and held is another's when it is given back. */

static void init_owned_holders(void)
{
	init_holders();
	own(1, 0);
	without_hints = 1;
}

static void hold_take_leave(void)
{
	give(1);
	m_check(local[0].held_count == 1);
	take();
	m_check(load_relaxed(&held[1]) == 1);
	give(1);
	give(0);
	leave();
}

SCENARIO(slab_held) = { init_owned_holders, { hold_take_leave, take_two }, check };

/* A thread died with an object; the group's owner takes it when it is recovered. */

static void init_dead_holder(void)
{
	init_all_out();
	own(0, 0);
	store_relaxed(&held[1], 0u);
	store_relaxed(&slab.group[0].stamp[1],
		      (uint16_t)(WEFTI_STAMP_FREEING | DEAD));
}

SCENARIO(slab_dead_holder) = { init_dead_holder, { take_two, reclaim }, check };
