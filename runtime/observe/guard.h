/* SPDX-License-Identifier: MIT */
/* observe/guard.h - nobody looks at a runtime that is taken apart */
#ifndef WEFT_OBSERVE_GUARD_H
#define WEFT_OBSERVE_GUARD_H

/*
 * Between the two the runtime is on, and weft_stop() waits. Any kernel thread,
 * in signal handlers too; wait-free. Returns 0, or -ESRCH: it does not run.
 */
int wefti_observe_begin(void);
void wefti_observe_end(void);

/* In the child of a fork: those who looked are not there. */
void wefti_observe_forget(void);

/*
 * By weft_stop(), before anything is freed: nobody begins any more, and who
 * looks should come to an end; then waits for those.
 */
void wefti_observe_shut(void);
void wefti_observe_close(void);
int wefti_observe_is_open(void);
void wefti_observe_open(void);	/* by weft_start(), when all is there */

#endif
