/* SPDX-License-Identifier: MIT */
/*
 * coherence/mesi.h - which cache has which line: the protocol MESI, in software
 *
 * The model is exact by address: a line is the address divided by 64. Caches have no
 * bound, so a line leaves a cache only because another cache writes it. There is one
 * cache for each CPU, and no cache that CPUs share.
 */
#ifndef WEFT_BENCH_COHERENCE_MESI_H
#define WEFT_BENCH_COHERENCE_MESI_H

#include <stdint.h>

#define MESI_LINE	64
#define MESI_CPUS	320
#define MESI_WORDS	(MESI_CPUS / 64)

enum mesi_state { MESI_INVALID, MESI_SHARED, MESI_EXCLUSIVE, MESI_MODIFIED };

/* What an access took. From MESI_FETCH on, a message to other caches. */
enum mesi_event {
	MESI_HIT,
	MESI_FIRST,	/* no cache had the line: it comes from memory */
	MESI_FETCH,	/* a read of a line that other caches have, and this one not */
	MESI_TAKE,	/* the same, a write: the others lose it */
	MESI_UPGRADE,	/* a write of a line that this cache and others have */
	MESI_MISSED,	/* the line was in use for too long, and the access not counted */
	MESI_EVENTS
};

/* Zero-filled is a line that no cache has. */
struct mesi_line {
	uint64_t holders[MESI_WORDS];
	uint64_t is_modified;
	int64_t free_at;	/* when its last transfer ends; the caller's use */
};

struct mesi_result {
	enum mesi_event event;
	unsigned invalidated;	/* caches that lost the line by it */
	int is_far;		/* the message goes to another socket */
	struct mesi_line *line;
};

/* `socket` CPUs are one; 0: all are. */
struct mesi_result mesi_line_access(struct mesi_line *line, unsigned cpu,
				    int is_write, unsigned socket);
enum mesi_state mesi_line_state(const struct mesi_line *line, unsigned cpu);

/* The same by address; several kernel threads may call it. */
struct mesi_result mesi_access(const volatile void *p, unsigned cpu,
			       int is_write, unsigned socket);
enum mesi_state mesi_state(const volatile void *p, unsigned cpu);

#endif
