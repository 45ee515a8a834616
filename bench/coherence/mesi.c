/* SPDX-License-Identifier: MIT */
/*
 * coherence/mesi.c - which cache has which line
 *
 * The lines are in a hash table that only grows. In plain C11: lockfree/atomic.h would
 * call us.
 */
#include "coherence/mesi.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINES_LOG	22
#define LINES		(1u << LINES_LOG)
#define TRIES		10000		/* then the access is not counted */

struct entry {
	_Atomic uintptr_t key;		/* the address / 64; 0: free */
	atomic_flag busy;		/* protects line */
	struct mesi_line line;
};

static _Atomic(struct entry *) table;

static unsigned count_holders(const struct mesi_line *line)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MESI_WORDS; i++)
		n += (unsigned)__builtin_popcountll(line->holders[i]);
	return n;
}

static int holds(const struct mesi_line *line, unsigned cpu)
{
	return line->holders[cpu / 64] >> cpu % 64 & 1;
}

static void hold_alone(struct mesi_line *line, unsigned cpu)
{
	for (unsigned i = 0; i < MESI_WORDS; i++)
		line->holders[i] = 0;
	line->holders[cpu / 64] = UINT64_C(1) << cpu % 64;
}

enum mesi_state mesi_line_state(const struct mesi_line *line, unsigned cpu)
{
	if (!holds(line, cpu))
		return MESI_INVALID;
	if (count_holders(line) > 1)
		return MESI_SHARED;
	return line->is_modified ? MESI_MODIFIED : MESI_EXCLUSIVE;
}

static unsigned count_near(const struct mesi_line *line, unsigned cpu,
			   unsigned socket)
{
	unsigned n = 0;

	for (unsigned i = 0; i < socket; i++)
		n += (unsigned)holds(line, cpu - cpu % socket + i);
	return n;
}

/* A read goes to the nearest cache that has the line, a write to all. */
static int is_far(const struct mesi_line *line, unsigned cpu, int is_write,
		  unsigned socket)
{
	unsigned near;

	if (!socket)
		return 0;
	near = count_near(line, cpu, socket);
	return is_write ? near < count_holders(line) : near == 0;
}

struct mesi_result mesi_line_access(struct mesi_line *line, unsigned cpu,
				    int is_write, unsigned socket)
{
	int has = holds(line, cpu);
	unsigned others = count_holders(line) - (unsigned)has;
	struct mesi_result r = { .event = MESI_HIT, .line = line,
				 .invalidated = is_write ? others : 0 };

	if (!has && !others)
		r.event = MESI_FIRST;
	else if (is_write && others)
		r.event = has ? MESI_UPGRADE : MESI_TAKE;
	else if (!has)
		r.event = MESI_FETCH;
	r.is_far = r.event >= MESI_FETCH && is_far(line, cpu, is_write, socket);
	if (is_write) {
		hold_alone(line, cpu);
		line->is_modified = 1;
	} else if (!has) {
		/* What another cache had modified goes to memory. */
		line->holders[cpu / 64] |= UINT64_C(1) << cpu % 64;
		line->is_modified = 0;
	}
	return r;
}

static struct entry *make_table(void)
{
	struct entry *none = NULL;
	struct entry *made = mmap(NULL, LINES * sizeof(*made),
				  PROT_READ | PROT_WRITE, MAP_PRIVATE |
				  MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (made == MAP_FAILED)
		abort();
	if (atomic_compare_exchange_strong(&table, &none, made))
		return made;
	munmap(made, LINES * sizeof(*made));
	return none;
}

static struct entry *find(const volatile void *p)
{
	uintptr_t key = (uintptr_t)p / MESI_LINE;
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LINES_LOG);
	struct entry *t = atomic_load_explicit(&table, memory_order_acquire);

	if (!t)
		t = make_table();
	for (unsigned i = 0; i < LINES; i++, at = (at + 1) % LINES) {
		uintptr_t found = atomic_load_explicit(&t[at].key,
						       memory_order_relaxed);

		if (found == key || (found == 0 &&
		    (atomic_compare_exchange_strong(&t[at].key, &found, key) ||
		     found == key)))
			return &t[at];
	}
	fputs("coherence: too many lines\n", stderr);
	abort();
}

static int take(struct entry *e)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (!atomic_flag_test_and_set_explicit(&e->busy,
						       memory_order_acquire))
			return 1;
		(void)sched_yield();
	}
	return 0;
}

struct mesi_result mesi_access(const volatile void *p, unsigned cpu,
			       int is_write, unsigned socket)
{
	struct entry *e = find(p);
	struct mesi_result r = { .event = MESI_MISSED };

	if (!take(e))
		return r;
	r = mesi_line_access(&e->line, cpu, is_write, socket);
	atomic_flag_clear_explicit(&e->busy, memory_order_release);
	return r;
}

enum mesi_state mesi_state(const volatile void *p, unsigned cpu)
{
	return mesi_line_state(&find(p)->line, cpu);
}
