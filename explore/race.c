/* SPDX-License-Identifier: MIT */
/*
 * explore/race.c - data races: two accesses to a byte, one a write, one not atomic, and no
 * order between them
 *
 * Structure
 *   A page of the program's memory has a table of its granules of 8 bytes. A granule has a
 *   list of cells, each with a mask of its bytes. A cell has the accesses to these bytes that
 *   later ones are compared with. An access that covers a part of a cell's bytes splits it.
 *
 * Invariants
 *   I1  The masks of a granule's cells are disjoint.
 *   I2  No two accesses of a kind in a cell are ordered, and behind a plain write nothing
 *       older is in the cell. Nothing is lost by that: what conflicts with the access that
 *       was taken out conflicts with the one that took it out, and if it is ordered behind
 *       the new one it is so behind the old one.
 *   I3  Each pair of places, and each cell, is told once in a run, with the stacks of its
 *       first case.
 *
 * All accesses of one thread at one number of its clock are the same for others (clock.c,
 * I2). So the second one costs a comparison.
 *
 * Source
 *   C. Flanagan, S. Freund, "FastTrack: efficient and precise dynamic race detection", PLDI
 *   2009. There a read is one epoch or a whole vector; here each kind is the list of the
 *   last unordered accesses. Atomic accesses are two kinds more.
 */
#include "race.h"

#include <string.h>
#include <sys/mman.h>

#define GRANULE		8u
#define PAGE		4096u
#define GRANULES	(PAGE / GRANULE)
#define PAGES_FIRST	256u
#define TOLD_MOST	64u
#define SITES_MOST	16u	/* of a location, until a second thread comes to it */

struct past {
	struct past *next;
	uint32_t thread, number;	/* of its clock */
	uint32_t stack;
	uint32_t kind;
};

/* The places that have touched a cell; kept only where sites are learned. */
struct touch {
	struct touch *next;
	const void *where;
};

struct cell {
	struct cell *next;
	struct past *past;
	struct touch *touches;
	uint32_t toucher;	/* the first thread */
	uint8_t mask, is_shared, is_written, is_told;
};

struct page {
	uintptr_t number;	/* 0: the place is free */
	struct cell **granules;
};

static struct page *pages;
static size_t room, used;
static uint64_t told[TOLD_MOST];
static unsigned told_count;

static struct page *find(uintptr_t number)
{
	size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

	while (pages[i].number && pages[i].number != number)
		i = (i + 1) & (room - 1);
	return &pages[i];
}

static void grow(void)
{
	struct page *old = pages;
	const size_t before = room;

	room = before ? before * 2 : PAGES_FIRST;
	pages = wefti_ex_memory(room * sizeof(*pages));
	for (size_t i = 0; i < before; i++)
		if (old[i].number)
			*find(old[i].number) = old[i];
	if (old)
		(void)munmap(old, before * sizeof(*old));
}

static struct cell **granule_at(uintptr_t at)
{
	static struct page *last;
	const uintptr_t number = at / PAGE;

	if (!last || last->number != number) {
		if (used * 2 >= room)
			grow();
		last = find(number);
		if (!last->number) {
			last->number = number;
			last->granules = wefti_ex_memory(GRANULES * sizeof(*last->granules));
			used++;
		}
	}
	return &last->granules[at % PAGE / GRANULE];
}

static int conflicts(uint32_t a, uint32_t b)
{
	const int writes = a == WEFTI_EX_STORES || a == WEFTI_EX_ATOMIC_STORES ||
			   b == WEFTI_EX_STORES || b == WEFTI_EX_ATOMIC_STORES;

	return writes && (a < WEFTI_EX_ATOMIC_LOADS || b < WEFTI_EX_ATOMIC_LOADS);
}

static struct cell *split(struct cell *c, uint8_t mask)
{
	struct cell *new = wefti_ex_pieces(sizeof(*new));

