/* SPDX-License-Identifier: MIT */
/*
 * coherence/coherence.h - transfers of cache lines, by object and by line of code
 *
 * What the atomics of a program compiled with WEFT_COHERENCE call (lockfree/coherence.h),
 * and what a benchmark calls around its measured part. tools/coherence runs them.
 */
#ifndef WEFT_BENCH_COHERENCE_COHERENCE_H
#define WEFT_BENCH_COHERENCE_COHERENCE_H

#include "bench.h"
#include "coherence/mesi.h"
#include "lockfree/coherence.h"

/* Accesses of one place in the source to one kind of object. */
struct coherence_tally {
	const struct wefti_coherence_site *site;
	const char *object;	/* its name; NULL: what the source says */
	uint64_t count[MESI_EVENTS], invalidated;
};

/* All VCPUs take turns by virtual clocks from now on. */
void coherence_gather(void);
/* From here on accesses are counted, anew; or no more. */
void coherence_count(int on);
/* Both at once, for the measured part of a benchmark; and the end of both. */
void coherence_begin(void);
void coherence_end(void);

/*
 * Appends a line of JSON for the part that ended last to the file of the environment
 * variable WEFT_COHERENCE. ops: how many operations the part had.
 */
void coherence_tell(const struct bench_ctx *ctx, const char *metric, double ops,
		    double ns);

/* What was counted in the part: the n-th tally, or NULL. For tests too. */
const struct coherence_tally *coherence_tally(unsigned n);

/* The name of the object that has this line, or NULL. */
const char *coherence_object(const volatile void *p);

/* The number of the calling CPU's cache. */
unsigned coherence_cpu(void);

#endif
