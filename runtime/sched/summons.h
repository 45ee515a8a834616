/* SPDX-License-Identifier: MIT */
/*
 * sched/summons.h - a wait is ended by a summons, which any number of threads may send
 */
#ifndef WEFT_SCHED_SUMMONS_H
#define WEFT_SCHED_SUMMONS_H

#include <stdint.h>

#include "thread/thread.h"

/*
 * The wait of the ticket ends as WOKEN, unless it is claimed or over. An unpark holds
 * the thread for a moment; this call does not: if the caller is stopped inside it, the
 * next call for the same ticket does everything again. If the waiting thread is
 * foreign, its wait must have been begun with WEFTI_WAIT_FOREIGN. Called inside the
 * runtime.
 */
void wefti_summon(uint64_t ticket);

/* Is this item of the injection queue a summons? */
static inline int wefti_summons_is(const void *item)
{
	return (uintptr_t)item & 1;
}

/*
 * Called once by the VCPU that has popped the item, with the node that it owns now.
 * Returns the thread that the caller must run, or NULL.
 */
struct wefti_thread *wefti_summons_answer(void *item, uint32_t node);

/* The same in the child of a fork: drops the summons, as its thread does not exist. */
void wefti_summons_drop(void *item, uint32_t node);

#endif
