/* SPDX-License-Identifier: MIT */
/* observe/gate.h - no thread looks at a runtime that is being taken apart */
#ifndef WEFT_OBSERVE_GATE_H
#define WEFT_OBSERVE_GATE_H

/*
 * Between the two calls the runtime is on, and weft_stop() waits. For any kernel
 * thread, in signal handlers too; lock-free. Returns 0, or -ESRCH if the runtime is
 * off.
 */
int wefti_observe_begin(void);
void wefti_observe_end(void);

/* Called in the child of a fork: the threads that looked do not exist. */
void wefti_observe_forget(void);

/*
 * Called by weft_stop() before anything is freed. shut: no look begins any more, and
 * present looks should end. close: then waits for these.
 */
void wefti_observe_shut(void);
void wefti_observe_close(void);
int wefti_observe_is_open(void);
void wefti_observe_open(void);	/* called by weft_start() when all is ready */

#endif
