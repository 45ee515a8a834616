/* SPDX-License-Identifier: MIT */
/* observe/cycle_watch.h - WEFT_DEADLOCK=watch: cycles are reported while the program goes on */
#ifndef WEFT_OBSERVE_CYCLE_WATCH_H
#define WEFT_OBSERVE_CYCLE_WATCH_H

#include <stdint.h>

/*
 * Called by the observer at its start, and again at the time (CLOCK_MONOTONIC, ns) that
 * the last call returned. INT64_MAX: never again.
 */
int64_t wefti_watch_cycles(void);

#endif
