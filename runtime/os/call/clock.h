/* SPDX-License-Identifier: MIT */
/* os/call/clock.h - what time it is, and what a cycle is worth */
#ifndef WEFT_OS_CALL_CLOCK_H
#define WEFT_OS_CALL_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
int64_t wefti_os_now_ns(void);

/* CLOCK_REALTIME: only to print it. */
int64_t wefti_os_real_ns(void);

/*
 * Takes the first of the two readings that calibration needs. Does not wait. Called at
 * the start of the runtime, when there is no other thread. A second call does nothing.
 */
void wefti_os_clock_init(void);

/*
 * A difference of two wefti_arch_cycles() in nanoseconds. The first call
 * calibrates: it spins where wefti_os_clock_init() is less than 2 ms ago.
 * From then on it is one multiplication. Good to about 50 ppm.
 */
uint64_t wefti_os_cycles_to_ns(uint64_t cycles);

/* May cycles of different CPUs be compared? Else only wefti_os_now_ns() may. */
int wefti_os_cycles_are_reliable(void);

#endif
