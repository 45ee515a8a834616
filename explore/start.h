/* SPDX-License-Identifier: MIT */
/* explore/start.h - the begin of a run: what life.c and serve.c do for it */
#ifndef WEFT_EXPLORE_START_H
#define WEFT_EXPLORE_START_H

#include "explore.h"

/* Returns 0, or an error: there is no key for the ends of threads. */
int wefti_ex_life_begin(void);
struct wefti_ex_thread *wefti_ex_thread_make(const struct wefti_ex_call *call);

extern struct wefti_ex_shared *wefti_ex_shared;	/* with weft explore; or NULL */
extern int wefti_ex_serves_at;	/* serve.c: the socket; -1: one run is all */
void wefti_ex_take_request(void);	/* what run it is, from the shared memory */

/* cpu.c. The run has one CPU and SCHED_BATCH from here on; and what it had again. */
void wefti_ex_pin(void);
void wefti_ex_unpin(void);

/* The calling thread is t from here on. */
void wefti_ex_begins(struct wefti_ex_thread *t);

/* crash.c: the report has the place of a signal that ends the run, and the steps end with it. */
void wefti_ex_crash_begin(void);

#endif
