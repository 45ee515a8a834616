/* SPDX-License-Identifier: MIT */
/*
 * calls.h - the calls in which a kernel thread is stopped, and the other
 * callers
 */
#ifndef WEFT_TESTS_STALL_CALLS_H
#define WEFT_TESTS_STALL_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <weft.h>

#include "lockfree/atomic.h"
#include "mutex/spinmutex.h"
#include "steer.h"

/* A mutex of ours, or the one whose queue is behind a spin lock. */
struct mutex {
	int spins;
	struct weft_mutex weft;
	struct bench_spin_mutex spin;
};

struct scene {
	struct mutex mutex;		/* the one in question */
	struct stall_victim victim;
	unsigned flags;			/* light or not */
	_Atomic int let_go;		/* a helper may end */
	uint64_t helper;
};

/* What a call needs of the mutex while it is stopped, for the checks. */
enum stall_mutex {
	STALL_NO_MUTEX,
	STALL_ALONE,		/* nobody else has it */
	STALL_BEHIND_HOLDER,	/* the helper has it until `stopped` */
};

struct call {
	const char *name;
	enum stall_mutex mutex;
	void (*prepare)(struct scene *s);	/* by the steering thread */
	void *(*run)(void *scene);		/* the victim */
	void (*stopped)(struct scene *s);	/* what others do meanwhile */
};

extern const struct call stall_calls[];
extern const size_t stall_call_count;

/* Fresh threads run this: the users of the mutex. */
void *stall_use(void *scene);

/* For the control. */
void *stall_call_lock(void *scene);

#endif
