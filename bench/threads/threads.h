/* SPDX-License-Identifier: MIT */
/* threads/threads.h - the variants of the suite */
#ifndef WEFT_BENCH_THREADS_THREADS_H
#define WEFT_BENCH_THREADS_THREADS_H

#include "bench.h"

extern const struct bench_variant bench_threads_light;
extern const struct bench_variant bench_threads_tls;
extern const struct bench_variant bench_threads_preload;
extern const struct bench_variant bench_threads_pthreads;

#endif
