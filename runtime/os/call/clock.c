/* SPDX-License-Identifier: MIT */
/*
 * os/call/clock.c - what time it is, and what a cycle is worth
 *
 * Writers
 *   has_first  wefti_os_clock_init
 *   known  wefti_os_cycles_are_reliable
 *   ns_per_cycle  calibrate
 */
#include "os/call/clock.h"

#include <time.h>

#include "base/compiler.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/fatal.h"

#define NS_PER_SECOND		1000000000ll
#define CALIBRATE_NS		2000000
#define READING_TRIES		8

struct reading {
	int64_t ns;
	uint64_t cycles;
};

/* Nanoseconds for a cycle, with 32 bits of fraction; 0: not yet known. */
static _Atomic uint64_t ns_per_cycle;

/* Written by wefti_os_clock_init() alone, before it sets has_first. */
static struct reading first;
static _Atomic uint32_t has_first;

static ALWAYS_INLINE int64_t read_clock(clockid_t clock)
{
	struct timespec now;
	int ret = clock_gettime(clock, &now);

	if (unlikely(ret != 0))
		wefti_os_fatal("clock_gettime", ret);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

int64_t wefti_os_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t wefti_os_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* Reads both clocks at one instant: takes the try that was disturbed the least. */
static struct reading read_both(void)
{
	struct reading best = { 0, 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < READING_TRIES; i++) {
		uint64_t before = wefti_arch_cycles();
		int64_t ns = wefti_os_now_ns();
		uint64_t after = wefti_arch_cycles();

		if (after - before >= width)
			continue;
		width = after - before;
		best.ns = ns;
		best.cycles = before + width / 2;
	}
	return best;
}

void wefti_os_clock_init(void)
{
	if (load_seq_cst(&has_first))
		return;
	first = read_both();
	store_seq_cst(&has_first, 1);
}

/* Two callers at once compute two good values; either may stay. */
COLD static uint64_t calibrate(void)
{
	uint64_t hz = wefti_arch_cycles_per_second();
	uint64_t factor;

	if (hz) {
		factor = (uint64_t)(((unsigned __int128)NS_PER_SECOND << 32) /
				    hz);
	} else {
		struct reading from, now;

		from = load_seq_cst(&has_first) ? first : read_both();
		do
			now = read_both();
		while (now.ns - from.ns < CALIBRATE_NS);
		factor = (uint64_t)(((unsigned __int128)(now.ns - from.ns)
				     << 32) / (now.cycles - from.cycles));
	}
	store_relaxed(&ns_per_cycle, factor);
	return factor;
}

uint64_t wefti_os_cycles_to_ns(uint64_t cycles)
{
	uint64_t factor = load_relaxed(&ns_per_cycle);

	if (unlikely(!factor))
		factor = calibrate();
	return (uint64_t)(((unsigned __int128)cycles * factor) >> 32);
}

/* Asked once: under a hypervisor the instruction costs tens of microseconds. */
int wefti_os_cycles_are_reliable(void)
{
	static _Atomic int8_t known;	/* 0: not asked, 1: yes, -1: no */
	int8_t answer = load_relaxed(&known);

	if (unlikely(answer == 0)) {
		answer = wefti_arch_cycles_are_invariant() ? 1 : -1;
		store_relaxed(&known, answer);
	}
	return answer > 0;
}
