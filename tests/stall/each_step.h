/* SPDX-License-Identifier: MIT */
/*
 * each_step.h - a call without the runtime, stopped before each of its steps
 *
 * A kernel thread makes the call and stops before its n-th atomic operation, the
 * others do what they do, and it goes on. That is done for n from 1 until the call
 * has no more steps; of a long call not for each n. All but the call is done by the
 * thread that asks for it, so no two others compete. What they cannot do is the
 * fault of the one that is stopped. A call that waits for it never ends, and
 * the watchdog finds that.
 */
#ifndef WEFT_TESTS_STALL_EACH_STEP_H
#define WEFT_TESTS_STALL_EACH_STEP_H

#include <stddef.h>
#include <stdint.h>

/* All may be NULL but the call. */
struct each_step {
	void (*prepare)(void *arg);	/* the objects, anew */
	void (*arrive)(void *arg);	/* the victim, before it is counted */
	void (*call)(void *arg);	/* the victim */
	void (*others)(void *arg);	/* while it is stopped */
	void (*later)(void *arg);	/* then, when it is, one step further */
	void (*after)(void *arg);	/* it has returned */
};

/* Returns how often it was stopped. */
size_t each_step(const struct each_step *what, void *arg);

/*
 * One call, stopped before its n-th step and each one behind it; others do what
 * they do at each stop. The rest is as above.
 */
size_t each_step_of_one(const struct each_step *what, void *arg, size_t n);

/* What a call of another thread took, when steps_own() was `before` it. */
struct each_step_most {
	size_t steps;
};

void each_step_took(struct each_step_most *most, size_t before);

/*
 * For controls: takes the lock, 0 when it is free. Returns 0 after so many
 * looks that its owner must be the stopped thread.
 */
int each_step_spin(_Atomic uint32_t *lock);

#endif
