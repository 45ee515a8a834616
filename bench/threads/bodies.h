/* SPDX-License-Identifier: MIT */
/* threads/bodies.h - all bodies of the suite, for the file that includes it */
#ifndef WEFT_BENCH_THREADS_BODIES_H
#define WEFT_BENCH_THREADS_BODIES_H

#include "enter.h"
#include "threads/beside.h"
#include "threads/forkjoin.h"
#include "threads/lock.h"
#include "threads/pairs.h"
#include "threads/parked.h"
#include "threads/pingpong.h"
#include "threads/sleepers.h"
#include "threads/spawn.h"
#include "threads/start.h"
#include "threads/threads.h"
#include "threads/wake.h"
#include "threads/yield.h"

static const struct bench_body threads_bodies[] = {
	{ "yield", yield },
	{ "spawn-join", spawn_join },
	{ "fan-out", fan_out },
	{ "fib", fib },
	{ "skynet", skynet },
	{ "sem-pingpong", sem_pingpong },
	{ "cond-pingpong", cond_pingpong },
	{ "wake-park", wake_park },
	{ "wake-idle", wake_idle },
	{ "lock", lock_unlock },
	{ "parked", parked },
	{ "pairs", pairs },
	{ "sleepers", sleepers },
	{ "start", start },
	{ "beside-computing", beside_computing },
	{ "beside-blocked", beside_blocked },
	{ NULL, NULL },
};

const struct bench_variant FACE_SYMBOL(bench_threads_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = face_enter,
	.bodies = threads_bodies,
};

#endif
