/* SPDX-License-Identifier: MIT */
/*
 * cli/explore_search.c - weft explore: all orders up to a bound, each of them once
 *
 * An order is a list of choices (explore/report.h): what differs from the plain run. The run of
 * a list tells at which points behind its last choice another thread could have run. Each
 * of these is a list with one choice more. So each order has one list, and runs once.
 *
 * An order costs what its choices cost, and those that cost less run first:
 *	preempt  1 for a switch away from a thread that could go on, 0 for another one
 *	delay    how many threads are passed over in the order of creation, from the one that the
 *	         plain run takes
 * A signal to another waiting thread, a deadline that comes early, and a hand-off of a lock cost
 * 1 each. Orders of
 * one cost run in an order that the seed gives.
 *
 * Reduction
 *	At a point with the same past (explore/fork.c) a run has the same future. A choice is
 *	left out if the same one at the same past is there, and has not cost more. A run that
 *	comes to such a past adds nothing behind it. So the bound keeps its meaning, which it
 *	would not with sleep sets: these leave out an order for an equal one that may cost more
 *	(K. Coons, M. Musuvathi, K. McKinley, "Bounded partial-order reduction", OOPSLA 2013).
 *	It is right only if threads share nothing but objects of points, so it is an option.
 *
 * Source
 *	M. Musuvathi, S. Qadeer, "Iterative context bounding for systematic testing of
 *	multithreaded programs", PLDI 2007. M. Emmi, S. Qadeer, Z. Rakamaric, "Delay-bounded
 *	scheduling", POPL 2011.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#define COSTS		64u
#define NODES_MOST	8000000u
#define NONE		UINT32_MAX

/* An order: that of `before`, and one choice more. */
struct node {
	uint32_t before;
	struct wefti_ex_choice choice;
	uint32_t cost;
};

static struct node *nodes;
static uint32_t node_count, node_room;

/* The orders of one cost that are to run. */
static struct level {
	uint32_t *node, count, room;
} levels[COSTS];

/* A past with a choice, and the least cost. */
struct seen {
	uint64_t key;
	uint32_t cost;
};

static struct seen *table;
static size_t table_room, table_count;

static struct {
	int is_delay, reduces;
	int is_bounded;		/* the bound has left orders out */
	int is_short;		/* so has something else: the search does not know them */
	uint32_t bound, cost_run;
	uint64_t random;
} search;

static void *grown(void *memory, uint32_t count, uint32_t *room, size_t bytes)
{
	if (count < *room)
		return memory;
	*room = *room ? 2 * *room : 1024;
	memory = realloc(memory, *room * bytes);
	if (!memory)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(ENOMEM)));
	return memory;
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void add(uint32_t before, struct wefti_ex_choice choice, uint32_t cost)
{
	struct level *level = &levels[cost < COSTS ? cost : COSTS - 1];

	if (cost > search.bound) {
		search.is_bounded = 1;
		return;
	}
	if (cost >= COSTS || node_count == NODES_MOST) {
		search.is_short = 1;
		return;
	}
	nodes = grown(nodes, node_count, &node_room, sizeof(*nodes));
	nodes[node_count] = (struct node){ before, choice, cost };
	level->node = grown(level->node, level->count, &level->room, sizeof(*level->node));
	level->node[level->count++] = node_count++;
}

void weft_cli_search_begin(int is_delay, int reduces, unsigned long bound, unsigned long seed)
{
	search.is_delay = is_delay;
	search.reduces = reduces;
	search.bound = bound < COSTS ? (uint32_t)bound : UINT32_MAX;
	search.random = seed;
	add(NONE, (struct wefti_ex_choice){ .what = 0 }, 0);
}

static struct seen *slot_of(uint64_t key)
{
	size_t i = key & (table_room - 1);

	while (table[i].key && table[i].key != key)
		i = (i + 1) & (table_room - 1);
	return &table[i];
}

static void grow_table(void)
{
	struct seen *old = table;
	const size_t before = table_room;

	table_room = before ? before * 2 : 4096;
	table = calloc(table_room, sizeof(*table));
	if (!table)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(ENOMEM)));
	for (size_t i = 0; i < before; i++)
		if (old[i].key)
			*slot_of(old[i].key) = old[i];
	free(old);
}

/* Was this choice at this past there before, and has not cost more? It is from now on. */
static int is_known(const uint32_t *fork, uint32_t to, uint32_t cost)
{
	const uint64_t past = fork[3] | (uint64_t)fork[4] << 32;
	const uint64_t key = mix(past ^ mix(to + ((uint64_t)fork[2] << 32) + 1)) | 1;
	struct seen *seen;

	if (!search.reduces)
		return 0;
	if (2 * table_count >= table_room)
		grow_table();
	seen = slot_of(key);
	if (seen->key && seen->cost <= cost)
		return 1;
	table_count += !seen->key;
	*seen = (struct seen){ key, cost };
	return 0;
}

