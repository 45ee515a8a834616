/* SPDX-License-Identifier: MIT */
/* crowd.h - threads that each make one call, and when they are parked in it */
#ifndef WEFT_TESTS_CHAN_CROWD_H
#define WEFT_TESTS_CHAN_CROWD_H

#include "thread/bare.h"
#include "thread/wait.h"
#include "threads.h"

struct crowd_call {
	void *object;
	long number;
	uint64_t id;
};

/* Until the thread is parked, in whatever it waits for. */
static inline void crowd_await_parked(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);

	must(t != NULL);
	while ((load_seq_cst(&t->wait) & WEFTI_WAIT_PHASE) !=
	       WEFTI_WAIT_PARKED)
		rest();
}

#endif