	*new = *c;
	new->mask = mask;
	new->past = NULL;
	new->touches = NULL;
	for (const struct past *p = c->past; p; p = p->next) {
		struct past *copy = wefti_ex_pieces(sizeof(*copy));

		*copy = *p;
		copy->next = new->past;
		new->past = copy;
	}
	for (const struct touch *t = c->touches; t; t = t->next) {
		struct touch *copy = wefti_ex_pieces(sizeof(*copy));

		*copy = *t;
		copy->next = new->touches;
		new->touches = copy;
	}
	c->mask &= (uint8_t)~mask;
	c->next = new;
	return new;
}

static void free_cell(struct cell *c)
{
	struct past *next;
	struct touch *after;

	for (struct past *p = c->past; p; p = next) {
		next = p->next;
		wefti_ex_pieces_back(p, sizeof(*p));
	}
	for (struct touch *t = c->touches; t; t = after) {
		after = t->next;
		wefti_ex_pieces_back(t, sizeof(*t));
	}
	wefti_ex_pieces_back(c, sizeof(*c));
}

/* The access that is being made. */
struct now {
	struct wefti_ex_thread *self;
	const volatile void *at;
	size_t bytes;
	enum wefti_ex_access kind;
	const void *where;
	uint32_t number;
	uint32_t stack;
};

static int is_told(uint64_t key)
{
	for (unsigned i = 0; i < told_count; i++)
		if (told[i] == key)
			return 1;
	if (told_count == TOLD_MOST)
		return 1;
	told[told_count++] = key;
	return 0;
}

static uint64_t mixed(uint32_t stack)
{
	uint32_t outer;
	const uint64_t h = wefti_ex_place(wefti_ex_stack_top(stack, &outer)) *
			   UINT64_C(0x9e3779b97f4a7c15);

	return h ^ h >> 29;
}

static void tell(struct cell *c, const struct now *now, const struct past *then)
{
	const uint64_t key = mixed(then->stack) + mixed(now->stack);

	if (c->is_told || is_told(key))
		return;
	c->is_told = 1;
	wefti_ex_tell_race(key, now->at, now->bytes,
			   &(struct wefti_ex_side){ now->self->number, now->kind, now->stack },
			   &(struct wefti_ex_side){ then->thread, then->kind, then->stack });
}

/* The cell's bytes are touched. I2 */
static void compare(struct cell *c, struct now *now)
{
	struct past **link = &c->past, *p;
	int is_there = 0;

	while ((p = *link)) {
		const int is_ordered = wefti_ex_is_before(p->thread, p->number, now->self);

		if (p->thread == now->self->number && p->number == now->number &&
		    p->kind == now->kind) {
			is_there = 1;
			link = &p->next;
			continue;
		}
		if (!is_ordered && conflicts(p->kind, now->kind)) {
			if (!now->stack)
				now->stack = wefti_ex_stack(now->self, now->where);
			tell(c, now, p);
		}
		if (now->kind == WEFTI_EX_STORES || (is_ordered && p->kind == now->kind)) {
			*link = p->next;
			wefti_ex_pieces_back(p, sizeof(*p));
		} else {
			link = &p->next;
		}
	}
	if (is_there)
		return;
	if (!now->stack)
		now->stack = wefti_ex_stack(now->self, now->where);
	p = wefti_ex_pieces(sizeof(*p));
	*p = (struct past){ c->past, now->self->number, now->number, now->stack, now->kind };
	c->past = p;
}

/* Two threads touch the same bytes, and one writes: all that touched them are sites. */
static void learn(struct cell *c, const struct now *now)
{
	unsigned n = 0;
	struct touch *t;

	if (!c->toucher)
		c->toucher = now->self->number;
	if (c->toucher != now->self->number)
		c->is_shared = 1;
	if (now->kind == WEFTI_EX_STORES || now->kind == WEFTI_EX_ATOMIC_STORES)
		c->is_written = 1;
	if (c->is_shared && c->is_written) {
		wefti_ex_site(now->where);
		for (; (t = c->touches); wefti_ex_pieces_back(t, sizeof(*t))) {
			wefti_ex_site(t->where);
			c->touches = t->next;
		}
		return;
	}
	for (t = c->touches; t; t = t->next, n++)
		if (t->where == now->where)
			return;
	if (n == SITES_MOST)
		return;
	t = wefti_ex_pieces(sizeof(*t));
	t->where = now->where;
	t->next = c->touches;
	c->touches = t;
}

