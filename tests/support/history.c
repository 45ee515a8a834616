/* SPDX-License-Identifier: MIT */
/*
 * history.c - records calls with their times, and asks whether they linearize
 *
 * The search is that of Wing and Gong (1993). It takes any operation that was
 * called before every other outstanding one returned, lets the model do it, and
 * goes on with the rest. If that ends nowhere, it comes back. With Lowe's memo
 * (2017): the set of operations done and the state of the model decide what can
 * follow, so each such pair is looked at once.
 *
 * The memo is bounded: eight calls that overlap throughout took a machine's memory.
 */
#include "history.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/atomic.h"

static _Atomic uint64_t own_clock, *history_clock = &own_clock;

void history_clock_at(_Atomic uint64_t *clock)
{
	history_clock = clock ? clock : &own_clock;
}

void history_clock_reset(void)
{
	store_seq_cst(history_clock, (uint64_t)0);
}

void history_recorder_init(struct history_recorder *r, int who,
			   struct history_op *op, size_t capacity)
{
	*r = (struct history_recorder){
		.op = op, .capacity = capacity, .who = who,
	};
}

size_t history_call(struct history_recorder *r, int kind, uint64_t arg)
{
	if (r->count == r->capacity) {
		fprintf(stderr, "history: recorder %d is full\n", r->who);
		abort();
	}
	r->op[r->count] = (struct history_op){
		.kind = kind, .who = r->who, .arg = arg,
		.called = fetch_add_seq_cst(history_clock, (uint64_t)1),
	};
	return r->count++;
}

void history_return(struct history_recorder *r, size_t index, uint64_t result)
{
	r->op[index].result = result;
	r->op[index].returned = fetch_add_seq_cst(history_clock, (uint64_t)1);
}

size_t history_merge(struct history_op *out, size_t capacity,
		     const struct history_recorder *r, size_t recorders)
{
	size_t count = 0;

	for (size_t i = 0; i < recorders; i++) {
		if (r[i].count > capacity - count) {
			fprintf(stderr, "history: too long to merge\n");
			abort();
		}
		memcpy(out + count, r[i].op, r[i].count * sizeof(*out));
		count += r[i].count;
	}
	return count;
}

void history_gate_pass(struct history_gate *gate, uint32_t members)
{
	uint32_t mine = fetch_add_seq_cst(&gate->arrived, 1u);
	uint32_t all = mine - mine % members + members;

	for (int spins = 0; (int32_t)(load_seq_cst(&gate->arrived) - all) < 0;
	     spins++)
		if (spins >= 1000)
			sched_yield();	/* more members than CPUs */
}

/* The pairs (operations done, state after them) that lead nowhere. */
struct memo {
	unsigned char *entry;		/* done, then state; done == 0: free */
	size_t entry_bytes, state_bytes;
	size_t used, capacity;		/* capacity is a power of two */
	int full;			/* a pair was refused */
};

