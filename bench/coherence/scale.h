/* SPDX-License-Identifier: MIT */
/*
 * coherence/scale.h - cases whose work grows with the number of VCPUs
 *
 * Each case has a crew of threads, which do operations for ever. What is counted lies
 * between two instants of the virtual clocks, so nothing in the library notices.
 */
#ifndef WEFT_BENCH_COHERENCE_SCALE_H
#define WEFT_BENCH_COHERENCE_SCALE_H

#include <stdalign.h>
#include <weft.h>

#include "coherence/coherence.h"

struct scale_crew {
	const struct scale_case *what;
	struct scale_member *member;
	unsigned count, vcpus;
	void *shared;		/* the case's own */
};

struct scale_member {
	alignas(128) struct scale_crew *crew;
	unsigned index;
	uint64_t id, ops;
};

struct scale_case {
	const char *name;
	unsigned per_eight;	/* members for eight VCPUs */
	void (*body)(struct scale_member *me);	/* for ever */
	void (*prepare)(struct scale_crew *crew);	/* may be NULL */
};

/* Ended by a NULL name. */
extern const struct scale_case scale_cases[];

/* The member has computed for so long. */
void scale_compute(int64_t ns);

void scale_check(int error, const char *what);

#endif
