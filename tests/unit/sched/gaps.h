/* SPDX-License-Identifier: MIT */
/* gaps.h - how many turns other threads have between two of a thread, on one VCPU */
#ifndef GAPS_H
#define GAPS_H

#include "threads.h"

#define TURNS	3000		/* of all together, and some more */
#define BEYOND	300		/* more than fit into a ring that has not grown */
#define FAR	1000

_Static_assert(BEYOND > WEFTI_RING_CAPACITY, "beyond the ring");

/* One VCPU, which no thread loses: what runs when is decided by calls alone. */
static inline void alone_begin(const char *sched, int64_t slice_ns)
{
	const struct weft_options alone = { .vcpus = 1, .slice_ns = slice_ns };

	setenv("WEFT_SCHED", sched, 1);
	setenv("WEFT_SPARE_MAX", "0", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&alone), 0);
}

static inline void alone_end(void)
{
	runtime_end();
	unsetenv("WEFT_SCHED");
	unsetenv("WEFT_SPARE_MAX");
}

struct turns {
	void (*give_way)(void);
	size_t threads, rounds;
	size_t *last;		/* the turn at which each ran last */
	size_t turn;
	size_t widest;		/* most turns between two of one thread */
	size_t started;
};

struct runner {
	struct turns *turns;
	size_t number;
};

static inline void *take_turns(void *arg)
{
	struct runner *r = arg;
	struct turns *t = r->turns;

	t->started++;
	while (t->started < t->threads)
		weft_yield();
	for (size_t i = 0; i < t->rounds; i++) {
		size_t since = t->turn - t->last[r->number];

		if (i > 1 && since > t->widest)
			t->widest = since;
		t->last[r->number] = t->turn++;
		t->give_way();
	}
	return NULL;
}

/* Returns the widest gap; a fair queue has it equal to the count of threads. */
static inline size_t widest_gap_by(void (*give_way)(void), size_t threads,
			    unsigned flags)
{
	struct turns t = { .give_way = give_way, .threads = threads,
			   .rounds = 5 + TURNS / threads };
	struct runner *r = calloc(threads, sizeof(*r));
	uint64_t *id = calloc(threads, sizeof(*id));

	t.last = calloc(threads, sizeof(*t.last));
	CU_ASSERT_FATAL(r && id && t.last);
	for (size_t i = 0; i < threads; i++) {
		r[i] = (struct runner){ &t, i };
		id[i] = spawn_with(flags, take_turns, &r[i]);
	}
	for (size_t i = 0; i < threads; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(t.turn, threads * t.rounds);
	free(t.last);
	free(id);
	free(r);
	return t.widest;
}

static inline size_t widest_gap(size_t threads, unsigned flags)
{
	return widest_gap_by(weft_yield, threads, flags);
}

#endif
