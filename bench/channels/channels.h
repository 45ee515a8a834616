/* SPDX-License-Identifier: MIT */
/* channels/channels.h - the variants of the suite */
#ifndef WEFT_BENCH_CHANNELS_CHANNELS_H
#define WEFT_BENCH_CHANNELS_CHANNELS_H

#include "bench.h"

extern const struct bench_variant bench_channels_light;
extern const struct bench_variant bench_channels_tls;
extern const struct bench_variant bench_channels_pthreads;
extern const struct bench_variant bench_channels_go;

#endif
