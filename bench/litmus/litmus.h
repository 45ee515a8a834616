/* SPDX-License-Identifier: MIT */
/*
 * litmus.h - small programs whose outcome says how memory is ordered
 *
 * Threads run the parts of one program on many places at once, each place in
 * cache lines of its own, and leave there what they read. They begin together
 * and are not held together then, so that one is now ahead and now behind.
 */
#ifndef WEFT_BENCH_LITMUS_H
#define WEFT_BENCH_LITMUS_H

#include "crew.h"

#define LITMUS_PLACES	2048u
#define LITMUS_PARTS	4u

struct litmus_place {
	alignas(128) _Atomic uint32_t x;
	alignas(128) _Atomic uint32_t y;
	alignas(128) _Atomic uint32_t lock;
	alignas(128) uint32_t read[LITMUS_PARTS];	/* a part writes its own */
};

struct litmus_test {
	unsigned parts;
	void (*part[LITMUS_PARTS])(struct litmus_place *p);
	/* Is it the outcome that a weak order is known by? */
	int (*is_weak)(const struct litmus_place *p);
};

/* One table a test, by order. */
enum litmus_order {
	LITMUS_RELAXED,
	LITMUS_ACQ_REL,
	LITMUS_SEQ_CST,
	LITMUS_ORDERS
};

extern const struct litmus_test litmus_sb[LITMUS_ORDERS];
extern const struct litmus_test litmus_mp[LITMUS_ORDERS];
extern const struct litmus_test litmus_lb[LITMUS_ORDERS];
extern const struct litmus_test litmus_iriw[LITMUS_ORDERS];
extern const struct litmus_test litmus_lock[LITMUS_ORDERS];

#endif