static uint64_t memo_hash(uint64_t done, const unsigned char *state, size_t n)
{
	uint64_t h = done * UINT64_C(0x9e3779b97f4a7c15);	/* FNV-1a on */

	for (size_t i = 0; i < n; i++)
		h = (h ^ state[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}

static unsigned char *memo_slot(const struct memo *m, uint64_t done,
				const void *state)
{
	size_t i = memo_hash(done, state, m->state_bytes);

	for (;; i++) {
		unsigned char *e = m->entry +
			(i & (m->capacity - 1)) * m->entry_bytes;
		uint64_t d;

		memcpy(&d, e, sizeof(d));
		if (d == 0 || (d == done &&
		    memcmp(e + sizeof(d), state, m->state_bytes) == 0))
			return e;
	}
}

static void memo_alloc(struct memo *m, size_t capacity)
{
	m->capacity = capacity;
	m->used = 0;
	m->full = 0;
	m->entry = calloc(capacity, m->entry_bytes);
	if (m->entry == NULL) {
		perror("history: memo");
		abort();
	}
}

static void memo_put(struct memo *m, uint64_t done, const void *state)
{
	unsigned char *e = memo_slot(m, done, state);

	memcpy(e, &done, sizeof(done));
	memcpy(e + sizeof(done), state, m->state_bytes);
	m->used++;
}

/* Returns 0 if the pair was there already, or the memo is full. */
static int memo_add(struct memo *m, uint64_t done, const void *state)
{
	uint64_t d;

	memcpy(&d, memo_slot(m, done, state), sizeof(d));
	if (d != 0)
		return 0;
	if (m->used == HISTORY_MEMO_MOST) {
		m->full = 1;
		return 0;
	}
	if (m->used * 2 >= m->capacity) {
		struct memo old = *m;

		memo_alloc(m, old.capacity * 2);
		for (size_t i = 0; i < old.capacity; i++) {
			unsigned char *e = old.entry + i * old.entry_bytes;

			memcpy(&d, e, sizeof(d));
			if (d != 0)
				memo_put(m, d, e + sizeof(d));
		}
		free(old.entry);
	}
	memo_put(m, done, state);
	return 1;
}

struct search {
	const struct history_model *model;
	const struct history_op *op;
	size_t count;
	struct memo memo;
	unsigned char *states;		/* one for each depth */
};

/* The first return among the operations that are not in `done`. */
static uint64_t first_return(const struct search *s, uint64_t done)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < s->count; i++)
		if (!(done >> i & 1) && s->op[i].returned < first)
			first = s->op[i].returned;
	return first;
}

/* Can what is not in `done` be done, after the state at this depth? */
static int search_from(struct search *s, uint64_t done, size_t depth)
{
	size_t n = s->model->state_bytes;
	unsigned char *state = s->states + depth * n;
	unsigned char *after = state + n;

	if (depth == s->count)
		return 1;

	uint64_t deadline = first_return(s, done);

	for (size_t i = 0; i < s->count; i++) {
		uint64_t with = done | UINT64_C(1) << i;

		if (with == done || s->op[i].called > deadline)
			continue;
		memcpy(after, state, n);
		if (s->model->step(after, &s->op[i]) &&
		    memo_add(&s->memo, with, after) &&
		    search_from(s, with, depth + 1))
			return 1;
	}
	return 0;
}

static int by_return(const void *a, const void *b)
{
	const struct history_op *x = a, *y = b;

	return (x->returned > y->returned) - (x->returned < y->returned);
}

enum history_verdict history_check(const struct history_model *model,
				   const void *setup,
				   const struct history_op *op, size_t count)
{
	struct history_op sorted[HISTORY_MAX];
	struct search s = { .model = model, .op = sorted, .count = count };

	if (count > HISTORY_MAX)
		return HISTORY_TOO_LONG;
	/* What returned first is tried first: mostly it was first. */
	memcpy(sorted, op, count * sizeof(*op));
	qsort(sorted, count, sizeof(*op), by_return);
	s.memo.state_bytes = model->state_bytes;
	s.memo.entry_bytes = sizeof(uint64_t) + model->state_bytes;
	memo_alloc(&s.memo, 1024);
	s.states = calloc(count + 1, model->state_bytes);
	if (s.states == NULL) {
		perror("history: states");
		abort();
	}
	model->begin(s.states, setup);

	int found = search_from(&s, 0, 0);

	free(s.states);
	free(s.memo.entry);
	if (found)
		return HISTORY_LINEARIZABLE;
	return s.memo.full ? HISTORY_UNDECIDED : HISTORY_BROKEN;
}

static int by_call(const void *a, const void *b)
{
	const struct history_op *x = a, *y = b;

	return (x->called > y->called) - (x->called < y->called);
}

void history_print(const struct history_model *model,
		   const struct history_op *op, size_t count)
{
	struct history_op *sorted = calloc(count, sizeof(*sorted));

	if (sorted == NULL)
		return;
	memcpy(sorted, op, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_call);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "  [%4llu, %4llu] thread %d: %s(%lld) = %lld\n",
			(unsigned long long)sorted[i].called,
			(unsigned long long)sorted[i].returned, sorted[i].who,
			model->kind_name[sorted[i].kind],
			(long long)sorted[i].arg, (long long)sorted[i].result);
	free(sorted);
}