static void touch_cell(struct cell *c, struct now *now)
{
	if (wefti_ex.learns)
		learn(c, now);
	if (wefti_ex.looks_for_races)
		compare(c, now);
}

static void touch_granule(struct cell **first, uint8_t mask, struct now *now)
{
	struct cell *c;

	for (c = *first; c && mask; c = c->next) {
		const uint8_t both = c->mask & mask;

		if (!both)
			continue;
		mask &= (uint8_t)~both;
		if (both != c->mask)
			c = split(c, both);
		touch_cell(c, now);
	}
	if (!mask)
		return;
	c = wefti_ex_pieces(sizeof(*c));
	*c = (struct cell){ .next = *first, .mask = mask };
	*first = c;
	touch_cell(c, now);
}

static uint8_t mask_of(uintptr_t at, uintptr_t end)
{
	const uintptr_t granule = at & ~(uintptr_t)(GRANULE - 1);
	const unsigned from = (unsigned)(at - granule);
	const unsigned to = end - granule < GRANULE ? (unsigned)(end - granule) : GRANULE;

	return (uint8_t)((0xffu << from) & (0xffu >> (GRANULE - to)));
}

void wefti_ex_race(struct wefti_ex_thread *self, const volatile void *memory, size_t bytes,
		   enum wefti_ex_access kind, const void *where)
{
	struct now now = { self, memory, bytes, kind, where, wefti_ex_now_of(self), 0 };
	uintptr_t at = (uintptr_t)memory;
	const uintptr_t end = at + bytes;

	for (; at < end; at = (at & ~(uintptr_t)(GRANULE - 1)) + GRANULE)
		touch_granule(granule_at(at), mask_of(at, end), &now);
}

static void forget_granule(struct cell **first, uint8_t mask)
{
	struct cell **link = first, *c;

	while ((c = *link)) {
		c->mask &= (uint8_t)~mask;
		if (c->mask) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		free_cell(c);
	}
}

/* now: NULL, or the free of this memory: an access behind it is a race, until it is given anew */
static void forget_in(const struct page *page, uintptr_t from, uintptr_t end, struct now *now)
{
	const uintptr_t begin = page->number * PAGE;
	uintptr_t at = from > begin ? from : begin;

	if (end > begin + PAGE)
		end = begin + PAGE;
	for (; at < end; at = (at & ~(uintptr_t)(GRANULE - 1)) + GRANULE) {
		struct cell **first = &page->granules[at % PAGE / GRANULE];
		const uint8_t mask = mask_of(at, end);

		if (!now)
			forget_granule(first, mask);
		for (struct cell *c = *first; now && c; c = c->next)
			if (c->mask & mask)
				compare(c, now);
	}
}

static void forget(uintptr_t at, size_t bytes, struct now *now)
{
	const uintptr_t end = at + bytes;

	if (!room || !bytes)
		return;
	if (bytes / PAGE > used) {
		for (size_t i = 0; i < room; i++)
			if (pages[i].number && pages[i].number >= at / PAGE &&
			    pages[i].number <= (end - 1) / PAGE)
				forget_in(&pages[i], at, end, now);
		return;
	}
	for (uintptr_t number = at / PAGE; number <= (end - 1) / PAGE; number++) {
		const struct page *page = find(number);

		if (page->number)
			forget_in(page, at, end, now);
	}
}

void wefti_ex_forget(const volatile void *at, size_t bytes)
{
	forget((uintptr_t)at, bytes, NULL);
}

void wefti_ex_race_free(struct wefti_ex_thread *self, void *at, size_t bytes,
			const void *where)
{
	struct now now = { self, at, bytes, WEFTI_EX_STORES, where, wefti_ex_now_of(self), 0 };

	forget((uintptr_t)at, bytes, &now);
}
