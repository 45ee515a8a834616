/* SPDX-License-Identifier: MIT */
/* plan9/talk.h - the variants of the suite, and what its channels are under */
#ifndef WEFT_BENCH_PLAN9_TALK_H
#define WEFT_BENCH_PLAN9_TALK_H

#include "bench.h"

#define CAPACITY	16	/* of each channel */

enum { UNDER_NOTHING, UNDER_SPIN, UNDER_GREASED, UNDER_MUTEX };

extern const struct bench_variant bench_plan9_light;
extern const struct bench_variant bench_plan9_tls;
extern const struct bench_variant bench_plan9_pthreads;

#endif
