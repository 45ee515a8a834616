/* SPDX-License-Identifier: MIT */
/* sched/summons.h - a wait is ended by whoever comes, however many do */
#ifndef WEFT_SCHED_SUMMONS_H
#define WEFT_SCHED_SUMMONS_H

#include <stdint.h>

#include "thread/thread.h"

/*
 * The wait of the ticket ends as WOKEN, unless it is claimed or over. Where an
 * unpark has the thread in its hands for a moment, nobody has here: if the caller
 * is stopped before it has come back, the next that summons for the same ticket
 * does it all again. For a wait that was begun with WEFTI_WAIT_FOREIGN where its
 * thread is one. Inside the runtime.
 */
void wefti_summon(uint64_t ticket);

/* Of what is in the injection queue. */
static inline int wefti_summons_is(const void *item)
{
	return (uintptr_t)item & 1;
}

/*
 * By who has popped it, with the node that is its now: the thread that the caller
 * is to run, or NULL. Once for each.
 */
struct wefti_thread *wefti_summons_answer(void *item, uint32_t node);

/* The same, in the child of a fork: nobody is there to come. */
void wefti_summons_drop(void *item, uint32_t node);

#endif