static uint32_t place_of(const uint32_t *fork, uint32_t thread)
{
	for (uint32_t i = 0; i < fork[7]; i++)
		if (fork[WEFTI_EX_FORK + i] == thread)
			return i;
	return 0;
}

static uint32_t cost_of(const uint32_t *fork, uint32_t i)
{
	const uint32_t n = fork[7];

	if (fork[2] != 'r')
		return 1;
	if (!search.is_delay)
		return fork[6];
	return (i + n - place_of(fork, fork[5])) % n;
}

/* The other choices of a point. Returns 1 if what comes behind it is known. */
static int add_choices(uint32_t at, const uint32_t *fork)
{
	const uint32_t cost = nodes[at].cost;
	struct wefti_ex_choice choice = { .by = fork[0], .at = fork[1],
					  .what = (char)fork[2] };

	if (fork[7] == 0 && !is_known(fork, 0, cost + 1))
		add(at, choice, cost + 1);
	for (uint32_t i = 0; i < fork[7]; i++) {
		choice.to = fork[WEFTI_EX_FORK + i];
		if (choice.to != fork[5] && !is_known(fork, choice.to, cost + cost_of(fork, i)))
			add(at, choice, cost + cost_of(fork, i));
	}
	return fork[7] != 0 && fork[2] != 's' && is_known(fork, fork[5], cost);
}

static int is_last_choice(const uint32_t *fork, const struct wefti_ex_choice *last)
{
	return fork[0] == last->by && fork[1] == last->at &&
	       fork[2] == (uint32_t)(unsigned char)last->what;
}

void weft_cli_search_ended(const struct weft_cli_explored *run)
{
	const struct wefti_ex_shared *shared = run->shared;
	const struct wefti_ex_choice last = nodes[run->order].choice;
	int is_behind = !last.what;

	/* The choices behind its end are not known. */
	if (shared->fork_words == WEFTI_EX_FORK_WORDS || run->is_late ||
	    run->report->verdict == WEFTI_EX_HANG)
		search.is_short = 1;
	for (uint32_t i = 0; i + WEFTI_EX_FORK <= shared->fork_words &&
	     shared->fork_words < WEFTI_EX_FORK_WORDS; i += WEFTI_EX_FORK + shared->fork[i + 7]) {
		const uint32_t *fork = shared->fork + i;

		if (is_behind) {
			if (add_choices(run->order, fork))
				return;
		} else {
			is_behind = is_last_choice(fork, &last);
		}
	}
}

static uint32_t take(void)
{
	for (uint32_t cost = 0; cost < COSTS; cost++) {
		struct level *level = &levels[cost];
		uint32_t i, node;

		if (!level->count)
			continue;
		i = (uint32_t)(mix(search.random += UINT64_C(0x9e3779b97f4a7c15)) % level->count);
		node = level->node[i];
		level->node[i] = level->node[--level->count];
		if (cost > search.cost_run)
			search.cost_run = cost;
		return node;
	}
	return NONE;
}

/* Writes the choices from the first on. Returns the length. */
static size_t put_list(char *text, size_t room, uint32_t node)
{
	const struct wefti_ex_choice *c = &nodes[node].choice;
	size_t length;

	if (!c->what)
		return 0;
	length = put_list(text, room, nodes[node].before);
	if (room - length > WEFTI_EX_CHOICE_TEXT)
		length += (size_t)snprintf(text + length, room - length, "%s%u%c%u@%u",
					   length ? "/" : "", c->by, c->what, c->to, c->at);
	return length;
}

int weft_cli_search_next(struct weft_cli_explored *run)
{
	const uint32_t node = take();

	if (node == NONE)
		return -1;
	run->order = node;
	if (!run->list)
		run->list = malloc(WEFTI_EX_LIST);
	if (!run->list)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(ENOMEM)));
	run->list[0] = 0;
	(void)put_list(run->list, WEFTI_EX_LIST, node);
	return 0;
}

void weft_cli_search_tell(FILE *to)
{
	const char *unit = search.is_delay ? "delays" : "preemptions";
	uint32_t left = 0;

	for (uint32_t cost = 0; cost < COSTS; cost++)
		left += levels[cost].count;
	if (left)
		fprintf(to, "%s: not all orders with up to %u have run\n", unit, search.cost_run);
	else if (search.is_short)
		fprintf(to, "%s: not all orders have run: a run was too long, or did not end\n",
			unit);
	else if (search.is_bounded)
		fprintf(to, "%s: all orders with up to %u have run\n", unit, search.bound);
	else
		fprintf(to, "all orders have run\n");
}
