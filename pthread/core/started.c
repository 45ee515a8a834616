/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/started.c - is the runtime on, and in which process?
 *
 * All rooms ask that. pthread/init/start.c starts the runtime, and knows all rooms.
 *
 * Writers
 *   state  wefti_pt_set_started, wefti_pt_set_never, wefti_pt_set_forked
 *   pid  wefti_pt_set_started
 */
#include "pthread/core/started.h"

#include <errno.h>

#include "lockfree/atomic.h"
#include "pthread/core/above.h"

enum { OFF, ON, NEVER };

static _Atomic uint32_t state;
uint8_t wefti_steps_aside;
static uint32_t fork_count;
static _Atomic int pid;		/* the receiver looks while the runtime starts */

int wefti_pt_is_started(void)
{
	return load_relaxed(&state) == ON;
}

int wefti_pt_is_off(void)
{
	return load_relaxed(&state) == OFF;
}

int wefti_pt_pid(void)
{
	return load_relaxed(&pid);
}

uint32_t wefti_fork_count(void)
{
	return fork_count;
}

int wefti_pt_start(void)
{
	switch (load_seq_cst(&state)) {
	case ON:
		return 0;
	case NEVER:
		return wefti_is_aside() ? wefti_above.start() : -ENOTSUP;
	}
	return wefti_above.start();
}

/* OFF -> ON */
void wefti_pt_set_started(int in)
{
	store_relaxed(&pid, in);
	store_seq_cst(&state, ON);
}

/* OFF -> NEVER */
void wefti_pt_set_never(void)
{
	store_seq_cst(&state, NEVER);
}

/* OFF -> NEVER */
void wefti_pt_set_aside(void)
{
	wefti_steps_aside = 1;
	wefti_pt_set_never();
}

/* ON -> OFF */
void wefti_pt_set_forked(void)
{
	fork_count++;
	if (load_seq_cst(&state) == ON)
		store_seq_cst(&state, OFF);
}
