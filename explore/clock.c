/* SPDX-License-Identifier: MIT */
/*
 * explore/clock.c - what happens before what: a vector clock for each thread and object
 *
 * Structure
 *   A clock has a number for each thread: how much of that thread happens before. A thread
 *   has one; a key (the address of a mutex, of an atomic object, of a thread) has one in a
 *   table. give() adds the thread's clock to the key's, and counts the thread on. take()
 *   adds the key's to the thread's.
 *
 * Invariants
 *   I1  A thread's own number in its own clock is the highest that any clock has for it.
 *   I2  An access of thread t at its number n happens before what thread u does now if
 *       and only if u's clock has n or more for t.
 *   I3  All is the data of the thread with the turn (schedule.c, I1), and no address is
 *       told: the clocks change nothing in the order of threads.
 *
 * An acquire fence takes what relaxed loads have seen before it; a release fence is what
 * relaxed stores behind it give. A plain or relaxed store of another thread ends a release
 * sequence; one of the same thread does not, as C11 has it.
 *
 * A handler may interrupt each of these functions: while wefti_ex_shut(), its calls are the
 * next library's alone. memory.c does the same for atomics and fences.
 *
 * Nothing is kept before the first instrumented module is loaded: without accesses there is
 * nothing to order.
 *
 * Source
 *   L. Lamport, "Time, clocks, and the ordering of events in a distributed system", 1978.
 *   F. Mattern, "Virtual time and global states of distributed systems", 1988.
 */
#include "race.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST		1024u
#define ROOM		8u	/* of a new clock */

struct keyed {
	uintptr_t key;
	struct wefti_ex_clock clock;
	uint32_t giver;		/* the thread of the last store that heads a sequence */
};

static struct keyed *table;
static size_t room;
static size_t used;

static void make_room(struct wefti_ex_clock *c, uint32_t threads)
{
	uint32_t more = c->room ? c->room : ROOM;
	uint32_t *at;

	if (threads <= c->room)
		return;
	while (more < threads)
		more *= 2;
	at = wefti_ex_pieces(more * sizeof(*at));
	if (c->n)
		memcpy(at, c->at, c->n * sizeof(*at));
	memset(at + c->n, 0, (more - c->n) * sizeof(*at));
	if (c->at)
		wefti_ex_pieces_back(c->at, c->room * sizeof(*at));
	c->at = at;
	c->room = more;
}

static void join(struct wefti_ex_clock *to, const struct wefti_ex_clock *from)
{
	make_room(to, from->n);
	for (uint32_t i = 0; i < from->n; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
	if (from->n > to->n)
		to->n = from->n;
}

static void empty(struct wefti_ex_clock *c)
{
	if (c->n)
		memset(c->at, 0, c->n * sizeof(*c->at));
	c->n = 0;
}

uint32_t wefti_ex_now_of(struct wefti_ex_thread *self)
{
	struct wefti_ex_clock *c = &self->clock;

	if (c->n < self->number) {
		make_room(c, self->number);
		c->n = self->number;
	}
	if (!c->at[self->number - 1])
		c->at[self->number - 1] = 1;
	return c->at[self->number - 1];
}

static void count_on(struct wefti_ex_thread *self)
{
	(void)wefti_ex_now_of(self);
	self->clock.at[self->number - 1]++;
}

int wefti_ex_is_before(uint32_t thread, uint32_t number, const struct wefti_ex_thread *self)
{
	const struct wefti_ex_clock *c = &self->clock;

	return thread == self->number || (thread <= c->n && number <= c->at[thread - 1]);
}

static struct keyed *find(uintptr_t key)
{
	const uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h >> 20) & (room - 1);

	while (table[i].key && table[i].key != key)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static void grow(void)
{
	struct keyed *old = table;
	const size_t before = room;

	room = before ? before * 2 : FIRST;
	table = wefti_ex_memory(room * sizeof(*table));
	for (size_t i = 0; i < before; i++)
		if (old[i].key)
			*find(old[i].key) = old[i];
	if (old)
		(void)munmap(old, before * sizeof(*old));
}

static struct keyed *get(uintptr_t key)
{
	struct keyed *k;

	if (used * 2 >= room)
		grow();
	k = find(key);
	if (!k->key) {
		k->key = key;
		used++;
	}
	return k;
}

void wefti_ex_give(struct wefti_ex_thread *self, const volatile void *key)
{
	int was;

	if (!wefti_ex.looks_for_races)
		return;
	was = wefti_ex_shut();
	(void)wefti_ex_now_of(self);
	join(&get((uintptr_t)key)->clock, &self->clock);
	count_on(self);
	wefti_ex_open(was);
}

void wefti_ex_take(struct wefti_ex_thread *self, const volatile void *key)
{
	int was;

	if (!wefti_ex.looks_for_races || !room)
		return;
	was = wefti_ex_shut();
	join(&self->clock, &find((uintptr_t)key)->clock);
	wefti_ex_open(was);
}

void wefti_ex_forget_key(const volatile void *key)
{
	struct keyed *k = room ? find((uintptr_t)key) : NULL;

	if (k && k->key)
		empty(&k->clock);
}

/* The memory of a thread that has ended is used for another one. */
void wefti_ex_clocks_begin(struct wefti_ex_thread *t)
{
	empty(&t->clock);
	empty(&t->seen);
	empty(&t->fenced);
	t->frame_count = 0;
	wefti_ex_forget_key(t);
}

void wefti_ex_begins_after(struct wefti_ex_thread *child, struct wefti_ex_thread *self)
{
	int was;

	if (!wefti_ex.looks_for_races)
		return;
	was = wefti_ex_shut();
	(void)wefti_ex_now_of(self);
	join(&child->clock, &self->clock);
	count_on(self);
	wefti_ex_open(was);
}

static int is_acquire(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static int is_release(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL ||
	       order == __ATOMIC_SEQ_CST;
}

void wefti_ex_atomic_loads(struct wefti_ex_thread *self, const volatile void *at, int order)
{
	const struct keyed *k;

	if (!wefti_ex.looks_for_races || !room)
		return;
	k = find((uintptr_t)at);
	join(is_acquire(order) ? &self->clock : &self->seen, &k->clock);
}

/* is_change: a read-modify-write, which goes on with the sequence of the value it read. */
void wefti_ex_atomic_stores(struct wefti_ex_thread *self, const volatile void *at, int order,
			    int is_change)
{
	struct keyed *k;

	if (!wefti_ex.looks_for_races)
		return;
	(void)wefti_ex_now_of(self);
	k = get((uintptr_t)at);
	if (!is_change && (is_release(order) || k->giver != self->number))
		empty(&k->clock);
	if (!is_change)
		k->giver = self->number;
	join(&k->clock, is_release(order) ? &self->clock : &self->fenced);
	if (is_release(order))
		count_on(self);
}

void wefti_ex_fence(struct wefti_ex_thread *self, int order)
{
	if (!wefti_ex.looks_for_races)
		return;
	if (is_acquire(order))
		join(&self->clock, &self->seen);
	if (!is_release(order))
		return;
	(void)wefti_ex_now_of(self);
	join(&self->fenced, &self->clock);
	count_on(self);
}
