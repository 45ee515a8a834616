/* SPDX-License-Identifier: MIT */
/*
 * observe/cycle_watch.c - WEFT_DEADLOCK=watch: cycles are reported while the program goes on
 *
 * Every second the observer looks for cycles of threads that wait for each other (cycle.c).
 * A cycle that it sees in two looks is reported, once. Cycles with a wait that a deadline
 * ends are left out: a program may well get out of them. So are waits that are younger
 * than a second, which keeps a look cheap: most threads that wait do so for a short time.
 *
 * A look takes a bounded number of steps. If there are more threads, the next look goes on
 * where this one ended. If there are more cycles than the table has room for, the oldest
 * entry gives way, and its cycle is reported again if it is still there.
 */
#include "observe/cycle_watch.h"

#include "base/format.h"
#include "observe/cycle.h"
#include "observe/dump.h"
#include "observe/gate.h"
#include "os/call/clock.h"
#include "thread/peek.h"
#include "thread/wait.h"

#define STDERR		2
#define EVERY_NS	INT64_C(1000000000)
#define STEPS		20000u	/* some milliseconds */
#define THREADS		1000000u	/* the same */
#define SEEN		64u

/* All of this belongs to the observer. */
static struct seen {
	uint64_t key;		/* 0: not used */
	uint64_t look;		/* in which it was seen first */
} seen[SEEN];
static unsigned oldest;
static uint64_t looks;
static uint32_t next_slot;

/* Threads and episodes: a number that is this cycle's, and no later one's. */
static uint64_t key_of(const struct wefti_edge *e, unsigned n)
{
	uint64_t key = n;

	for (unsigned i = 0; i < n; i++) {
		key = (key ^ e[i].id) * UINT64_C(0x9e3779b97f4a7c15);
		key = (key ^ e[i].wait) * UINT64_C(0x9e3779b97f4a7c15);
		key ^= key >> 29;
	}
	return key | 1;
}

static void report(const struct wefti_edge *e, unsigned n)
{
	char title[96];

	if (n == 1)
		wefti_format(title, sizeof(title),
			     "deadlock: a thread waits for itself; others go on");
	else
		wefti_format(title, sizeof(title),
			     "deadlock: %u threads wait for each other; others go on", n);
	(void)wefti_dump_cycle(STDERR, title, e, n);
}

/* Returns 1 if it has to be reported: it is seen for the second time. */
static int is_seen_again(uint64_t key)
{
	for (unsigned i = 0; i < SEEN; i++) {
		struct seen *s = &seen[i];

		if (s->key != key)
			continue;
		if (s->look == 0 || s->look == looks)
			return 0;
		s->look = 0;	/* it was reported */
		return 1;
	}
	seen[oldest++ % SEEN] = (struct seen){ key, looks };
	return 0;
}

/* A foreign thread's cold part may be gone, so its wait counts as old. */
static int is_old_wait(struct wefti_thread *t, int64_t now)
{
	struct wefti_cold *body;

	if ((load_relaxed(&t->wait) & WEFTI_WAIT_PHASE) != WEFTI_WAIT_PARKED ||
	    !wefti_why_has_owner(wefti_peek_why(t)))
		return 0;
	body = wefti_peek_cold(t);
	return wefti_peek_kind(t) == WEFTI_KIND_FOREIGN || !body ||
	       now - wefti_peek_since(body) >= EVERY_NS;
}

/* Returns the number of edges of a cycle that has to be reported, or 0. */
static unsigned look_at(struct wefti_thread *t, struct wefti_edge *e, unsigned *steps)
{
	const unsigned n = wefti_cycle_from(t, e, steps);

	return n && !wefti_cycle_is_timed(e, n) && is_seen_again(key_of(e, n)) ? n : 0;
}

static void look(void)
{
	const int64_t now = wefti_os_now_ns();
	const uint32_t limit = wefti_slot_limit();
	struct wefti_edge e[WEFTI_CYCLE_MOST];
	unsigned steps = 0;

	looks++;
	for (uint32_t i = 0; i < limit && i < THREADS && steps < STEPS; i++) {
		struct wefti_thread *t;
		unsigned n;

		if (++next_slot >= limit)
			next_slot = 1;
		t = wefti_slot_get(next_slot);
		n = t && is_old_wait(t, now) ? look_at(t, e, &steps) : 0;
		if (n)
			report(e, n);
	}
}

int64_t wefti_watch_cycles(void)
{
	if (wefti_rt.settings.deadlock != WEFTI_DEADLOCK_WATCH)
		return INT64_MAX;
	if (wefti_observe_begin() == 0) {	/* not yet, while the runtime starts */
		look();
		wefti_observe_end();
	}
	return wefti_os_now_ns() + EVERY_NS;
}
